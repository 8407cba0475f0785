import type { PortalHandlers } from '../handlers.ts';
import type { PortalAccountService } from './service.ts';
import type { AccountView } from './view.ts';

export function accountRoutes(accounts: PortalAccountService): PortalHandlers {
  return {
    objectAccounts: {
      create: async ({ array_id: id, ...input }, { actor }) => {
        const data = await accounts.create(actor, id, input);
        return { message: messageOf(data), data };
      },
      get: async ({ array_id: id, account_id: accountId }, { actor }) => ({
        data: await accounts.get(actor, id, accountId),
      }),
      list: async ({ array_id: id, ...page }, context) => {
        const { accounts: data, total } = await accounts.list(context.actor, id, page);
        context.total = total;
        return { data };
      },
      listAll: async (page, context) => {
        const { accounts: data, total } = await accounts.listAll(context.actor, page);
        context.total = total;
        return { data };
      },
      delete: async ({ array_id: id, account_id: accountId }, { actor }) => ({
        array_request_id: await accounts.delete(actor, id, accountId),
      }),
    },
  };
}

function messageOf({ account_name: name, status, objs_request_id: request }: AccountView): string {
  if (status === 'waiting_for_approval')
    return `Request ${request} was submitted and waits for an administrator's approval.`;
  return status === 'created' ? `Account ${name} was created.` : `Account ${name} is being created.`;
}
