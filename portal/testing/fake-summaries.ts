import { summaryApi, type ArraySummary } from '@granary/contract';
import { createApiServer, createLog, fail, Store, systemClock, Vault, type Actor } from '@granary/kernel';

/** Arrays that say nothing but how full they are. */
export interface FakeSummaries {
  readonly url: string;
  /** How often they were asked. */
  asked: number;
  summary: ArraySummary;
  isAway: boolean;
  stop(): Promise<void>;
}

const GB = 2 ** 30;

export const emptySummary: ArraySummary = {
  raw_bytes: 40 * GB,
  usable_bytes: 20 * GB,
  pooled_bytes: 20 * GB,
  used_bytes: 5 * GB,
  concerns: [],
  concern_count: 0,
};

export async function startFakeSummaries(): Promise<FakeSummaries> {
  const store = new Store(':memory:', { component: 'fake', steps: [] });
  const fake = { asked: 0, summary: emptySummary, isAway: false };
  const app = await createApiServer<typeof summaryApi, Actor>({
    api: summaryApi,
    handlers: {
      summaries: {
        get: () => {
          fake.asked += 1;
          if (fake.isAway) throw fail('stopping');
          return { summary: fake.summary };
        },
      },
    },
    authenticate: () => ({ id: 'portal', role: 'portal' }),
    store,
    vault: new Vault(Buffer.alloc(32)),
    clock: systemClock,
    log: createLog('array', 'silent'),
    version: '0.0.0-test',
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return Object.assign(fake, {
    url,
    async stop() {
      await app.close();
      store.close();
    },
  });
}
