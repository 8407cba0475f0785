import { DelegatedKeys, fail, type Clock, type DelegatedKey, type EventLog, type Store } from '@granary/kernel';
import type { User } from '../users/user.ts';

interface Tools {
  readonly store: Store;
  readonly clock: Clock;
  readonly events: EventLog;
}

interface Users {
  byId(id: number): User | undefined;
  byName(username: string): User | undefined;
}

/** Keys by which the portal acts as a user who came through it: the user of the same name. */
export class DelegatedKeyService {
  readonly keys: DelegatedKeys<User>;
  readonly #tools: Tools;
  readonly #users: Users;

  constructor(tools: Tools, users: Users) {
    this.#tools = tools;
    this.#users = users;
    this.keys = new DelegatedKeys({ clock: tools.clock, find: (id) => users.byId(id) });
  }

  async issue(username: string, isForSession: boolean): Promise<{ readonly key: DelegatedKey; readonly user: User }> {
    const user = this.#users.byName(username);
    if (!user) throw fail('no_array_user', { username });
    await this.#tools.store.writeUnlessFull((tx) => {
      const title = `User ${user.username} signed in through the portal.`;
      this.#tools.events.record(tx, { title, subject: `user:${user.username}`, actor: user.username });
    });
    return { key: this.keys.issue({ user: user.id, role: user.role, isForSession, person: username }), user };
  }
}
