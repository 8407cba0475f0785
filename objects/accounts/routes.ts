import { answerWhenDone, badParameter, type Submitted } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import type { PeopleTools } from '../tools.ts';
import type { AccountDeletion } from './deletion.ts';
import { accountsCsv } from './export.ts';
import type { ObjectAccountService } from './service.ts';
import { accountView } from './view.ts';

interface AccountRouteParts {
  readonly accounts: ObjectAccountService;
  readonly deletion: AccountDeletion;
}

type Served = Omit<ObjectsHandlers<'accounts'>, 'listUsers' | 'iops' | 'latency' | 'throughput' | 'capacity'>;

export function accountRoutes(parts: AccountRouteParts, tools: PeopleTools): Served {
  const { accounts } = parts;
  return {
    list: ({ filter_field: field = 'name', filter_value: value, start, limit }) => {
      const filter = value === undefined ? undefined : { field, value };
      const { accounts: rows, count } = accounts.list(filter, { start, limit });
      return { accounts: rows.map((row) => accountView(row, tools)), count };
    },
    get: ({ account_id: id }, { actor }) => ({ count: accountView(accounts.get(actor, id), tools) }),
    create: async ({ name, description }, { actor }) => ({
      count: await accounts.create(name, actor, descriptionOf(description)),
    }),
    setDescription: async ({ account_id: id, description }, { actor }) => {
      await accounts.describe(id, descriptionOf(description), actor);
      return {};
    },
    disable: async ({ account_id: id }, { actor }) => {
      await accounts.disable(id, actor);
      return {};
    },
    enable: async ({ account_id: id }, { actor }) => {
      await accounts.enable(id, actor);
      return {};
    },
    export: async () => ({ filename: 'accounts.csv', bytes: await accountsCsv(tools.store, tools.figures) }),
    getRateLimit: ({ account_id: id }, { actor }) => {
      const { isOwn, limit } = accounts.rateLimit(actor, id);
      return { enabled: isOwn, rate_limit: limit };
    },
    setRateLimit: async ({ account_id: id, enabled, rate_limit: limit }, { actor }) => {
      if (enabled && limit === undefined) throw badParameter('rate_limit', 'is required where enabled is YES');
      await accounts.setRateLimit(id, enabled ? (limit ?? 0) : null, actor);
      return {};
    },
    ...deletionRoutes(parts, tools),
  };
}

function descriptionOf(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' ? null : text.trim();
}

function deletionRoutes({ deletion }: AccountRouteParts, { jobs }: PeopleTools): Served {
  const whenDone = (jobId: number, timeoutSeconds: number): Promise<{ message?: string } | Submitted> =>
    answerWhenDone(jobs, { jobId, timeoutSeconds, answer: () => ({}), failure: 'objs_state_conflict' });
  return {
    delete: async ({ account_id: id, force, timeout }, { actor }) => {
      if (!force) throw badParameter('force', 'must be YES: with an account goes all it holds');
      const job = await deletion.delete(id, actor);
      return job === undefined ? {} : whenDone(job, timeout);
    },
    cleanUp: async ({ account_id: id, timeout }, { actor }) => whenDone(await deletion.cleanUp(id, actor), timeout),
  };
}
