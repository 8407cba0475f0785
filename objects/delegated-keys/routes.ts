import type { delegatedKeyApi } from '@granary/contract';
import { formatUtc, type Handlers, type PortalCaller } from '@granary/kernel';
import type { DelegatedKeyService } from './service.ts';

export function delegatedKeyRoutes(service: DelegatedKeyService): Handlers<typeof delegatedKeyApi, PortalCaller> {
  const { keys } = service;
  return {
    delegatedKeys: {
      create: async (asked) => {
        const { key, user } = await service.issue(asked);
        return {
          delegated_key: {
            id: key.id,
            key: key.key,
            username: user.username,
            role: user.role,
            account_id: user.accountId,
            account_name: user.accountName,
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
