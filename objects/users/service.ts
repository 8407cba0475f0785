import { SYSTEM_ACCOUNT, type ObjectsRole } from '@granary/contract/objects';
import {
  badParameter,
  checkMailAddress,
  fail,
  hashPassword,
  type Db,
  type Page,
  type Sessions,
  type Tx,
} from '@granary/kernel';
import { scopeOf, type ObjectsActor } from '../actor.ts';
import { newId, type Account } from '../accounts/account.ts';
import { findAccount, findAccountNamed, followPrimary, insertAccount } from '../accounts/repository.ts';
import { inScope, requireNormal } from '../accounts/rules.ts';
import type { PeopleTools } from '../tools.ts';
import type { Keys } from './keys.ts';
import type { Passwords } from './passwords.ts';
import * as repository from './repository.ts';
import { toUser, withheld, withSecrets, type ShownSecrets, type User, type SealedUser } from './user.ts';

const USERS_OF_ACCOUNT_MAX = 10_000;

interface NewUser {
  readonly username: string;
  readonly email: string;
  readonly accountId: string;
  readonly notifyOnEvents: boolean;
  readonly role: ObjectsRole;
}

/** A user that is added in the caller's transaction. */
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

interface UserParts {
  readonly keys: Keys;
  readonly passwords: Passwords;
  readonly sessions: Sessions;
}

/** Users as their administrators see them: each account its own, the system account those of all. */
export class ObjectUserService {
  readonly #tools: PeopleTools;
  readonly #keys: Keys;
  readonly #passwords: Passwords;
  readonly #sessions: Sessions;

  constructor(tools: PeopleTools, { keys, passwords, sessions }: UserParts) {
    this.#sessions = sessions;
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
      insertAccount(tx, { id, name: SYSTEM_ACCOUNT, isSystem: true }, clock.now());
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

  list(actor: ObjectsActor, page: Page): { users: SealedUser[]; count: number } {
    const scope = scopeOf(actor);
    return this.#tools.store.read((db) => ({
      users: repository.listUsers(db, scope, page),
      count: repository.countUsers(db, scope),
    }));
  }

  /**
   * With what opens doors for the user, but for those of the primary user: who stands for an account is not for its other
   * administrators to say, nor to be.
   */
  shown(actor: ObjectsActor, user: SealedUser): User & ShownSecrets {
    return isOthersPrimary(user, actor) ? { ...toUser(user), ...withheld } : withSecrets(user, this.#tools.vault);
  }

  get(actor: ObjectsActor, id: string): User & ShownSecrets & { readonly passwordExpiresAt: number | null } {
    const user = this.#tools.store.read((db) => this.#existing(db, actor, id));
    return { ...this.shown(actor, user), passwordExpiresAt: this.#passwords.expiresAt(user) };
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
      throw fail('users_of_account_limit', { max: USERS_OF_ACCOUNT_MAX });
    const now = clock.now();
    const number = repository.insertUser(
      tx,
      {
        ...this.#keys.all(),
        id: newId(),
        accountId,
        username: user.username,
        email: user.email,
        role: user.role,
        notifyOnEvents: user.notifyOnEvents,
        passwordHash: user.passwordHash,
        passwordSetAt: user.passwordHash === null ? null : now,
        initPasswordChanged: user.initPasswordChanged,
      },
      now,
    );
    if (user.code) repository.addCode(tx, number, user.code, now);
    followPrimary(tx, accountId);
    tx.afterCommit(changed);
  }

  delete(actor: ObjectsActor, id: string): Promise<void> {
    return this.#change(actor, id, (tx, user) => {
      this.#guard(tx, user, actor, 'remove');
      repository.deleteUser(tx, user.number);
      this.#sessions.signOut(tx, `user:${user.number}`);
      if (user.isPrimary) {
        repository.choosePrimary(tx, user.accountId, this.#tools.clock.now());
        followPrimary(tx, user.accountId);
      }
      this.#record(tx, user.accountName, `User ${user.username} of ${user.accountName} was removed.`, actor);
    });
  }

  disable(actor: ObjectsActor, id: string): Promise<void> {
    return this.#change(actor, id, (tx, user, now) => {
      if (user.locked) return;
      this.#guard(tx, user, actor, 'disable');
      repository.setLocked(tx, user.number, true, now);
      this.#sessions.signOut(tx, `user:${user.number}`);
      this.#record(tx, user.accountName, `User ${user.username} of ${user.accountName} was disabled.`, actor);
    });
  }

  enable(actor: ObjectsActor, id: string): Promise<void> {
    return this.#change(actor, id, (tx, user, now) => {
      if (!user.locked) return;
      repository.setLocked(tx, user.number, false, now);
      this.#record(tx, user.accountName, `User ${user.username} of ${user.accountName} was enabled again.`, actor);
    });
  }

  changeRole(actor: ObjectsActor, id: string, role: ObjectsRole): Promise<void> {
    return this.#change(actor, id, (tx, user, now) => {
      checkRole({ name: user.accountName, isSystem: user.isSystem }, role);
      if (user.role === role) return;
      this.#guard(tx, user, actor, 'demote');
      repository.setRole(tx, user.number, role, now);
      this.#sessions.rightsChanged(tx, `user:${user.number}`);
      this.#record(tx, user.accountName, `User ${user.username} of ${user.accountName} has the role ${role}.`, actor);
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
      return { access: user.s3AccessKey, secret, userId: user.id, accountId: account.id };
    });
  }

  listOf(actor: ObjectsActor, accountId: string): User[] {
    return this.#tools.store.read((db) => {
      const account = inScope(findAccount(db, accountId), accountId, scopeOf(actor));
      return repository.listUsers(db, account.id, { start: 0, limit: 0 }).map(toUser);
    });
  }

  async #change(
    actor: ObjectsActor,
    id: string,
    change: (tx: Tx, user: SealedUser, now: number) => void,
  ): Promise<void> {
    const { store, clock, changed } = this.#tools;
    await store.write((tx) => {
      change(tx, this.#existing(tx, actor, id), clock.now());
      tx.afterCommit(changed);
    });
  }

  #existing(db: Db, actor: ObjectsActor, id: string): SealedUser {
    const user = repository.findUserById(db, id, scopeOf(actor));
    if (!user) throw fail('objs_user_not_found', { id });
    return user;
  }

  /** An account keeps an administrator who can sign in, and who stands for it is not for its other users to say. */
  #guard(db: Db, user: SealedUser, actor: ObjectsActor, what: 'remove' | 'disable' | 'demote'): void {
    const isSelf = actor.id === `user:${user.number}`;
    if (isSelf && what !== 'demote') throw fail('own_user', { what });
    const isAdmin = user.role !== 'member' && !user.locked;
    if (isAdmin && repository.countOtherAdmins(db, user) === 0) throw fail('last_admin', { username: user.username });
    if (isAdmin && isOthersPrimary(user, actor)) throw primaryRefusal(user, what);
  }

  #record(tx: Tx, account: string, title: string, actor: ObjectsActor): void {
    const subject = `account:${account}`;
    this.#tools.events.record(tx, { severity: 'notice', title, subject, actor: actor.username });
  }
}

/** Whether the user is the primary user of an account and the actor another administrator of that account. */
function isOthersPrimary(user: SealedUser, actor: ObjectsActor): boolean {
  return user.isPrimary && actor.role !== 'objs_admin' && actor.id !== `user:${user.number}`;
}

function primaryRefusal({ username, accountName: account }: SealedUser, what: string) {
  return fail('primary_user', { username, account, what });
}

/** Administrators of the array are in its system account, and an account administrator cannot be there. */
function checkRole({ name, isSystem }: Pick<Account, 'name' | 'isSystem'>, role: ObjectsRole): void {
  if (role === (isSystem ? 'account_admin' : 'objs_admin'))
    throw badParameter('role', `must be ${isSystem ? 'objs_admin' : 'account_admin'} or member in ${name}`);
}

export function checkUsername(field: string, username: string): void {
  if (username !== username.trim()) throw badParameter(field, 'must not begin or end with a space');
}
