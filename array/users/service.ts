import type { ArrayRole } from '@granary/contract/array';
import {
  badParameter,
  fail,
  fingerprint,
  hashPassword,
  newSecret,
  SignInAttempts,
  verifyPassword,
  type Attempt,
  type Clock,
  type Db,
  type EventLog,
  type Page,
  type Store,
  type Tx,
  type Vault,
} from '@granary/kernel';
import {
  countOtherAdmins,
  countUsers,
  deleteUser,
  findUser,
  findUserByActor,
  findUserById,
  findUserByKey,
  insertUser,
  listUsers,
  updateUser,
} from './repository.ts';
import type { NewUser, User, UserRecord, UserWithKey } from './user.ts';

interface UsersOptions {
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly events: EventLog;
}

/** Signs a user out, in the transaction that takes the user's rights. */
interface UserSessions {
  signOut(tx: Tx, user: string, exceptSession?: number): void;
  rightsChanged(tx: Tx, user: string): void;
}

/** Who makes a change: with a session, that one lasts. */
interface UserCaller {
  readonly username: string;
  readonly sessionId?: number | undefined;
}

interface NewUserRequest {
  readonly username: string;
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  readonly role: ArrayRole;
}

interface UserChange {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  readonly role?: ArrayRole | undefined;
}

/** Who asks for a new key. */
type KeyCaller = UserCaller & Pick<User, 'role'>;

const USERS_MAX = 1000;

export class ArrayUserService {
  readonly #options: UsersOptions;
  readonly #sessions: UserSessions;
  readonly #attempts: SignInAttempts;

  constructor(options: UsersOptions, sessions: UserSessions) {
    this.#options = options;
    this.#sessions = sessions;
    this.#attempts = new SignInAttempts({ clock: options.clock });
  }

  /** At the first start: the owner, who signs in with the passcode the portal shows. */
  async createOwner(username: string, passcode: string): Promise<void> {
    const { store } = this.#options;
    if (store.read(countUsers) > 0) return;
    const owner = await this.#newUser({ username, role: 'admin', password: passcode }, passcode);
    await store.write((tx) => insertUser(tx, owner));
  }

  async signIn(attempt: Attempt, password: string): Promise<UserWithKey> {
    const { store, events } = this.#options;
    const user = await this.#attempts.guard(attempt, () => this.#verify(attempt.username, password));
    // A user who wants to free space on a full disk has to sign in first.
    await store.writeUnlessFull((tx) => {
      const title = `User ${user.username} signed in from ${attempt.ip}.`;
      events.record(tx, { title, subject: `user:${user.username}`, actor: user.username });
    });
    return this.#withKey(user);
  }

  byAccessKey(key: string): User | undefined {
    const user = this.#options.store.read((db) => findUserByKey(db, fingerprint(key)));
    return user && toUser(user);
  }

  /** The user of a session; undefined once removed. */
  byActor(actor: string): User | undefined {
    const user = this.#options.store.read((db) => findUserByActor(db, actor));
    return user && toUser(user);
  }

  byId(id: number): User | undefined {
    const user = this.#options.store.read((db) => findUserById(db, id));
    return user && toUser(user);
  }

  byName(username: string): User | undefined {
    const user = this.#options.store.read((db) => findUser(db, username));
    return user && toUser(user);
  }

  /** For the one call that is needed by users who have no key. */
  async byPassword(attempt: Attempt, password: string): Promise<User> {
    return toUser(await this.verified(attempt, password));
  }

  verified(attempt: Attempt, password: string): Promise<UserRecord> {
    return this.#attempts.guard(attempt, () => this.#verify(attempt.username, password));
  }

  refuseKey(ip: string): Promise<never> {
    return this.#attempts.refuse({ username: '(access key)', ip });
  }

  list(page: Page): { users: User[]; count: number } {
    return this.#options.store.read((db) => ({
      users: listUsers(db, page).map(toUser),
      count: countUsers(db),
    }));
  }

  async create(request: NewUserRequest, actor: string): Promise<{ user: UserWithKey; randomPassword?: string }> {
    const { store, events } = this.#options;
    if (request.username !== request.username.trim())
      throw badParameter('username', 'must not begin or end with a space');
    const randomPassword = request.password === undefined ? newSecret(9) : undefined;
    const fresh = await this.#newUser(request, request.password ?? (randomPassword as string));
    const user = await store.write((tx) => {
      if (findUser(tx, fresh.username)) throw fail('name_taken', { name: fresh.username });
      if (countUsers(tx) >= USERS_MAX) throw fail('users_limit', { max: USERS_MAX });
      events.record(tx, { title: `User ${fresh.username} was created.`, subject: `user:${fresh.username}`, actor });
      return insertUser(tx, fresh);
    });
    return { user: this.#withKey(user), ...(randomPassword !== undefined && { randomPassword }) };
  }

  async update(username: string, change: UserChange, caller: UserCaller): Promise<User> {
    const { store, events } = this.#options;
    const hash = change.password === undefined ? undefined : await hashPassword(change.password);
    return store.write((tx) => {
      const user = existing(tx, username);
      const { email = user.email, role = user.role } = change;
      if (user.role === 'admin' && role !== 'admin') keepAnAdmin(tx, user);
      updateUser(tx, user.username, { email, role, passwordHash: hash });
      if (role !== user.role) this.#sessions.rightsChanged(tx, `user:${user.id}`);
      if (hash !== undefined) this.#replaceKey(tx, user, caller);
      const what = [hash && 'password', email !== user.email && 'mail address', role !== user.role && `role (${role})`];
      const changed = what.filter((one) => typeof one === 'string').join(', ') || 'nothing';
      const title = `User ${user.username} was changed: ${changed}.`;
      events.record(tx, { severity: 'notice', title, subject: `user:${user.username}`, actor: caller.username });
      return toUser(existing(tx, username));
    });
  }

  async delete(username: string, actor: string): Promise<void> {
    const { store, events } = this.#options;
    await store.write((tx) => {
      const user = existing(tx, username);
      if (user.username === actor) throw fail('cannot_remove_yourself');
      if (user.role === 'admin') keepAnAdmin(tx, user);
      deleteUser(tx, user.id);
      this.#sessions.signOut(tx, `user:${user.id}`);
      const title = `User ${user.username} was removed.`;
      events.record(tx, { severity: 'notice', title, subject: `user:${user.username}`, actor });
    });
  }

  /** By users themselves, who have to know the one before. */
  async changePassword(attempt: Attempt & UserCaller, password: string, next: string): Promise<void> {
    const { store, events } = this.#options;
    store.read((db) => existing(db, attempt.username));
    const { id } = await this.#attempts.guard(attempt, () => this.#verify(attempt.username, password));
    const hash = await hashPassword(next);
    await store.write((tx) => {
      const user = existing(tx, attempt.username);
      if (user.id !== id) throw fail('user_not_found', { id: attempt.username });
      updateUser(tx, user.username, { passwordHash: hash });
      if (next !== password) this.#replaceKey(tx, user, attempt);
      const title = `User ${user.username} changed their password.`;
      events.record(tx, { severity: 'notice', title, subject: `user:${user.username}`, actor: user.username });
    });
  }

  /** An administrator resets any key, a user the own one; the password of the user does as well. */
  async resetAccessKey(attempt: Attempt, caller: KeyCaller, password: string | undefined): Promise<UserWithKey> {
    const { store, events } = this.#options;
    const { username } = attempt;
    const actor = caller.username;
    if (caller.role !== 'admin' && store.read((db) => existing(db, username)).username !== actor) {
      if (password === undefined) throw fail('not_allowed', { roles: 'the role admin' });
      await this.byPassword(attempt, password);
    }
    return store.write((tx) => {
      const found = existing(tx, username);
      const accessKey = this.#replaceKey(tx, found, caller);
      const title = `The access key of ${found.username} was replaced.`;
      events.record(tx, { severity: 'notice', title, subject: `user:${found.username}`, actor });
      return { ...toUser(found), accessKey };
    });
  }

  /** A user who needs a new password may have lost the key, too, or a browser that is signed in. */
  #replaceKey(tx: Tx, { id, username }: User, caller: UserCaller): string {
    this.#sessions.signOut(tx, `user:${id}`, username === caller.username ? caller.sessionId : undefined);
    const key = newSecret();
    updateUser(tx, username, { sealedKey: this.#options.vault.seal(key), keyMark: fingerprint(key) });
    return key;
  }

  async #verify(username: string, password: string): Promise<UserRecord | undefined> {
    const user = this.#options.store.read((db) => findUser(db, username));
    return (await verifyPassword(password, user?.passwordHash)) ? user : undefined;
  }

  async #newUser({ username, email, role }: NewUserRequest, password: string): Promise<NewUser> {
    const key = newSecret();
    return {
      username,
      email: email ?? null,
      role,
      passwordHash: await hashPassword(password),
      sealedKey: this.#options.vault.seal(key),
      keyMark: fingerprint(key),
      createdAt: this.#options.clock.now(),
    };
  }

  #withKey(user: UserRecord): UserWithKey {
    return { ...toUser(user), accessKey: this.#options.vault.unseal(user.sealedKey) };
  }
}

function existing(db: Db, username: string): UserRecord {
  const user = findUser(db, username);
  if (!user) throw fail('user_not_found', { id: username });
  return user;
}

function keepAnAdmin(tx: Tx, { id, username }: UserRecord): void {
  if (countOtherAdmins(tx, id) === 0) throw fail('last_administrator', { username });
}

function toUser({ id, username, email, role, createdAt }: UserRecord): User {
  return { id, username, email, role, createdAt };
}
