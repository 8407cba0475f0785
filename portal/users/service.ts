import type { RecordOf } from '@granary/contract';
import type { PortalRole, User } from '@granary/contract/portal';
import { fail, fingerprint, formatUtc, hashPassword, newSecret, type Tx } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import type { Page } from '../paging.ts';
import { addTenantsOfUser } from '../tenants/service.ts';
import type { Tools } from '../tools.ts';
import * as repository from './repository.ts';

export type UserView = RecordOf<typeof User>;

type Change = (tx: Tx, row: repository.UserRow, now: number) => void;

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
  forget(): void;
  isRefused(username: string): boolean;
}

/** The people of the portal and what they may do. */
export class Users {
  readonly #tools: Tools;
  readonly #signIn: SignInState;

  constructor(tools: Tools, signIn: SignInState) {
    this.#tools = tools;
    this.#signIn = signIn;
  }

  list(page: Page): { users: UserView[]; total: number } {
    return this.#tools.store.read((db) => ({
      users: repository.listUsers(db, page).map((row) => this.#view(row)),
      total: repository.countUsers(db),
    }));
  }

  get(id: number): UserView {
    const row = this.#tools.store.read((db) => repository.findUser(db, id));
    if (!row) throw fail('not_found', { kind: 'user', id });
    return this.#view(row);
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
      const id = repository.insertUser(tx, {
        username,
        email,
        role,
        autoApproved,
        passwordHash,
        ...sealed,
        now: clock.now(),
      });
      addTenantsOfUser(tx, id, username);
      events.record(tx, { title: `User ${username} was added.`, subject: `user:${id}`, actor });
      return this.#view(this.#row(tx, id));
    });
  }

  update(id: number, change: UserChange, actor: PortalActor): Promise<UserView> {
    return this.#change(id, actor, 'changed', async () => {
      const passwordHash = change.password === undefined ? undefined : await hashPassword(change.password);
      return (tx, row, now) => {
        const role = change.role ?? row.role;
        if (role !== 'admin') this.#keepAnAdmin(tx, row);
        const changed = {
          email: change.email ?? row.email,
          role,
          autoApproved: change.auto_approved ?? row.auto_approved === 1,
          passwordHash: passwordHash ?? row.password_hash,
        };
        repository.updateUser(tx, id, changed, now);
        // Whoever needs a new password may have lost the token with the old one.
        if (passwordHash !== undefined) this.#replaceToken(tx, id);
      };
    });
  }

  disable(id: number, actor: PortalActor): Promise<UserView> {
    return this.#change(id, actor, 'disabled', () => (tx, row, now) => {
      if (row.disabled_at !== null) return;
      if (id === actor.userId)
        throw fail('state_conflict', { problem: 'You cannot disable yourself; ask another administrator.' });
      this.#keepAnAdmin(tx, row);
      repository.setDisabled(tx, id, now, now);
    });
  }

  enable(id: number, actor: PortalActor): Promise<UserView> {
    return this.#change(id, actor, 'enabled', () => (tx, row, now) => {
      if (row.disabled_at !== null) repository.setDisabled(tx, id, null, now);
    });
  }

  revokeTokens(id: number, actor: PortalActor): Promise<UserView> {
    return this.#change(id, actor, 'signed out: all tokens were revoked', () => (tx) => {
      this.#replaceToken(tx, id);
    });
  }

  async delete(id: number, actor: PortalActor): Promise<void> {
    const { store, clock } = this.#tools;
    await store.write((tx) => {
      const row = this.#row(tx, id);
      this.#keepAnAdmin(tx, row);
      const count = repository.countBelongings(tx, id);
      if (count > 0) {
        const by = `${count} arrays, accounts or networks belong to the user, those that can be undeleted included; delete or purge them first`;
        throw fail('in_use', { kind: 'User', id: row.username, by });
      }
      repository.removeUser(tx, id, clock.now());
      this.#changed(tx, row, 'removed', actor);
    });
  }

  /** Makes one change of a user; what it needs that takes long is prepared before the transaction. */
  async #change(
    id: number,
    actor: PortalActor,
    what: string,
    prepare: () => Change | Promise<Change>,
  ): Promise<UserView> {
    const { store, clock } = this.#tools;
    const change = await prepare();
    return store.write((tx) => {
      const row = this.#row(tx, id);
      change(tx, row, clock.now());
      this.#changed(tx, row, what, actor);
      return this.#view(this.#row(tx, id));
    });
  }

  #changed(tx: Tx, { id, username }: repository.UserRow, what: string, actor: PortalActor): void {
    const title = `User ${username} was ${what}.`;
    this.#tools.events.record(tx, { title, subject: `user:${id}`, actor: actor.username });
    tx.afterCommit(() => {
      this.#signIn.forget();
    });
  }

  #replaceToken(tx: Tx, id: number): void {
    const token = newSecret();
    repository.updateToken(tx, id, fingerprint(token), this.#tools.vault.seal(token));
  }

  #row(tx: Tx, id: number): repository.UserRow {
    const row = repository.findUser(tx, id);
    if (!row) throw fail('not_found', { kind: 'user', id });
    return row;
  }

  /** Refuses to take away the last administrator who can sign in. */
  #keepAnAdmin(tx: Tx, { id, username, role, disabled_at: disabledAt }: repository.UserRow): void {
    if (role !== 'admin' || disabledAt !== null) return;
    if (repository.countOtherAdmins(tx, id) === 0) throw fail('last_admin', { username });
  }

  #view(row: repository.UserRow): UserView {
    const enabled = row.disabled_at === null;
    return {
      id: row.id,
      username: row.username,
      email: row.email,
      role: row.role,
      auto_approved: row.auto_approved === 1,
      enabled,
      locked: !enabled || this.#signIn.isRefused(row.username),
      created_at: formatUtc(row.created_at),
      updated_at: formatUtc(row.updated_at),
    };
  }
}
