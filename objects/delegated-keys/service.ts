import { DelegatedKeys, fail, type DelegatedKey, type Db } from '@granary/kernel';
import { findAccountNamed } from '../accounts/repository.ts';
import type { PeopleTools } from '../tools.ts';
import { findPrimaryUser, findUserByNumber, findUserNamed } from '../users/repository.ts';
import { SYSTEM_ACCOUNT } from '@granary/contract/objects';
import { toUser, type SealedUser, type User } from '../users/user.ts';

interface Asked {
  readonly username: string;
  readonly account?: string | undefined;
  readonly of_array: boolean;
  readonly for_session: boolean;
}

/**
 * Keys by which the portal acts as a user who came through it: the user of the system account of the same name, or else
 * who administers the account that was opened for them.
 */
export class DelegatedKeyService {
  readonly keys: DelegatedKeys<User>;
  readonly #tools: Pick<PeopleTools, 'store' | 'clock' | 'events'>;

  constructor(tools: Pick<PeopleTools, 'store' | 'clock' | 'events'>) {
    const { store, clock } = tools;
    this.#tools = tools;
    this.keys = new DelegatedKeys({
      clock,
      find(number) {
        const user = store.read((db) => findUserByNumber(db, number));
        return user && maySignIn(user) ? toUser(user) : undefined;
      },
    });
  }

  async issue(asked: Asked): Promise<{ readonly key: DelegatedKey; readonly user: User }> {
    const { store, events } = this.#tools;
    const user = store.read((db) => userFor(db, asked));
    if (!user) throw fail('no_array_user', { username: asked.username });
    await store.writeUnlessFull((tx) => {
      const person = user.username === asked.username ? '' : ` for the portal's user ${asked.username}`;
      const title = `User ${user.username} of ${user.accountName} signed in through the portal${person}.`;
      events.record(tx, { title, subject: `account:${user.accountName}`, actor: user.username });
    });
    return {
      key: this.keys.issue({
        user: user.number,
        role: user.role,
        isForSession: asked.for_session,
        person: asked.username,
      }),
      user: toUser(user),
    };
  }
}

function userFor(db: Db, { username, account, of_array: isOfArray }: Asked): SealedUser | undefined {
  const system = isOfArray ? findAccountNamed(db, SYSTEM_ACCOUNT) : undefined;
  const administrator = system && findUserNamed(db, system.id, username);
  if (administrator && maySignIn(administrator)) return administrator;
  if (account === undefined || account === system?.id) return undefined;
  const named = findUserNamed(db, account, username);
  if (named?.role === 'account_admin' && maySignIn(named)) return named;
  const primary = findPrimaryUser(db, account);
  return primary?.role === 'account_admin' && maySignIn(primary) ? primary : undefined;
}

function maySignIn({ locked, accountEnabled }: User): boolean {
  return !locked && accountEnabled;
}
