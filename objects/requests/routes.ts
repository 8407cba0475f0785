import { formatUtc } from '@granary/kernel';
import type { ObjectsHandlers } from '../handlers.ts';
import type { RequestRow } from './repository.ts';
import type { AccountRequests } from './service.ts';

export function requestRoutes(requests: AccountRequests): ObjectsHandlers<'requests'> {
  return {
    list: ({ state, limit, page }) => {
      const found = requests.list(state, { start: limit * (page - 1), limit });
      // Without a limit all are on the first page.
      const shown = limit === 0 && page > 1 ? [] : found.requests;
      return { requests: shown.map(viewOf), count: found.count };
    },
    create: async ({ arguments: asked }, { ip }) => ({ request_id: await requests.create(asked, ip) }),
    approve: async ({ id }, { actor }) => ({ count: await requests.approve(id, actor) }),
    deny: async ({ id }, { actor }) => {
      await requests.deny(id, actor);
      return { request_id: id };
    },
  };
}

function viewOf(row: RequestRow) {
  return {
    id: row.id,
    arguments: { username: row.username, account: row.account, email: row.email },
    action: 'register_account',
    decided_by: row.decided_by,
    decided_at: row.decided_at === null ? null : formatUtc(row.decided_at),
    requested_at: formatUtc(row.requested_at),
  };
}
