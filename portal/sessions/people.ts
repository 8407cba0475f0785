import type { PortalRole } from '@granary/contract/portal';
import { fail, type SessionPeople } from '@granary/kernel';
import { actorOf, type SignIn } from '../tokens/service.ts';
import type { Tools } from '../tools.ts';
import { findUser, findUserByActor, findUserByName } from '../users/repository.ts';
import type { User } from '../users/user.ts';

interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly code?: string | undefined;
}

interface Fields {
  readonly user_id: number;
  readonly auto_approved: boolean;
}

/** Users of the portal, as sessions need them. */
export function sessionPeople({ store }: Tools, signIn: SignIn): SessionPeople<Credentials, PortalRole, Fields> {
  return {
    verify: async (input, ip) => {
      const verified = await signIn.verify(input, ip);
      return {
        user: actorOf(verified).id,
        confirm: (tx) => {
          const user = findUser(tx, verified.id);
          if (user?.passwordHash !== verified.passwordHash) throw fail('invalid_credentials');
          if (user.disabledAt !== null) throw fail('user_disabled', { username: user.username });
        },
      };
    },
    find: (id) => {
      const user = store.read((db) => findUserByActor(db, id));
      return user && { ...nameOf(user), role: user.role, fields: fieldsOf(user) };
    },
    named: ({ username }) => {
      const user = store.read((db) => findUserByName(db, username));
      return user && nameOf(user);
    },
    isAdministrator: ({ role }) => role === 'admin',
  };
}

function nameOf({ id, username }: User) {
  return { username, subject: `user:${id}` };
}

function fieldsOf({ id, autoApproved }: User): Fields {
  return { user_id: id, auto_approved: autoApproved };
}
