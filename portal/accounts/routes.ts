import type { PortalHandlers } from '../handlers.ts';
import type { PublicServices } from './public-service.ts';
import type { Accounts } from './service.ts';

export function publicServiceRoutes(services: PublicServices): PortalHandlers {
  return {
    publicObjects: {
      create: async ({ array_id: id, ...input }, { actor }) => ({
        data: await services.create(actor, id, input),
        message: 'The public object service was created.',
      }),
      update: async ({ array_id: id, ...change }, { actor }) => ({
        data: await services.update(actor, id, change),
        message: 'The public object service was updated.',
      }),
      get: ({ array_id: id }, { actor }) => ({ data: services.get(actor, id) }),
      delete: async ({ array_id: id }, { actor }) => {
        await services.delete(actor, id);
        return {};
      },
    },
  };
}

export function accountRoutes(accounts: Accounts): PortalHandlers {
  return {
    objectAccounts: {
      create: async ({ array_id: id, ...input }, { actor }) => {
        const { account: data, decided } = await accounts.create(actor, id, input);
        const message = decided
          ? `Account ${data.account_name} was created.`
          : `Request ${data.objs_request_id} was submitted and waits for an administrator's approval.`;
        return { message, data };
      },
      get: ({ array_id: id, account_id: accountId }, { actor }) => ({ data: accounts.get(actor, id, accountId) }),
      list: ({ array_id: id, ...page }, context) => {
        const { accounts: data, total } = accounts.list(context.actor, id, page);
        context.total = total;
        return { data };
      },
      delete: async ({ array_id: id, account_id: accountId }, { actor }) => ({
        array_request_id: await accounts.delete(actor, id, accountId),
      }),
    },
  };
}
