import type { ObjectsRole } from '@granary/contract/objects';
import { fail, type SessionPeople } from '@granary/kernel';
import type { PeopleTools } from '../tools.ts';
import { findUserByActor } from '../users/repository.ts';
import type { SignIns } from '../users/sign-ins.ts';
import type { User } from '../users/user.ts';

interface Credentials {
  readonly username: string;
  readonly password: string;
  readonly account: string;
}

interface Fields {
  readonly user_id: number;
  readonly account_id: string;
  readonly account_name: string;
}

/** Users of all accounts, as sessions need them. */
export function sessionPeople(
  { store }: Pick<PeopleTools, 'store'>,
  signIns: SignIns,
): SessionPeople<Credentials, ObjectsRole, Fields> {
  return {
    verify: async ({ account, username: user, password }, ip) => {
      const verified = await signIns.verified({ account, user, password, ip });
      const actor = `user:${verified.number}`;
      return {
        user: actor,
        confirm: (tx) => {
          const user = findUserByActor(tx, actor);
          if (user?.passwordHash !== verified.passwordHash || user.locked) throw fail('invalid_credentials');
          if (!user.accountEnabled) throw fail('account_disabled', { id: user.accountName });
        },
      };
    },
    find: (actor) => {
      const user = store.read((db) => findUserByActor(db, actor));
      return user && { ...nameOf(user), role: user.role, fields: fieldsOf(user) };
    },
    named: ({ account, username }) => {
      const user = signIns.named(account, username);
      return user && nameOf(user);
    },
    isAdministrator: ({ role }) => role === 'objs_admin',
  };
}

function nameOf({ username, accountName }: User) {
  return { username, subject: `account:${accountName}` };
}

function fieldsOf({ number, accountId, accountName }: User): Fields {
  return { user_id: number, account_id: accountId, account_name: accountName };
}
