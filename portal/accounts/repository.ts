import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

export interface AccountRow {
  readonly id: number;
  readonly array_id: number;
  readonly user_id: number;
  readonly account_name: string;
  readonly remote_id: string | null;
  readonly status: 'waiting_for_approval' | 'creating' | 'created' | 'deleting';
  readonly request_id: number;
  /** What opening it needs and nobody is shown, until it is open. */
  readonly secrets_sealed: string | null;
  readonly created_at: number;
  readonly updated_at: number;
}

export function listAccounts(db: Db, arrayId: number, page: Page): AccountRow[] {
  const sql = 'SELECT * FROM object_accounts WHERE array_id = :arrayId ORDER BY id LIMIT :limit OFFSET :start';
  return db.all<AccountRow>(sql, { arrayId, ...sqlPage(page) });
}

export function countAccounts(db: Db, arrayId: number): number {
  return (
    db.get<{ n: number }>('SELECT count(*) AS n FROM object_accounts WHERE array_id = :arrayId', { arrayId })?.n ?? 0
  );
}

export function findAccount(db: Db, arrayId: number, id: number): AccountRow | undefined {
  const sql = 'SELECT * FROM object_accounts WHERE array_id = :arrayId AND id = :id';
  return db.get<AccountRow>(sql, { arrayId, id });
}

export function findAccountById(db: Db, id: number): AccountRow | undefined {
  return db.get<AccountRow>('SELECT * FROM object_accounts WHERE id = :id', { id });
}

export function findAccountByName(db: Db, arrayId: number, name: string): AccountRow | undefined {
  const sql = 'SELECT * FROM object_accounts WHERE array_id = :arrayId AND account_name = :name';
  return db.get<AccountRow>(sql, { arrayId, name });
}

export function findAccountOfRequest(db: Db, requestId: number): AccountRow | undefined {
  return db.get<AccountRow>('SELECT * FROM object_accounts WHERE request_id = :requestId', { requestId });
}

interface NewAccount {
  readonly arrayId: number;
  readonly userId: number;
  readonly name: string;
  readonly status: 'waiting_for_approval' | 'creating';
  readonly requestId: number;
  readonly now: number;
}

export function insertAccount(tx: Tx, account: NewAccount): number {
  return tx.run(
    `INSERT INTO object_accounts (array_id, user_id, account_name, status, request_id, created_at, updated_at)
     VALUES (:arrayId, :userId, :name, :status, :requestId, :now, :now)`,
    { ...account },
  ).insertedId;
}

export function setCreating(tx: Tx, id: number, secretsSealed: string | null, now: number): void {
  const sql = `UPDATE object_accounts SET status = 'creating', secrets_sealed = :secretsSealed, updated_at = :now
               WHERE id = :id`;
  tx.run(sql, { id, secretsSealed, now });
}

export function setCreated(tx: Tx, id: number, remoteId: string, now: number): void {
  const sql = `UPDATE object_accounts SET status = 'created', remote_id = :remoteId, secrets_sealed = NULL,
                 updated_at = :now WHERE id = :id`;
  tx.run(sql, { id, remoteId, now });
}

/** Secrets stay only while the account is being opened. */
export function setStatus(tx: Tx, id: number, status: Exclude<AccountRow['status'], 'creating'>, now: number): void {
  const sql = 'UPDATE object_accounts SET status = :status, secrets_sealed = NULL, updated_at = :now WHERE id = :id';
  tx.run(sql, { id, status, now });
}

export function deleteAccount(tx: Tx, id: number): void {
  tx.run('DELETE FROM object_accounts WHERE id = :id', { id });
}

interface StoredService {
  readonly id: number;
  readonly array_id: number;
  readonly account_name: string;
  readonly username: string;
  readonly password_sealed: string;
  readonly ip: string;
  readonly host: string;
  readonly auto_approve: number;
  readonly price: string;
}

/** The public object service as it is shown: its password stays here. */
export interface PublicService extends Omit<StoredService, 'password_sealed' | 'auto_approve'> {
  readonly auto_approve: boolean;
}

export function findPublicService(db: Db, arrayId: number): PublicService | undefined {
  const sql = `SELECT id, array_id, account_name, username, ip, host, auto_approve, price
               FROM public_services WHERE array_id = :arrayId`;
  const row = db.get<StoredService>(sql, { arrayId });
  return row && { ...row, auto_approve: row.auto_approve === 1 };
}

/** Arrays that run and whose public service needs nobody's word. */
export function listAutoApproving(db: Db): number[] {
  const sql = `SELECT array_id FROM public_services JOIN arrays ON arrays.id = array_id
               WHERE auto_approve = 1 AND arrays.status = 'created'`;
  return db.all<{ array_id: number }>(sql, {}).map(({ array_id: id }) => id);
}

export interface ServiceValues {
  readonly accountName: string;
  readonly username: string;
  readonly passwordSealed: string;
  readonly ip: string;
  readonly host: string;
  readonly autoApprove: boolean;
}

export function insertPublicService(
  tx: Tx,
  arrayId: number,
  { autoApprove, ...values }: ServiceValues,
  price: string,
): void {
  tx.run(
    `INSERT INTO public_services (array_id, account_name, username, password_sealed, ip, host, auto_approve, price)
     VALUES (:arrayId, :accountName, :username, :passwordSealed, :ip, :host, :autoApprove, :price)`,
    { arrayId, ...values, autoApprove: Number(autoApprove), price },
  );
}

export function updatePublicService(tx: Tx, arrayId: number, values: Partial<ServiceValues>): void {
  const { accountName, username, passwordSealed, ip, host, autoApprove } = values;
  tx.run(
    `UPDATE public_services SET account_name = coalesce(:accountName, account_name),
       username = coalesce(:username, username), password_sealed = coalesce(:passwordSealed, password_sealed),
       ip = coalesce(:ip, ip), host = coalesce(:host, host), auto_approve = coalesce(:autoApprove, auto_approve)
     WHERE array_id = :arrayId`,
    {
      arrayId,
      accountName: accountName ?? null,
      username: username ?? null,
      passwordSealed: passwordSealed ?? null,
      ip: ip ?? null,
      host: host ?? null,
      autoApprove: autoApprove === undefined ? null : Number(autoApprove),
    },
  );
}

export function deletePublicService(tx: Tx, arrayId: number): void {
  tx.run('DELETE FROM public_services WHERE array_id = :arrayId', { arrayId });
}

/** What an array that is deleted takes with it. */
export function forgetOfArray(tx: Tx, arrayId: number): void {
  tx.run('DELETE FROM object_accounts WHERE array_id = :arrayId', { arrayId });
  deletePublicService(tx, arrayId);
}
