import type { PortalRole } from '@granary/contract/portal';
import { badParameter, fail, fingerprint, hashPassword, newSecret, type Db, type Page, type Tx } from '@granary/kernel';
import type { UserId } from '../ids.ts';
import { actorIdOf, type PortalActor } from '../actor.ts';
import type { Tools } from '../tools.ts';
import * as repository from './repository.ts';
import type { User } from './user.ts';
import { userView, type UserView } from './view.ts';

type Change = (tx: Tx, user: User, now: number) => void;

export interface NewUser {
  readonly username: string;
  readonly password: string;
  readonly email?: string | undefined;
  readonly role: PortalRole;
  readonly auto_approved: boolean;
}

export interface UserChange {
  readonly password?: string | undefined;
  readonly email?: string | undefined;
  readonly role?: PortalRole | undefined;
  readonly auto_approved?: boolean | undefined;
}

/** What users need of sign-in. */
interface SignInState {
  /** Drops remembered tokens, passwords and roles after a change. */
  invalidate(): void;
  isRefused(username: string): boolean;
  verifyPassword(username: string, password: string, ip: string): Promise<User>;
}

/** What users have open at the portal, each call in the transaction of the change. */
interface UserSessions {
  endOfUser(tx: Tx, user: string, exceptSession?: number): void;
  signOut(tx: Tx, user: string, exceptSession?: number): void;
  rightsChanged(tx: Tx, user: string): void;
}

interface UserParts {
  readonly signIn: SignInState;
  readonly relations: UserRelations;
  readonly sessions: UserSessions;
  readonly totp: SecondFactor;
}

interface SecondFactor {
  isOn(db: Db, userId: UserId): boolean;
  removeBy(tx: Tx, user: User, actor: string): void;
}

/** What users change themselves. */
interface OwnChange {
  readonly email?: string | undefined;
  readonly password?: string | undefined;
  readonly current_password?: string | undefined;
}

/** What other resources have to do with users, each call in the transaction of the change. */
export interface UserRelations {
  created(tx: Tx, userId: UserId, username: string): void;
  /** What would be left without an owner. Arrays that can be undeleted count; purged ones do not: bills keep the name. */
  countOwned(db: Db, userId: UserId): number;
  removed(tx: Tx, userId: UserId): void;
}

/** The people of the portal and what they may do. */
export class PortalUserService {
  readonly #tools: Tools;
  readonly #signIn: SignInState;
  readonly #relations: UserRelations;
  readonly #sessions: UserSessions;
  readonly #totp: SecondFactor;

  constructor(tools: Tools, { signIn, relations, sessions, totp }: UserParts) {
    this.#totp = totp;
    this.#tools = tools;
    this.#relations = relations;
    this.#signIn = signIn;
    this.#sessions = sessions;
  }

  list(page: Page): { users: UserView[]; total: number } {
    return this.#tools.store.read((db) => ({
      users: repository.listUsers(db, page).map((user) => this.#view(db, user)),
      total: repository.countUsers(db),
    }));
  }

  get(id: UserId): UserView {
    return this.#tools.store.read((db) => this.#view(db, this.#existing(db, id)));
  }

  isEmpty(): boolean {
    return this.#tools.store.read(repository.countUsers) === 0;
  }

  async create(user: NewUser, actor = 'system'): Promise<UserView> {
    const { store, clock, events, vault } = this.#tools;
    const passwordHash = await hashPassword(user.password);
    const token = newSecret();
    return store.write((tx) => {
      const { username, role, email = null, auto_approved: autoApproved } = user;
      if (repository.findUserByName(tx, username)) throw fail('name_taken', { name: username });
      const sealed = { tokenPrint: fingerprint(token), tokenSealed: vault.seal(token) };
      const id = repository.insertUser(
        tx,
        { username, email, role, autoApproved, passwordHash, ...sealed },
        clock.now(),
      );
      this.#relations.created(tx, id, username);
      events.record(tx, { title: `User ${username} was added.`, subject: `user:${id}`, actor });
      return this.#view(tx, this.#existing(tx, id));
    });
  }

  update(id: UserId, change: UserChange, actor: PortalActor): Promise<UserView> {
    return this.#change(id, actor, 'changed', async () => {
      const passwordHash = change.password === undefined ? undefined : await hashPassword(change.password);
      return (tx, user, now) => {
        const role = change.role ?? user.role;
        if (role !== 'admin') this.#keepAnAdmin(tx, user);
        const { email, auto_approved: autoApproved } = change;
        repository.updateUser(tx, id, { email, role, autoApproved, passwordHash }, now);
        if (role !== user.role) this.#sessions.rightsChanged(tx, actorIdOf(id));
        // A user who needs a new password may have lost the token with the old one.
        if (passwordHash !== undefined) this.#revoke(tx, id, actor.userId === id ? actor.sessionId : undefined);
      };
    });
  }

  /** By users themselves; a new password needs the one so far. */
  async updateSelf(change: OwnChange, actor: PortalActor, ip: string): Promise<UserView> {
    const { email, password, current_password: current } = change;
    if (password !== undefined) {
      if (current === undefined) throw badParameter('current_password', 'is required for a new password');
      await this.verifySelf(current, actor, ip);
    }
    return this.update(actor.userId, { email, password }, actor);
  }

  /** Throws unless it is the password of the caller. */
  async verifySelf(password: string, { username }: PortalActor, ip: string): Promise<void> {
    await this.#signIn.verifyPassword(username, password, ip);
  }

  removeTotp(id: UserId, actor: PortalActor): Promise<UserView> {
    return this.#change(id, actor, 'signed out: two-factor sign-in was switched off', () => (tx, user) => {
      // An open browser or a token is not enough for one's own: that takes a code.
      if (id === actor.userId) throw fail('totp_is_yours');
      this.#totp.removeBy(tx, user, actor.username);
      this.#sessions.endOfUser(tx, actorIdOf(id));
    });
  }

  disable(id: UserId, actor: PortalActor): Promise<UserView> {
    return this.#change(id, actor, 'disabled', () => (tx, user, now) => {
      if (user.disabledAt !== null) return;
      if (id === actor.userId) throw fail('cannot_disable_yourself');
      this.#keepAnAdmin(tx, user);
      repository.updateUser(tx, id, { disabledAt: now }, now);
      this.#sessions.signOut(tx, actorIdOf(id));
    });
  }

  enable(id: UserId, actor: PortalActor): Promise<UserView> {
    return this.#change(id, actor, 'enabled', () => (tx, user, now) => {
      if (user.disabledAt !== null) repository.updateUser(tx, id, { disabledAt: null }, now);
    });
  }

  revokeTokens(id: UserId, actor: PortalActor): Promise<UserView> {
    return this.#change(id, actor, 'signed out: all tokens were revoked', () => (tx) => {
      this.#revoke(tx, id);
    });
  }

  async delete(id: UserId, actor: PortalActor): Promise<void> {
    const { store, clock } = this.#tools;
    await store.write((tx) => {
      const user = this.#existing(tx, id);
      this.#keepAnAdmin(tx, user);
      const count = this.#relations.countOwned(tx, id);
      if (count > 0) {
        const by = `${count} arrays, accounts or networks belong to the user, those that can be undeleted included; delete or purge them first`;
        throw fail('in_use', { kind: 'User', id: user.username, by });
      }
      repository.removeUser(tx, id, clock.now());
      this.#relations.removed(tx, id);
      this.#sessions.signOut(tx, actorIdOf(id));
      this.#changed(tx, user, 'removed', actor);
    });
  }

  /** Makes one change of a user; what it needs that takes long is prepared before the transaction. */
  async #change(
    id: UserId,
    actor: PortalActor,
    what: string,
    prepare: () => Change | Promise<Change>,
  ): Promise<UserView> {
    const { store, clock } = this.#tools;
    const change = await prepare();
    return store.write((tx) => {
      const user = this.#existing(tx, id);
      change(tx, user, clock.now());
      this.#changed(tx, user, what, actor);
      return this.#view(tx, this.#existing(tx, id));
    });
  }

  #changed(tx: Tx, { id, username }: User, what: string, actor: PortalActor): void {
    const title = `User ${username} was ${what}.`;
    this.#tools.events.record(tx, { title, subject: `user:${id}`, actor: actor.username });
    tx.afterCommit(() => {
      this.#signIn.invalidate();
    });
  }

  #revoke(tx: Tx, id: UserId, exceptSession?: number): void {
    this.#sessions.signOut(tx, actorIdOf(id), exceptSession);
    const token = newSecret();
    repository.updateToken(tx, id, fingerprint(token), this.#tools.vault.seal(token));
  }

  #existing(db: Db, id: UserId): User {
    const user = repository.findUser(db, id);
    if (!user) throw fail('not_found', { kind: 'user', id });
    return user;
  }

  /** Refuses to take away the last administrator who can sign in. */
  #keepAnAdmin(tx: Tx, { id, username, role, disabledAt }: User): void {
    if (role !== 'admin' || disabledAt !== null) return;
    if (repository.countOtherAdmins(tx, id) === 0) throw fail('last_admin', { username });
  }

  #view(db: Db, user: User): UserView {
    return userView(user, {
      isRefused: this.#signIn.isRefused(user.username),
      hasTotp: this.#totp.isOn(db, user.id),
    });
  }
}
