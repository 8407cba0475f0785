import { fail, type Page, type Tx } from '@granary/kernel';
import { scopeOf, type ObjectsActor } from '../actor.ts';
import type { PeopleTools } from '../tools.ts';
import * as repository from './repository.ts';
import { newId, type Account } from './account.ts';
import type { AccountFilter } from './repository.ts';
import { checkAccountName, inScope, refuseSystem, requireNormal } from './rules.ts';

const ACCOUNTS_MAX = 200_000;

export interface RateLimit {
  readonly isOwn: boolean;
  /** Changes a second; null for no limit. */
  readonly limit: number | null;
}

interface AccountParts {
  readonly globalLimit: () => number | null;
  /** Signs out the browsers of all users of an account, in the transaction that keeps those users out. */
  readonly signOutUsersOf: (tx: Tx, account: string) => void;
}

export class ObjectAccountService {
  readonly #tools: PeopleTools;
  readonly #globalLimit: AccountParts['globalLimit'];
  readonly #signOutUsersOf: AccountParts['signOutUsersOf'];

  constructor(tools: PeopleTools, { globalLimit, signOutUsersOf }: AccountParts) {
    this.#tools = tools;
    this.#globalLimit = globalLimit;
    this.#signOutUsersOf = signOutUsersOf;
  }

  list(filter: AccountFilter | undefined, page: Page): { accounts: Account[]; count: number } {
    return this.#tools.store.read((db) => ({
      accounts: repository.listAccounts(db, filter, page),
      count: repository.countAccounts(db, filter),
    }));
  }

  get(actor: ObjectsActor, id: string): Account {
    return this.#tools.store.read((db) => inScope(repository.findAccount(db, id), id, scopeOf(actor)));
  }

  create(name: string, actor: ObjectsActor, description: string | null = null): Promise<string> {
    checkAccountName('name', name);
    return this.#tools.store.write((tx) => this.open(tx, name, actor, description));
  }

  /** Part of the caller's transaction; returns the id. */
  open(tx: Tx, name: string, actor: ObjectsActor, description: string | null = null): string {
    const { clock, changed } = this.#tools;
    if (repository.findAccountNamed(tx, name)) throw fail('name_taken', { name });
    if (repository.countAccounts(tx) >= ACCOUNTS_MAX) throw fail('accounts_limit', { max: ACCOUNTS_MAX });
    const id = newId();
    repository.insertAccount(tx, { id, name, isSystem: false, description }, clock.now());
    this.#record(tx, { name }, `Account ${name} was created.`, actor);
    tx.afterCommit(changed);
    return id;
  }

  async describe(id: string, description: string | null, actor: ObjectsActor): Promise<void> {
    this.get(actor, id);
    await this.#change(id, (tx, account, now) => {
      repository.setDescription(tx, id, description, now);
      this.#record(tx, account, `The description of account ${account.name} was changed.`, actor);
    });
  }

  disable(id: string, actor: ObjectsActor): Promise<void> {
    return this.#change(id, (tx, account, now) => {
      refuseSystem(account, 'disabled');
      if (!account.enabled) return;
      repository.setEnabled(tx, id, false, now);
      this.#signOutUsersOf(tx, id);
      this.#record(tx, account, `Account ${account.name} was disabled.`, actor, 'warning');
    });
  }

  enable(id: string, actor: ObjectsActor): Promise<void> {
    return this.#change(id, (tx, account, now) => {
      if (account.enabled) return;
      repository.setEnabled(tx, id, true, now);
      this.#record(tx, account, `Account ${account.name} was enabled again.`, actor);
    });
  }

  rateLimit(actor: ObjectsActor, id: string): RateLimit {
    const { rateLimit: own } = this.get(actor, id);
    if (own === null) return { isOwn: false, limit: this.#globalLimit() };
    return { isOwn: true, limit: own === 0 ? null : own };
  }

  /** A limit of 0 lets the account do as much as it likes; null leaves it to the global limit. */
  setRateLimit(id: string, limit: number | null, actor: ObjectsActor): Promise<void> {
    return this.#change(id, (tx, account, now) => {
      repository.setRateLimit(tx, id, limit, now);
      const what =
        limit === null ? 'follows the global limit' : limit === 0 ? 'has no limit' : `is limited to ${limit}`;
      this.#record(tx, account, `Account ${account.name} ${what} of changes a second.`, actor);
    });
  }

  async #change(id: string, change: (tx: Tx, account: Account, now: number) => void): Promise<void> {
    const { store, clock, changed } = this.#tools;
    await store.write((tx) => {
      const account = inScope(repository.findAccount(tx, id), id, null);
      requireNormal(account);
      change(tx, account, clock.now());
      tx.afterCommit(changed);
    });
  }

  #record(
    tx: Tx,
    { name }: Pick<Account, 'name'>,
    title: string,
    actor: ObjectsActor,
    severity: 'notice' | 'warning' = 'notice',
  ): void {
    this.#tools.events.record(tx, { severity, title, subject: `account:${name}`, actor: actor.username });
  }
}
