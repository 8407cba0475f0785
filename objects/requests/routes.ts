import type { ObjectsHandlers } from '../handlers.ts';
import type { AccountRequests } from './service.ts';
import { requestView } from './view.ts';

export function requestRoutes(requests: AccountRequests): ObjectsHandlers<'requests'> {
  return {
    list: ({ state, limit, page }) => {
      const found = requests.list(state, { start: limit * (page - 1), limit });
      // Without a limit all are on the first page.
      const shown = limit === 0 && page > 1 ? [] : found.requests;
      return { requests: shown.map(requestView), count: found.count };
    },
    create: async ({ arguments: asked }, { ip }) => ({ request_id: await requests.create(asked, ip) }),
    approve: async ({ id }, { actor }) => ({ count: await requests.approve(id, actor) }),
    deny: async ({ id }, { actor }) => {
      await requests.deny(id, actor);
      return { request_id: id };
    },
  };
}
