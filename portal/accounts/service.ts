import { fail, GranaryError, type Db, type Page, type Tx } from '@granary/kernel';
import type { AccountId, ArrayId } from '../ids.ts';
import { isAdmin, mayActAtOnce, scopeOf, type PortalActor } from '../actor.ts';
import type { PortalArray } from '../arrays/array.ts';
import type { ArrayLifecycle } from '../arrays/lifecycle.ts';
import { findPublicService } from '../arrays/public-services/repository.ts';
import { refuseLockedDown, type ArrayStates } from '../arrays/states.ts';
import { findRequest } from '../requests/repository.ts';
import type { PortalRequest } from '../requests/request.ts';
import type { RequestService } from '../requests/service.ts';
import type { Tools } from '../tools.ts';
import { findUser } from '../users/repository.ts';
import type { ObjectAccount } from './account.ts';
import type { AccountOpening } from './opening.ts';
import { accountExists, type RemoteAccounts } from './remote.ts';
import * as repository from './repository.ts';
import { accountView, type AccountView } from './view.ts';
import { AccountWork } from './work.ts';

export interface NewAccount {
  readonly object_storage_account_name: string;
  readonly object_storage_admin_username: string;
  readonly object_storage_admin_password: string;
  readonly user_id: number;
  readonly moderate: boolean;
}

interface Parts {
  readonly tools: Tools;
  readonly states: ArrayStates;
  readonly requests: RequestService;
  readonly lifecycle: ArrayLifecycle;
  readonly remote: RemoteAccounts;
  readonly opening: AccountOpening;
}

/** `own`: as the user's other orders. By a public service: `approves` opens it at once, `asks` files a request. */
type Offer = 'own' | 'approves' | 'asks';

const WAIT_MS_MAX = 10_000;

/** Accounts on object storage arrays, as the portal keeps them: asked for here, living there. */
export class PortalAccountService {
  readonly #tools: Tools;
  readonly #states: ArrayStates;
  readonly #requests: RequestService;
  readonly #remote: RemoteAccounts;
  readonly #work: AccountWork;

  constructor({ tools, states, requests, lifecycle, remote, opening }: Parts) {
    this.#tools = tools;
    this.#states = states;
    this.#requests = requests;
    this.#remote = remote;
    this.#work = new AccountWork({ tools, states, requests, remote, opening });
    lifecycle.onPurge(repository.deleteAccountsOfArray);
    const finished = (jobId: number) => this.#finished(jobId);
    requests.register(['create_account'], {
      check: (request) => this.#checkRemote(request),
      execute: (tx, request) => this.#startOpening(tx, request),
      finished: finished,
      denied: (tx, request) => {
        const account = repository.findAccountOfRequest(tx, request.id);
        if (account) repository.deleteAccount(tx, account.id);
      },
    });
    requests.register(['delete_account'], {
      check: (request) => {
        this.#array(request);
      },
      execute: (tx, request) => this.#startRemoval(tx, request),
      finished: finished,
    });
  }

  async list(actor: PortalActor, arrayId: ArrayId, page: Page): Promise<{ accounts: AccountView[]; total: number }> {
    const { array, accounts, total } = this.#tools.store.read((db) => {
      const found = this.#seen(db, actor, arrayId);
      return {
        array: found.array,
        accounts: repository.listAccounts(db, found.filter, page),
        total: repository.countAccounts(db, found.filter),
      };
    });
    return { accounts: await this.#views(array, accounts), total };
  }

  /** Of all arrays, in the order they were asked for. */
  async listAll(actor: PortalActor, page: Page): Promise<{ accounts: AccountView[]; total: number }> {
    const { accounts, total, arrays } = this.#tools.store.read((db) => {
      const found = repository.listAllAccounts(db, scopeOf(actor), page);
      const ids = [...new Set(found.map(({ arrayId }) => arrayId))];
      return {
        accounts: found,
        total: repository.countAllAccounts(db, scopeOf(actor)),
        arrays: ids.map((id) => this.#states.existing(db, id)),
      };
    });
    const ofArray = (id: ArrayId) => accounts.filter(({ arrayId }) => arrayId === id);
    const views = (await Promise.all(arrays.map((array) => this.#views(array, ofArray(array.id))))).flat();
    return { accounts: views.sort((one, other) => one.id - other.id), total };
  }

  async get(actor: PortalActor, arrayId: ArrayId, id: AccountId): Promise<AccountView> {
    const { array, account } = this.#tools.store.read((db) => ({
      array: this.#seen(db, actor, arrayId).array,
      account: this.#existing(db, actor, arrayId, id),
    }));
    const [view] = await this.#views(array, [account]);
    return view as AccountView;
  }

  async create(actor: PortalActor, arrayId: ArrayId, input: NewAccount): Promise<AccountView> {
    const { store, clock } = this.#tools;
    const name = input.object_storage_account_name;
    const offer = store.read((db) => this.#check(db, actor, arrayId, input));
    const isApproved = offer === 'approves' && !input.moderate;
    const filing = {
      kind: 'create_account',
      name,
      arrayId,
      arguments: { account: name, admin: input.object_storage_admin_username, user_id: input.user_id },
      secrets: { password: input.object_storage_admin_password },
      moderate: input.moderate || offer === 'asks',
      isApproved,
    } as const;
    let id = 0;
    const { jobId } = await this.#requests.file(actor, filing, (tx, requestId) => {
      this.#check(tx, actor, arrayId, input);
      const actsAtOnce = isApproved || (mayActAtOnce(actor) && !filing.moderate);
      const status = actsAtOnce ? 'creating' : 'waiting_for_approval';
      const account = { arrayId, userId: input.user_id, name, status, requestId } as const;
      id = repository.insertAccount(tx, account, clock.now());
      return undefined;
    });
    if (jobId !== undefined) await this.#finished(jobId);
    return this.get(actor, arrayId, id);
  }

  /** Removal always waits for an administrator's word: with the account goes all it holds. */
  async delete(actor: PortalActor, arrayId: ArrayId, id: AccountId): Promise<number> {
    const account = this.#tools.store.read((db) => {
      refuseLockedDown(this.#states.existing(db, arrayId));
      return this.#existing(db, actor, arrayId, id);
    });
    requireSettled(account);
    const filing = {
      kind: 'delete_account',
      name: account.name,
      arrayId,
      arguments: { account_id: id },
      moderate: true,
    } as const;
    return (await this.#requests.file(actor, filing)).requestId;
  }

  /** Whether the account is opened as orders of the user are, or by the terms of the array's public service. */
  #check(
    db: Db,
    actor: PortalActor,
    arrayId: ArrayId,
    { object_storage_account_name: name, user_id: userId }: NewAccount,
  ): Offer {
    const service = findPublicService(db, arrayId);
    const isOffered = service?.state === 'open' || service?.state === 'changing';
    const isOwn = isOwner(this.#states.existing(db, arrayId), actor);
    const scope = isOwn || isOffered ? null : scopeOf(actor);
    const array = this.#states.require(db, arrayId, scope, 'opening an account', ['created']);
    if (array.product !== 'object_storage') throw fail('not_object_storage', { name: array.name });
    if (!findUser(db, userId) || (!isAdmin(actor) && userId !== actor.userId))
      throw fail('not_found', { kind: 'user', id: userId });
    if (repository.findAccountByName(db, arrayId, name) || service?.accountName === name)
      throw fail('name_taken', { name });
    if (isOffered && service.autoApprove) return 'approves';
    return isOwn ? 'own' : 'asks';
  }

  /** What the array would refuse is refused now; it has the last word later. */
  async #checkRemote(request: PortalRequest): Promise<void> {
    const name = request.arguments['account'] as string;
    const array = this.#array(request);
    if (await this.#remote.find(array, name)) throw accountExists(array, name);
  }

  #startOpening(tx: Tx, request: PortalRequest): number | undefined {
    const { clock } = this.#tools;
    const { admin, user_id: userId } = request.arguments as { admin: string; user_id: number };
    const account = repository.findAccountOfRequest(tx, request.id);
    if (!account) return undefined;
    const email = findUser(tx, userId)?.email ?? `${admin}@localhost.localdomain`;
    const atOnce = account.status === 'creating';
    repository.setCreating(tx, account.id, request.secretsSealed, clock.now());
    return this.#work.startOpening(tx, { accountId: account.id, admin, email, atOnce });
  }

  /** One that still waits is not opened any more, either. */
  #startRemoval(tx: Tx, request: PortalRequest): number | undefined {
    const filter = { arrayId: request.arrayId as number, userId: null };
    const account = repository.findAccount(tx, filter, accountIdOf(request));
    if (!account) return undefined;
    const opening = findRequest(tx, account.requestId);
    if (account.status === 'waiting_for_approval') {
      if (opening?.status === 'pending') this.#requests.refuse(tx, opening, 'the account was removed', 'system');
      repository.deleteAccount(tx, account.id);
      return undefined;
    }
    requireSettled(account);
    repository.setStatus(tx, account.id, 'deleting', this.#tools.clock.now());
    return this.#work.startRemoval(tx, { accountId: account.id, requestId: request.id });
  }

  async #finished(jobId: number): Promise<void> {
    const job = await this.#tools.jobs.wait(jobId, WAIT_MS_MAX);
    if (job?.state === 'failed') throw new GranaryError('not_supported', job.error ?? 'It failed.');
  }

  /** With what each holds, as the array counts it. */
  async #views(array: PortalArray, accounts: readonly ObjectAccount[]): Promise<AccountView[]> {
    const isAsked = array.status === 'created' && accounts.some(({ remoteId: id }) => id !== null);
    const figures = isAsked ? await this.#remote.figures(array) : undefined;
    return accounts.map((account) => accountView(account, figures?.get(account.remoteId ?? '')));
  }

  #array(request: PortalRequest): PortalArray {
    return this.#tools.store.read((db) =>
      this.#states.require(db, request.arrayId as number, null, 'this', ['created']),
    );
  }

  #existing(db: Db, actor: PortalActor, arrayId: ArrayId, id: AccountId): ObjectAccount {
    const account = repository.findAccount(db, this.#seen(db, actor, arrayId).filter, id);
    if (!account) throw fail('not_found', { kind: 'account', id });
    return account;
  }

  /**
   * The owner of an array sees all its accounts; the user an account is for sees that one. To anyone else the array is
   * not there.
   */
  #seen(db: Db, actor: PortalActor, arrayId: ArrayId): { array: PortalArray; filter: repository.AccountFilter } {
    const array = this.#states.existing(db, arrayId);
    if (isOwner(array, actor)) return { array, filter: { arrayId, userId: null } };
    const filter = { arrayId, userId: actor.userId };
    if (repository.countAccounts(db, filter) === 0) this.#states.existing(db, arrayId, scopeOf(actor));
    return { array, filter };
  }
}

function isOwner(array: PortalArray, actor: PortalActor): boolean {
  return isAdmin(actor) || array.ownerId === actor.userId;
}

/** While it is being opened or removed, that is ended first. */
function requireSettled({ name: id, status: state }: ObjectAccount): void {
  if (state === 'creating' || state === 'deleting')
    throw fail('wrong_state', { kind: 'Account', id, state, action: 'removing it', needed: 'created' });
}

function accountIdOf(request: PortalRequest): number {
  return request.arguments['account_id'] as number;
}
