import type { RecordOf } from '@granary/contract';
import type { PortalRole, User } from '@granary/contract/portal';
import { fail, fingerprint, formatUtc, hashPassword, newSecret, type Tx } from '@granary/kernel';
import type { PortalActor } from '../actor.ts';
import type { Page } from '../paging.ts';
import { addTenantsOfUser } from '../tenants/service.ts';
import type { Tools } from '../tools.ts';
import * as repository from './repository.ts';

export type UserView = RecordOf<typeof User>;

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

/** The people of the portal and what they may do. */
export class Users {
  readonly #tools: Tools;
  /** Told of every change, so that nothing remembers an old password or role. */
  readonly #onChange: (userId: number) => void;

  constructor(tools: Tools, onChange: (userId: number) => void) {
    this.#tools = tools;
    this.#onChange = onChange;
  }

  list(page: Page): { users: UserView[]; total: number } {
    return this.#tools.store.read((db) => ({
      users: repository.listUsers(db, page).map(viewOf),
      total: repository.countUsers(db),
    }));
  }

  get(id: number): UserView {
    const row = this.#tools.store.read((db) => repository.findUser(db, id));
    if (!row) throw fail('not_found', { kind: 'user', id });
    return viewOf(row);
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
      return viewOf(this.#row(tx, id));
    });
  }

  async update(id: number, change: UserChange, actor: PortalActor): Promise<UserView> {
    const { store, clock, events } = this.#tools;
    const passwordHash = change.password === undefined ? undefined : await hashPassword(change.password);
    return store.write((tx) => {
      const row = this.#row(tx, id);
      const role = change.role ?? row.role;
      if (row.role === 'admin' && role !== 'admin') this.#keepAnAdmin(tx, row);
      const changed = {
        email: change.email ?? row.email,
        role,
        autoApproved: change.auto_approved ?? row.auto_approved === 1,
        passwordHash: passwordHash ?? row.password_hash,
      };
      repository.updateUser(tx, id, changed, clock.now());
      events.record(tx, { title: `User ${row.username} was changed.`, subject: `user:${id}`, actor: actor.username });
      tx.afterCommit(() => {
        this.#onChange(id);
      });
      return viewOf(this.#row(tx, id));
    });
  }

  async delete(id: number, actor: PortalActor): Promise<void> {
    const { store, events } = this.#tools;
    await store.write((tx) => {
      const row = this.#row(tx, id);
      if (row.role === 'admin') this.#keepAnAdmin(tx, row);
      const count = repository.countBelongings(tx, id);
      if (count > 0) {
        const by = `${count} arrays, accounts or networks belong to the user, deleted arrays on past bills included`;
        throw fail('in_use', { kind: 'User', id: row.username, by });
      }
      repository.deleteUser(tx, id);
      events.record(tx, { title: `User ${row.username} was removed.`, subject: `user:${id}`, actor: actor.username });
      tx.afterCommit(() => {
        this.#onChange(id);
      });
    });
  }

  #row(tx: Tx, id: number): repository.UserRow {
    const row = repository.findUser(tx, id);
    if (!row) throw fail('not_found', { kind: 'user', id });
    return row;
  }

  #keepAnAdmin(tx: Tx, { id, username }: repository.UserRow): void {
    if (repository.countOtherAdmins(tx, id) === 0) throw fail('last_admin', { username });
  }
}

function viewOf(row: repository.UserRow): UserView {
  return {
    id: row.id,
    username: row.username,
    email: row.email,
    role: row.role,
    auto_approved: row.auto_approved === 1,
    created_at: formatUtc(row.created_at),
    updated_at: formatUtc(row.updated_at),
  };
}
