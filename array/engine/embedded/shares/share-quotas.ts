import type { Quota } from '@granary/storage/filesystem';
import type { Work } from '../../work.ts';
import { EngineError } from '../../errors.ts';
import type { QuotaLimit, QuotaScope, QuotaSwitches, QuotaUsage, ShareEngine } from '../../shares.ts';
import { translateErrors } from '../refused.ts';
import type { RunningWorks } from '../running-works.ts';
import { setProject } from './projects.ts';
import type { EngineShare } from './share.ts';

const LISTED_MAX = 10_000;
const ID_MAX = 2 ** 32 - 1;

type QuotaEngine = Pick<ShareEngine, 'quotaState' | 'setQuotaState' | 'quota' | 'quotas' | 'setQuotas' | 'setProject'>;

/** What users, groups and projects use of shares, and what they may. */
export class ShareQuotas implements QuotaEngine {
  readonly #share: (volume: string) => EngineShare;
  readonly #works: RunningWorks;

  constructor(share: (volume: string) => EngineShare, works: RunningWorks) {
    this.#share = share;
    this.#works = works;
  }

  quotaState(volume: string): Promise<QuotaSwitches> {
    return translateErrors(() => this.#quotas(volume).state());
  }

  setQuotaState(volume: string, state: QuotaSwitches): Promise<void> {
    return translateErrors(() => this.#share(volume).setQuotaState(state));
  }

  quota(volume: string, scope: QuotaScope, id: number): Promise<QuotaUsage> {
    return translateErrors(async () => usageOf(await this.#quotas(volume).get(scope, id)));
  }

  quotas(volume: string, scope: QuotaScope, fromId: number, limit: number): Promise<readonly QuotaUsage[]> {
    return translateErrors(async () => {
      const found = await this.#quotas(volume).list(scope, fromId, Math.min(limit, LISTED_MAX));
      return found.map(usageOf);
    });
  }

  /** Everything is looked at before anything is set. */
  setQuotas(volume: string, limits: readonly QuotaLimit[]): Promise<void> {
    return translateErrors(async () => {
      for (const limit of limits) requireLimit(limit);
      await this.#quotas(volume).set(limits.map((limit) => ({ ...limit, limitInodes: undefined })));
    });
  }

  setProject(volume: string, path: string, project: number, work: Work): Promise<void> {
    return this.#works.run(work.signal, (signal) =>
      setProject(this.#share(volume).filesystem, path, project, { ...work, signal }),
    );
  }

  #quotas(volume: string) {
    return this.#share(volume).filesystem.quotas;
  }
}

function requireLimit({ id, limitBytes }: QuotaLimit): void {
  const isId = Number.isInteger(id) && id >= 0 && id <= ID_MAX;
  const isLimit = limitBytes === undefined || (Number.isSafeInteger(limitBytes) && limitBytes >= 0);
  if (!isId || !isLimit) throw new EngineError('invalid', `${id} with ${limitBytes} bytes is no quota.`);
}

function usageOf({ scope, id, limitBytes, usedBytes, usedInodes }: Quota): QuotaUsage {
  return { scope, id, limitBytes, usedBytes, files: usedInodes };
}
