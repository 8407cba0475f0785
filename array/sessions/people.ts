import type { ArrayRole } from '@granary/contract/array';
import { fail, type SessionPeople } from '@granary/kernel';
import type { ArrayTools } from '../tools.ts';
import { findUser, findUserByActor } from '../users/repository.ts';
import type { ArrayUserService } from '../users/service.ts';

interface Credentials {
  readonly username: string;
  readonly password: string;
}

interface Fields {
  readonly user_id: number;
}

/** Users of the array, as sessions need them. */
export function sessionPeople(
  { store }: Pick<ArrayTools, 'store'>,
  users: ArrayUserService,
): SessionPeople<Credentials, ArrayRole, Fields> {
  return {
    verify: async ({ username, password }, ip) => {
      const verified = await users.verified({ username, ip }, password);
      return {
        user: `user:${verified.id}`,
        confirm: (tx) => {
          const user = findUser(tx, verified.username);
          if (user?.id !== verified.id || user.passwordHash !== verified.passwordHash)
            throw fail('invalid_credentials');
        },
      };
    },
    find: (actor) => {
      const user = store.read((db) => findUserByActor(db, actor));
      return user && { ...nameOf(user), role: user.role, fields: { user_id: user.id } };
    },
    named: ({ username }) => {
      const user = store.read((db) => findUser(db, username));
      return user && nameOf(user);
    },
    isAdministrator: ({ role }) => role === 'admin',
  };
}

function nameOf({ username }: { readonly username: string }) {
  return { username, subject: `user:${username}` };
}
