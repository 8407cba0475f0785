import type { PortalHandlers } from '../handlers.ts';
import type { RequestService } from './service.ts';

export function requestRoutes(requests: RequestService): PortalHandlers {
  return {
    arrayRequests: {
      list: ({ status, ...page }, context) => {
        const { requests: data, total } = requests.list(context.actor, status, page);
        context.total = total;
        return { data };
      },
      get: ({ id }, { actor }) => ({ data: requests.get(actor, id) }),
      approve: async ({ id, name }, { actor }) => {
        await requests.approve(actor, id, name);
        return { data: { array_request_id: id } };
      },
      deny: async ({ id, reason }, { actor }) => {
        await requests.deny(actor, id, reason);
        return { data: { array_request_id: id } };
      },
      withdraw: async ({ id }, { actor }) => {
        await requests.withdraw(actor, id);
        return { data: { array_request_id: id } };
      },
      delete: async ({ id }, { actor }) => {
        await requests.delete(actor, id);
        return {};
      },
    },
  };
}
