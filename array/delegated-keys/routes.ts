import type { delegatedKeyApi } from '@granary/contract';
import { formatUtc, type Handlers, type PortalCaller } from '@granary/kernel';
import type { DelegatedKeyService } from './service.ts';

export function delegatedKeyRoutes(service: DelegatedKeyService): Handlers<typeof delegatedKeyApi, PortalCaller> {
  const { keys } = service;
  return {
    delegatedKeys: {
      create: async ({ username, for_session: isForSession }) => {
        const { key, user } = await service.issue(username, isForSession);
        return {
          delegated_key: {
            id: key.id,
            key: key.key,
            username: user.username,
            role: user.role,
            account_id: null,
            account_name: null,
            expires_at: formatUtc(key.expiresAt),
            idle_seconds: key.idleSeconds,
          },
        };
      },
      check: ({ id }) => {
        keys.check(id);
        return {};
      },
      delete: ({ id }) => {
        keys.drop(id);
        return {};
      },
    },
  };
}
