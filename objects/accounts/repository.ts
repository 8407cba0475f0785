import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

export type AccountStage = 'normal' | 'deleting' | 'deleted';

export interface AccountRow {
  readonly id: string;
  readonly name: string;
  readonly is_system: number;
  readonly enabled: number;
  readonly state: AccountStage;
  readonly email: string | null;
  /** Sealed. */
  readonly metadata: string | null;
  readonly rate_limit: number | null;
  readonly created_at: number;
  readonly modified_at: number;
}

/** Accounts whose field contains a text; all of them without one. */
export interface AccountFilter {
  readonly field: 'name' | 'id';
  readonly value: string;
}

interface NewAccount {
  readonly id: string;
  readonly name: string;
  readonly isSystem: boolean;
  readonly now: number;
}

function whereOf(filter: AccountFilter | undefined): { where: string; params: Record<string, string> } {
  if (filter === undefined) return { where: '', params: {} };
  return { where: `WHERE instr(lower(${filter.field}), lower(:value)) > 0`, params: { value: filter.value } };
}

export function listAccounts(db: Db, filter: AccountFilter | undefined, page: Page): AccountRow[] {
  const { where, params } = whereOf(filter);
  // The index alone says which; rows before the page are never fetched.
  const ids = `SELECT id FROM accounts ${where} ORDER BY name, id LIMIT :limit OFFSET :start`;
  const sql = `SELECT * FROM accounts WHERE id IN (${ids}) ORDER BY name, id`;
  return db.all<AccountRow>(sql, { ...params, ...sqlPage(page) });
}

/** In the order of their names, from behind one: a long list in pieces of which none costs more than another. */
export function listAccountsAfter(db: Db, after: Pick<AccountRow, 'name' | 'id'>, limit: number): AccountRow[] {
  const sql = 'SELECT * FROM accounts WHERE (name, id) > (:name, :id) ORDER BY name, id LIMIT :limit';
  return db.all<AccountRow>(sql, { name: after.name, id: after.id, limit });
}

export function countAccounts(db: Db, filter?: AccountFilter): number {
  const { where, params } = whereOf(filter);
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM accounts ${where}`, params)?.n ?? 0;
}

export function findAccount(db: Db, id: string): AccountRow | undefined {
  return db.get<AccountRow>('SELECT * FROM accounts WHERE id = :id', { id });
}

/** Deleted ones have given their names up. */
export function findAccountNamed(db: Db, name: string): AccountRow | undefined {
  return db.get<AccountRow>(`SELECT * FROM accounts WHERE name = :name AND state != 'deleted'`, { name });
}

export function insertAccount(tx: Tx, { id, name, isSystem, now }: NewAccount): void {
  tx.run(
    `INSERT INTO accounts (id, name, is_system, created_at, modified_at) VALUES (:id, :name, :isSystem, :now, :now)`,
    { id, name, isSystem: isSystem ? 1 : 0, now },
  );
}

export function setEnabled(tx: Tx, id: string, enabled: boolean, now: number): void {
  tx.run('UPDATE accounts SET enabled = :enabled, modified_at = :now WHERE id = :id', {
    id,
    enabled: enabled ? 1 : 0,
    now,
  });
}

export function setState(tx: Tx, id: string, state: AccountStage, now: number): void {
  tx.run('UPDATE accounts SET state = :state, modified_at = :now WHERE id = :id', { id, state, now });
}

export function setMetadata(tx: Tx, id: string, metadata: string | null, now: number): void {
  tx.run('UPDATE accounts SET metadata = :metadata, modified_at = :now WHERE id = :id', { id, metadata, now });
}

export function setRateLimit(tx: Tx, id: string, limit: number | null, now: number): void {
  tx.run('UPDATE accounts SET rate_limit = :limit, modified_at = :now WHERE id = :id', { id, limit, now });
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
