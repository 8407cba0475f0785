import type { ObjectsRole } from '@granary/contract/objects';
import { badParameter, checkMailAddress, fail, hashPassword, type Db, type Tx } from '@granary/kernel';
import { scopeOf, type ObjectsActor } from '../actor.ts';
import {
  findAccount,
  findAccountNamed,
  followPrimary,
  insertAccount,
  type AccountRow,
} from '../accounts/repository.ts';
import { inScope, requireNormal } from '../accounts/rules.ts';
import type { Page } from '../paging.ts';
import type { PeopleTools } from '../people-tools.ts';
import { newId, type Keys } from './keys.ts';
import type { Passwords } from './passwords.ts';
import * as repository from './repository.ts';
import type { UserRow } from './repository.ts';
import { toUser, withheld, withSecrets, type ShownSecrets, type User } from './user.ts';

/** The account that administers the array. */
export const SYSTEM_ACCOUNT = 'objs_admin';

const USERS_OF_ACCOUNT_MAX = 10_000;

interface NewUser {
  readonly username: string;
  readonly email: string;
  readonly accountId: string;
  readonly notifyOnEvents: boolean;
  readonly role: ObjectsRole;
}

/** A user that is added in somebody else's transaction. */
interface AddedUser extends Omit<NewUser, 'accountId' | 'email'> {
  readonly email: string | null;
  /** Chosen by the user already; else a code sets it. */
  readonly passwordHash: string | null;
  readonly code: { readonly mark: string; readonly expiresAt: number } | null;
  readonly initPasswordChanged: boolean;
}

export interface NewS3Secret {
  readonly access: string;
  readonly secret: string;
  readonly userId: string;
  readonly accountId: string;
}

/** Users as their administrators see them: each account its own, the system account those of all. */
export class Users {
  readonly #tools: PeopleTools;
  readonly #keys: Keys;
  readonly #passwords: Passwords;

  constructor(tools: PeopleTools, keys: Keys, passwords: Passwords) {
    this.#tools = tools;
    this.#keys = keys;
    this.#passwords = passwords;
  }

  /** At the first start: the system account with the owner, who signs in with the passcode the portal shows. */
  async createOwner(username: string, passcode: string): Promise<void> {
    const { store, clock } = this.#tools;
    if (store.read((db) => repository.countUsers(db, null)) > 0) return;
    const passwordHash = await hashPassword(passcode);
    await store.write((tx) => {
      const id = newId();
      insertAccount(tx, { id, name: SYSTEM_ACCOUNT, isSystem: true, now: clock.now() });
      this.add(tx, id, {
        username,
        email: null,
        role: 'objs_admin',
        notifyOnEvents: false,
        passwordHash,
        code: null,
        initPasswordChanged: false,
      });
    });
  }

  list(actor: ObjectsActor, page: Page): { rows: UserRow[]; count: number } {
    const scope = scopeOf(actor);
    return this.#tools.store.read((db) => ({
      rows: repository.listUsers(db, scope, page),
      count: repository.countUsers(db, scope),
    }));
  }

  /**
   * With what opens doors for the user, but for those of the primary user: who stands for an account is not for its other
   * administrators to say, nor to be.
   */
  shown(actor: ObjectsActor, row: UserRow): User & ShownSecrets {
    return isOthersPrimary(row, actor) ? { ...toUser(row), ...withheld } : withSecrets(row, this.#tools.vault);
  }

  get(actor: ObjectsActor, id: string): User & ShownSecrets & { readonly passwordExpiresAt: number | null } {
    const row = this.#tools.store.read((db) => this.#row(db, actor, id));
    return { ...this.shown(actor, row), passwordExpiresAt: this.#passwords.expiresAt(row) };
  }

  /** Returns the code that sets the first password. */
  async create(actor: ObjectsActor, input: NewUser): Promise<string> {
    checkUsername('username', input.username);
    checkMailAddress('email', input.email);
    const { code, mark, expiresAt } = this.#keys.code();
    await this.#tools.store.write((tx) => {
      const account = inScope(findAccount(tx, input.accountId), input.accountId, scopeOf(actor));
      requireNormal(account);
      checkRole(account, input.role);
      this.add(tx, account.id, {
        ...input,
        passwordHash: null,
        code: { mark, expiresAt },
        initPasswordChanged: false,
      });
      const title = `User ${input.username} of ${account.name} was created with the role ${input.role}.`;
      this.#record(tx, account.name, title, actor);
    });
    return code;
  }

  /** Part of the caller's transaction; the first of an account is its primary user. */
  add(tx: Tx, accountId: string, user: AddedUser): void {
    const { clock, changed } = this.#tools;
    if (repository.findUserNamed(tx, accountId, user.username)) throw fail('name_taken', { name: user.username });
    if (repository.countUsers(tx, accountId) >= USERS_OF_ACCOUNT_MAX)
      throw fail('objs_limit_reached', { problem: `An account has at most ${USERS_OF_ACCOUNT_MAX} users.` });
    const now = clock.now();
    const number = repository.insertUser(tx, {
      ...this.#keys.all(),
      id: newId(),
      account_id: accountId,
      username: user.username,
      email: user.email,
      role: user.role,
      notify_on_events: user.notifyOnEvents ? 1 : 0,
      password_hash: user.passwordHash,
      password_set_at: user.passwordHash === null ? null : now,
      init_password_changed: user.initPasswordChanged ? 1 : 0,
      now,
    });
    if (user.code) repository.addCode(tx, number, user.code, now);
    followPrimary(tx, accountId);
    tx.afterCommit(changed);
  }

  delete(actor: ObjectsActor, id: string): Promise<void> {
    return this.#change(actor, id, (tx, user) => {
      this.#guard(tx, user, actor, 'remove');
      repository.deleteUser(tx, user.number);
      if (user.is_primary === 1) {
        repository.choosePrimary(tx, user.account_id, this.#tools.clock.now());
        followPrimary(tx, user.account_id);
      }
      this.#record(tx, user.account_name, `User ${user.username} of ${user.account_name} was removed.`, actor);
    });
  }

  disable(actor: ObjectsActor, id: string): Promise<void> {
    return this.#change(actor, id, (tx, user, now) => {
      if (user.locked === 1) return;
      this.#guard(tx, user, actor, 'disable');
      repository.setLocked(tx, user.number, true, now);
      this.#record(tx, user.account_name, `User ${user.username} of ${user.account_name} was disabled.`, actor);
    });
  }

  enable(actor: ObjectsActor, id: string): Promise<void> {
    return this.#change(actor, id, (tx, user, now) => {
      if (user.locked === 0) return;
      repository.setLocked(tx, user.number, false, now);
      this.#record(tx, user.account_name, `User ${user.username} of ${user.account_name} was enabled again.`, actor);
    });
  }

  changeRole(actor: ObjectsActor, id: string, role: ObjectsRole): Promise<void> {
    return this.#change(actor, id, (tx, user, now) => {
      checkRole({ name: user.account_name, is_system: user.account_is_system }, role);
      if (user.role === role) return;
      this.#guard(tx, user, actor, 'demote');
      repository.setRole(tx, user.number, role, now);
      this.#record(tx, user.account_name, `User ${user.username} of ${user.account_name} has the role ${role}.`, actor);
    });
  }

  async resetS3Secret(actor: ObjectsActor, place: { account: string; username: string }): Promise<NewS3Secret> {
    const { store, clock, changed } = this.#tools;
    const { secret, sealed } = this.#keys.s3Secret();
    return store.write((tx) => {
      const found = findAccount(tx, place.account) ?? findAccountNamed(tx, place.account);
      const account = inScope(found, place.account, scopeOf(actor));
      const user = repository.findUserNamed(tx, account.id, place.username);
      if (!user) throw fail('objs_user_not_found', { id: place.username });
      if (isOthersPrimary(user, actor)) throw primaryRefusal(user, 'replace a key of');
      repository.replaceS3Secret(tx, user.number, sealed, clock.now());
      this.#record(tx, account.name, `The S3 secret key of ${user.username} of ${account.name} was replaced.`, actor);
      tx.afterCommit(changed);
      return { access: user.s3_access_key, secret, userId: user.id, accountId: account.id };
    });
  }

  listOf(actor: ObjectsActor, accountId: string): User[] {
    return this.#tools.store.read((db) => {
      const account = inScope(findAccount(db, accountId), accountId, scopeOf(actor));
      return repository.listUsers(db, account.id, { start: 0, limit: 0 }).map(toUser);
    });
  }

  async #change(actor: ObjectsActor, id: string, change: (tx: Tx, user: UserRow, now: number) => void): Promise<void> {
    const { store, clock, changed } = this.#tools;
    await store.write((tx) => {
      change(tx, this.#row(tx, actor, id), clock.now());
      tx.afterCommit(changed);
    });
  }

  #row(db: Db, actor: ObjectsActor, id: string): UserRow {
    const row = repository.findUserById(db, id, scopeOf(actor));
    if (!row) throw fail('objs_user_not_found', { id });
    return row;
  }

  /** An account keeps an administrator who can sign in, and who stands for it is not for its other users to say. */
  #guard(db: Db, user: UserRow, actor: ObjectsActor, what: 'remove' | 'disable' | 'demote'): void {
    const isSelf = actor.id === `user:${user.number}`;
    if (isSelf && what !== 'demote')
      throw fail('objs_state_conflict', { problem: `You cannot ${what} yourself; ask another administrator.` });
    const isAdmin = user.role !== 'member' && user.locked === 0;
    if (isAdmin && repository.countOtherAdmins(db, user) === 0) throw fail('last_admin', { username: user.username });
    if (isAdmin && isOthersPrimary(user, actor)) throw primaryRefusal(user, what);
  }

  #record(tx: Tx, account: string, title: string, actor: ObjectsActor): void {
    const subject = `account:${account}`;
    this.#tools.events.record(tx, { severity: 'notice', title, subject, actor: actor.username });
  }
}

/** Whether an administrator of an account has its primary user before them, who is somebody else. */
function isOthersPrimary(user: UserRow, actor: ObjectsActor): boolean {
  return user.is_primary === 1 && actor.role !== 'objs_admin' && actor.id !== `user:${user.number}`;
}

function primaryRefusal({ username, account_name: account }: UserRow, what: string) {
  const problem = `User ${username} is the primary user of ${account}; only an administrator of the array may ${what} them.`;
  return fail('objs_state_conflict', { problem });
}

/** Those who administer the array are together in its own account, and there is nobody there to administer but them. */
function checkRole({ name, is_system: isSystem }: Pick<AccountRow, 'name' | 'is_system'>, role: ObjectsRole): void {
  if (role === (isSystem === 1 ? 'account_admin' : 'objs_admin'))
    throw badParameter('role', `must be ${isSystem === 1 ? 'objs_admin' : 'account_admin'} or member in ${name}`);
}

export function checkUsername(field: string, username: string): void {
  if (username !== username.trim()) throw badParameter(field, 'must not begin or end with a space');
}
