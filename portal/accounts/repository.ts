import { generated, plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import type { AccountId, ArrayId, RequestId, UserId } from '../ids.ts';
import type { ObjectAccount } from './account.ts';

const accounts = new Table<ObjectAccount, 'id'>('object_accounts', {
  id: generated('id'),
  arrayId: plain('array_id'),
  userId: plain('user_id'),
  name: plain('account_name'),
  remoteId: plain('remote_id'),
  status: plain('status'),
  requestId: plain('request_id'),
  secretsSealed: plain('secrets_sealed'),
  createdAt: plain('created_at'),
  updatedAt: plain('updated_at'),
});
const SELECT = `SELECT ${accounts.fields()} FROM object_accounts`;

export function listAllAccounts(db: Db, userId: UserId | null, page: Page): ObjectAccount[] {
  const sql = `${SELECT} WHERE :userId IS NULL OR user_id = :userId ORDER BY id LIMIT :limit OFFSET :start`;
  return accounts.all(db, sql, { userId, ...sqlPage(page) });
}

export function countAllAccounts(db: Db, userId: UserId | null): number {
  const sql = 'SELECT count(*) AS n FROM object_accounts WHERE :userId IS NULL OR user_id = :userId';
  return db.get<{ n: number }>(sql, { userId })?.n ?? 0;
}

/** `userId` limits the accounts to those that are for a user; null: all of the array. */
export interface AccountFilter {
  readonly arrayId: ArrayId;
  readonly userId: UserId | null;
}

const WHERE = 'array_id = :arrayId AND (:userId IS NULL OR user_id = :userId)';

export function listAccounts(db: Db, { arrayId, userId }: AccountFilter, page: Page): ObjectAccount[] {
  const sql = `${SELECT} WHERE ${WHERE} ORDER BY id LIMIT :limit OFFSET :start`;
  return accounts.all(db, sql, { arrayId, userId, ...sqlPage(page) });
}

export function countAccounts(db: Db, { arrayId, userId }: AccountFilter): number {
  const sql = `SELECT count(*) AS n FROM object_accounts WHERE ${WHERE}`;
  return db.get<{ n: number }>(sql, { arrayId, userId })?.n ?? 0;
}

export function findAccount(db: Db, { arrayId, userId }: AccountFilter, id: AccountId): ObjectAccount | undefined {
  const sql = `${SELECT} WHERE ${WHERE} AND id = :id`;
  return accounts.get(db, sql, { arrayId, userId, id });
}

export function findAccountById(db: Db, id: AccountId): ObjectAccount | undefined {
  return accounts.get(db, `${SELECT} WHERE id = :id`, { id });
}

export function findAccountByName(db: Db, arrayId: ArrayId, name: string): ObjectAccount | undefined {
  const sql = `${SELECT} WHERE array_id = :arrayId AND account_name = :name`;
  return accounts.get(db, sql, { arrayId, name });
}

/** The first account of an array that is open for a user. */
export function findOpenAccount(db: Db, arrayId: ArrayId, userId: UserId): ObjectAccount | undefined {
  const sql = `${SELECT} WHERE array_id = :arrayId AND user_id = :userId AND status = 'created' ORDER BY id LIMIT 1`;
  return accounts.get(db, sql, { arrayId, userId });
}

export function findAccountOfRequest(db: Db, requestId: RequestId): ObjectAccount | undefined {
  return accounts.get(db, `${SELECT} WHERE request_id = :requestId`, { requestId });
}

type NewAccount = Pick<ObjectAccount, 'arrayId' | 'userId' | 'name' | 'requestId'> & {
  readonly status: 'waiting_for_approval' | 'creating';
};

export function insertAccount(tx: Tx, account: NewAccount, now: number): AccountId {
  return accounts.insert(tx, { ...account, remoteId: null, secretsSealed: null, createdAt: now, updatedAt: now });
}

export function setCreating(tx: Tx, id: AccountId, secretsSealed: string | null, now: number): void {
  accounts.update(tx, { id }, { status: 'creating', secretsSealed, updatedAt: now });
}

export function setCreated(tx: Tx, id: AccountId, remoteId: string, now: number): void {
  accounts.update(tx, { id }, { status: 'created', remoteId, secretsSealed: null, updatedAt: now });
}

/** Secrets stay only while the account is being opened. */
export function setStatus(
  tx: Tx,
  id: AccountId,
  status: Exclude<ObjectAccount['status'], 'creating'>,
  now: number,
): void {
  accounts.update(tx, { id }, { status, secretsSealed: null, updatedAt: now });
}

export function deleteAccount(tx: Tx, id: AccountId): void {
  tx.run('DELETE FROM object_accounts WHERE id = :id', { id });
}

export function deleteAccountsOfArray(tx: Tx, arrayId: ArrayId): void {
  tx.run('DELETE FROM object_accounts WHERE array_id = :arrayId', { arrayId });
}

export function countAccountsOfUser(db: Db, userId: UserId): number {
  return db.get<{ n: number }>('SELECT count(*) AS n FROM object_accounts WHERE user_id = :userId', { userId })?.n ?? 0;
}
