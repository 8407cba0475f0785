import type { RecordOf } from '@granary/contract';
import type { ObjectAccount } from '@granary/contract/portal';
import { fail, formatUtc, type Db, type Tx } from '@granary/kernel';
import { isAdmin, scopeOf, type PortalActor } from '../actor.ts';
import type { ArrayRow } from '../arrays/repository.ts';
import type { ArrayStates } from '../arrays/states.ts';
import type { Page } from '../paging.ts';
import { findRequest, type RequestRow } from '../requests/repository.ts';
import type { Requests } from '../requests/service.ts';
import type { Tools } from '../tools.ts';
import { findUser } from '../users/repository.ts';
import { RemoteAccounts } from './remote.ts';
import * as repository from './repository.ts';
import type { AccountRow } from './repository.ts';

export type AccountView = RecordOf<typeof ObjectAccount>;

export interface NewAccount {
  readonly object_storage_account_name: string;
  readonly object_storage_admin_username: string;
  readonly object_storage_admin_password: string;
  readonly user_id: number;
  readonly moderate: boolean;
}

/** Accounts on object storage arrays, as the portal keeps them: asked for here, living there. */
export class Accounts {
  readonly #tools: Tools;
  readonly #states: ArrayStates;
  readonly #requests: Requests;
  readonly #remote: RemoteAccounts;

  constructor(tools: Tools, states: ArrayStates, requests: Requests) {
    this.#tools = tools;
    this.#states = states;
    this.#requests = requests;
    this.#remote = new RemoteAccounts(tools.vault);
    requests.register(['create_account'], {
      prepare: (request, secrets) => this.#openRemote(request, secrets),
      execute: (tx, request, remoteId) => this.#markCreated(tx, request, remoteId as string),
      denied: (tx, request) => {
        const account = repository.findAccountOfRequest(tx, request.id);
        if (account) repository.deleteAccount(tx, account.id);
      },
    });
    requests.register(['delete_account'], {
      prepare: (request) => this.#removeRemote(request),
      execute: (tx, request) => this.#markRemoved(tx, request),
    });
  }

  list(actor: PortalActor, arrayId: number, page: Page): { accounts: AccountView[]; total: number } {
    return this.#tools.store.read((db) => {
      this.#states.row(db, arrayId, scopeOf(actor));
      return {
        accounts: repository.listAccounts(db, arrayId, page).map(viewOf),
        total: repository.countAccounts(db, arrayId),
      };
    });
  }

  get(actor: PortalActor, arrayId: number, id: number): AccountView {
    return viewOf(this.#tools.store.read((db) => this.#row(db, actor, arrayId, id)));
  }

  async create(
    actor: PortalActor,
    arrayId: number,
    input: NewAccount,
  ): Promise<{ account: AccountView; decided: boolean }> {
    const { store, clock } = this.#tools;
    const name = input.object_storage_account_name;
    store.read((db) => {
      this.#check(db, actor, arrayId, input);
    });
    const filing = {
      kind: 'create_account',
      name,
      arrayId,
      arguments: { account: name, admin: input.object_storage_admin_username, user_id: input.user_id },
      secrets: { password: input.object_storage_admin_password },
      moderate: input.moderate,
    } as const;
    let id = 0;
    const { decided } = await this.#requests.file(actor, filing, (tx, requestId) => {
      this.#check(tx, actor, arrayId, input);
      id = repository.insertAccount(tx, { arrayId, userId: input.user_id, name, requestId, now: clock.now() });
      return undefined;
    });
    return { account: this.get(actor, arrayId, id), decided };
  }

  /** Removal always waits for an administrator's word: with the account goes all it holds. */
  async delete(actor: PortalActor, arrayId: number, id: number): Promise<number> {
    const account = this.#tools.store.read((db) => this.#row(db, actor, arrayId, id));
    const filing = {
      kind: 'delete_account',
      name: account.account_name,
      arrayId,
      arguments: { account_id: id },
      moderate: true,
    } as const;
    return (await this.#requests.file(actor, filing)).requestId;
  }

  #check(
    db: Db,
    actor: PortalActor,
    arrayId: number,
    { object_storage_account_name: name, user_id: userId }: NewAccount,
  ): void {
    const array = this.#states.require(db, arrayId, scopeOf(actor), 'opening an account', ['created']);
    if (array.product !== 'object_storage')
      throw fail('not_supported', { problem: `Array ${array.name} is not an object storage array.` });
    if (!findUser(db, userId) || (!isAdmin(actor) && userId !== actor.userId))
      throw fail('not_found', { kind: 'user', id: userId });
    if (repository.findAccountByName(db, arrayId, name)) throw fail('name_taken', { name });
  }

  async #openRemote(request: RequestRow, secrets: Readonly<Record<string, string>>): Promise<string> {
    const {
      account,
      admin,
      user_id: userId,
    } = request.arguments as { account: string; admin: string; user_id: number };
    const email = this.#tools.store.read((db) => findUser(db, userId)?.email) ?? `${admin}@localhost.localdomain`;
    return this.#remote.create(this.#array(request), {
      name: account,
      admin,
      password: secrets['password'] ?? '',
      email,
    });
  }

  #markCreated(tx: Tx, request: RequestRow, remoteId: string): undefined {
    const account = repository.findAccountOfRequest(tx, request.id);
    if (account) repository.setCreated(tx, account.id, remoteId, this.#tools.clock.now());
  }

  async #removeRemote(request: RequestRow): Promise<void> {
    const account = this.#tools.store.read((db) =>
      repository.findAccount(db, request.array_id as number, accountIdOf(request)),
    );
    if (account?.remote_id !== null && account !== undefined)
      await this.#remote.delete(this.#array(request), account.remote_id);
  }

  /** One that still waits is not opened any more, either. */
  #markRemoved(tx: Tx, request: RequestRow): undefined {
    const account = repository.findAccount(tx, request.array_id as number, accountIdOf(request));
    if (!account) return;
    const opening = findRequest(tx, account.request_id);
    if (opening?.status === 'pending') this.#requests.withdraw(tx, opening, 'the account was removed', 'system');
    repository.deleteAccount(tx, account.id);
  }

  #array(request: RequestRow): ArrayRow {
    return this.#tools.store.read((db) =>
      this.#states.require(db, request.array_id as number, null, 'this', ['created']),
    );
  }

  #row(db: Db, actor: PortalActor, arrayId: number, id: number): AccountRow {
    this.#states.row(db, arrayId, scopeOf(actor));
    const row = repository.findAccount(db, arrayId, id);
    if (!row) throw fail('not_found', { kind: 'account', id });
    return row;
  }
}

function accountIdOf(request: RequestRow): number {
  return request.arguments['account_id'] as number;
}

function viewOf(row: AccountRow): AccountView {
  return {
    id: row.id,
    array_id: row.array_id,
    user_id: row.user_id,
    account_name: row.account_name,
    status: row.status,
    objs_request_id: row.request_id,
    // What an account holds is the array's to say; it has no call for that yet.
    used_capacity: null,
    containers_count: null,
    objects_count: null,
    created_at: formatUtc(row.created_at),
    updated_at: formatUtc(row.updated_at),
  };
}
