import type { PortalHandlers } from '../handlers.ts';
import type { PortalUserService } from './service.ts';

export function userRoutes(users: PortalUserService): PortalHandlers {
  return {
    users: {
      list: (page, context) => {
        const { users: data, total } = users.list(page);
        context.total = total;
        return { data };
      },
      get: ({ id }) => ({ data: users.get(id) }),
      create: async (input, { actor }) => ({ data: await users.create(input, actor.username) }),
      update: async ({ id, ...change }, { actor }) => ({ data: await users.update(id, change, actor) }),
      disable: async ({ id }, { actor }) => ({ data: await users.disable(id, actor) }),
      enable: async ({ id }, { actor }) => ({ data: await users.enable(id, actor) }),
      revokeTokens: async ({ id }, { actor }) => ({ data: await users.revokeTokens(id, actor) }),
      removeTotp: async ({ id }, { actor }) => ({ data: await users.removeTotp(id, actor) }),
      delete: async ({ id }, { actor }) => {
        await users.delete(id, actor);
        return {};
      },
    },
  };
}
