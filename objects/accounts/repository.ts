import {
  bestFirst,
  flag,
  likeAny,
  likeParams,
  plain,
  sqlPage,
  Table,
  type Db,
  type Page,
  type Tx,
} from '@granary/kernel';
import type { Account, AccountStage } from './account.ts';

const accounts = new Table<Account>('accounts', {
  id: plain('id'),
  name: plain('name'),
  isSystem: flag('is_system'),
  enabled: flag('enabled'),
  state: plain('state'),
  email: plain('email'),
  description: plain('description'),
  metadataSealed: plain('metadata'),
  rateLimit: plain('rate_limit'),
  createdAt: plain('created_at'),
  modifiedAt: plain('modified_at'),
});

const SELECT = `SELECT ${accounts.fields()} FROM accounts`;

/** Accounts whose field contains a text; all of them without one. */
export interface AccountFilter {
  readonly field: 'name' | 'id';
  readonly value: string;
}

type NewAccount = Pick<Account, 'id' | 'name' | 'isSystem'> & Partial<Pick<Account, 'description'>>;

function whereOf(filter: AccountFilter | undefined): { where: string; params: Record<string, string> } {
  if (filter === undefined) return { where: '', params: {} };
  return { where: `WHERE instr(lower(${filter.field}), lower(:value)) > 0`, params: { value: filter.value } };
}

export function listAccounts(db: Db, filter: AccountFilter | undefined, page: Page): Account[] {
  const { where, params } = whereOf(filter);
  // The index alone says which; rows before the page are never fetched.
  const ids = `SELECT id FROM accounts ${where} ORDER BY name, id LIMIT :limit OFFSET :start`;
  const sql = `${SELECT} WHERE id IN (${ids}) ORDER BY name, id`;
  return accounts.all(db, sql, { ...params, ...sqlPage(page) });
}

/** In the order of their names, from behind one: a long list in pieces of which none costs more than another. */
export function listAccountsAfter(db: Db, after: Pick<Account, 'name' | 'id'>, limit: number): Account[] {
  const sql = `${SELECT} WHERE (name, id) > (:name, :id) ORDER BY name, id LIMIT :limit`;
  return accounts.all(db, sql, { name: after.name, id: after.id, limit });
}

/** Those that were made at that moment or after it. */
export function listAccountsSince(db: Db, at: number): Account[] {
  return accounts.all(db, `${SELECT} WHERE created_at >= :at AND state <> 'deleted'`, { at });
}

/** Those with a text in their names, best first; only this one, where one is given. */
export function searchAccounts(db: Db, only: string | null, text: string, limit: number): Account[] {
  const sql = `${SELECT} WHERE state <> 'deleted' AND (:only IS NULL OR id = :only) AND ${likeAny('name', 'id')}
    ORDER BY ${bestFirst('name')}`;
  return accounts.all(db, sql, { only, ...likeParams(text, limit) });
}

export function countAccounts(db: Db, filter?: AccountFilter): number {
  const { where, params } = whereOf(filter);
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM accounts ${where}`, params)?.n ?? 0;
}

export function findAccount(db: Db, id: string): Account | undefined {
  return accounts.get(db, `${SELECT} WHERE id = :id`, { id });
}

/** Deleted ones have given their names up. */
export function findAccountNamed(db: Db, name: string): Account | undefined {
  return accounts.get(db, `${SELECT} WHERE name = :name AND state != 'deleted'`, { name });
}

export function insertAccount(tx: Tx, account: NewAccount, now: number): void {
  accounts.insert(tx, {
    description: null,
    ...account,
    enabled: true,
    state: 'normal',
    email: null,
    metadataSealed: null,
    rateLimit: null,
    createdAt: now,
    modifiedAt: now,
  });
}

export function setEnabled(tx: Tx, id: string, enabled: boolean, now: number): void {
  accounts.update(tx, { id }, { enabled, modifiedAt: now });
}

export function setState(tx: Tx, id: string, state: AccountStage, now: number): void {
  accounts.update(tx, { id }, { state, modifiedAt: now });
}

export function setMetadata(tx: Tx, id: string, metadataSealed: string | null, now: number): void {
  accounts.update(tx, { id }, { metadataSealed, modifiedAt: now });
}

export function setDescription(tx: Tx, id: string, description: string | null, now: number): void {
  accounts.update(tx, { id }, { description, modifiedAt: now });
}

export function setRateLimit(tx: Tx, id: string, rateLimit: number | null, now: number): void {
  accounts.update(tx, { id }, { rateLimit, modifiedAt: now });
}

/** An account is written to at the address of its primary user. */
export function followPrimary(tx: Tx, id: string): void {
  tx.run(
    `UPDATE accounts SET email = coalesce(
       (SELECT email FROM users WHERE account_id = :id AND is_primary = 1 LIMIT 1), email)
     WHERE id = :id`,
    { id },
  );
}

export function deleteAccount(tx: Tx, id: string): void {
  tx.run('DELETE FROM accounts WHERE id = :id', { id });
}
