import { formatUtc } from '@granary/kernel';
import type { ArrayHandlers } from '../handlers.ts';
import type { ArrayUserService } from './service.ts';
import type { User, UserWithKey } from './user.ts';

export function userRoutes(users: ArrayUserService): ArrayHandlers<'users'> {
  return {
    login: async ({ user, password }, { ip }) => ({
      user: viewWithKey(await users.signIn({ username: user, ip }, password)),
    }),
    list: (page) => {
      const { users: found, count } = users.list(page);
      return { users: found.map(viewOf), count };
    },
    create: async (input, { actor }) => {
      const { user, randomPassword } = await users.create(input, actor.username);
      return { user: viewWithKey(user), ...(randomPassword !== undefined && { initial_password: randomPassword }) };
    },
    update: async ({ name, ...change }, { actor }) => ({
      user: viewOf(await users.update(name, change, actor)),
    }),
    delete: async ({ name }, { actor }) => {
      await users.delete(name, actor.username);
      return {};
    },
    changePassword: async ({ password, new_password: next }, { actor, ip }) => {
      await users.changePassword({ username: actor.username, sessionId: actor.sessionId, ip }, password, next);
      return {};
    },
    resetAccessKey: async ({ name, password }, { actor, ip }) => ({
      user: viewWithKey(await users.resetAccessKey({ username: name, ip }, actor, password)),
    }),
  };
}

function viewOf({ id, username, email, role, createdAt }: User) {
  return { id, username, email, role, created_at: formatUtc(createdAt) };
}

function viewWithKey(user: UserWithKey) {
  return { ...viewOf(user), access_key: user.accessKey };
}
