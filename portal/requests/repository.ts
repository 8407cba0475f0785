import type { RequestKind } from '@granary/contract/portal';
import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

interface StoredRequest {
  readonly id: number;
  readonly name: string;
  readonly status: 'pending' | 'approved' | 'denied';
  readonly kind: RequestKind;
  readonly array_id: number | null;
  readonly user_id: number;
  readonly arguments: string;
  readonly secrets_sealed: string | null;
  readonly reason: string | null;
  readonly created_at: number;
  readonly decided_at: number | null;
  readonly decided_by: string | null;
}

export interface RequestRow extends Omit<StoredRequest, 'arguments'> {
  readonly arguments: Readonly<Record<string, unknown>>;
}

export interface RequestFilter {
  readonly scope: number | null;
  readonly status?: RequestRow['status'] | undefined;
}

const WHERE = '(:scope IS NULL OR user_id = :scope) AND (:status IS NULL OR status = :status)';

export function listRequests(db: Db, { scope, status }: RequestFilter, page: Page): RequestRow[] {
  const sql = `SELECT * FROM requests WHERE ${WHERE} ORDER BY id LIMIT :limit OFFSET :start`;
  return db.all<StoredRequest>(sql, { scope, status: status ?? null, ...sqlPage(page) }).map(fromStored);
}

export function countRequests(db: Db, { scope, status }: RequestFilter): number {
  const sql = `SELECT count(*) AS n FROM requests WHERE ${WHERE}`;
  return db.get<{ n: number }>(sql, { scope, status: status ?? null })?.n ?? 0;
}

export function findRequest(db: Db, id: number, scope: number | null = null): RequestRow | undefined {
  const sql = 'SELECT * FROM requests WHERE id = :id AND (:scope IS NULL OR user_id = :scope)';
  const row = db.get<StoredRequest>(sql, { id, scope });
  return row && fromStored(row);
}

export function findPendingOfArray(db: Db, arrayId: number): RequestRow[] {
  const sql = `SELECT * FROM requests WHERE array_id = :arrayId AND status = 'pending' ORDER BY id`;
  return db.all<StoredRequest>(sql, { arrayId }).map(fromStored);
}

export function findPendingOfUser(db: Db, userId: number, kind: RequestKind): RequestRow[] {
  const sql = `SELECT * FROM requests WHERE user_id = :userId AND kind = :kind AND status = 'pending'`;
  return db.all<StoredRequest>(sql, { userId, kind }).map(fromStored);
}

export interface NewRequest {
  readonly name: string;
  readonly kind: RequestKind;
  readonly arrayId: number | null;
  readonly userId: number;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly secretsSealed: string | null;
  readonly now: number;
}

export function insertRequest(tx: Tx, request: NewRequest): number {
  return tx.run(
    `INSERT INTO requests (name, status, kind, array_id, user_id, arguments, secrets_sealed, created_at)
     VALUES (:name, 'pending', :kind, :arrayId, :userId, :arguments, :secretsSealed, :now)`,
    { ...request, arguments: JSON.stringify(request.arguments) },
  ).insertedId;
}

export interface Decision {
  readonly status: 'approved' | 'denied';
  readonly reason: string | null;
  readonly decidedBy: string;
  readonly now: number;
}

/** False when somebody else decided first. Secrets are needed no longer and go. */
export function decideRequest(tx: Tx, id: number, decision: Decision): boolean {
  return (
    tx.run(
      `UPDATE requests SET status = :status, reason = :reason, decided_at = :now, decided_by = :decidedBy,
         secrets_sealed = NULL WHERE id = :id AND status = 'pending'`,
      { id, ...decision },
    ).changes === 1
  );
}

/** False when it is gone. `reason` says why what was approved could not be done. */
export function reopenRequest(tx: Tx, id: number, reason: string, secretsSealed: string | null): boolean {
  return (
    tx.run(
      `UPDATE requests SET status = 'pending', reason = :reason, secrets_sealed = :secretsSealed, decided_at = NULL,
         decided_by = NULL WHERE id = :id`,
      { id, reason, secretsSealed },
    ).changes === 1
  );
}

export function deleteRequest(tx: Tx, id: number): void {
  tx.run('DELETE FROM requests WHERE id = :id', { id });
}

function fromStored(row: StoredRequest): RequestRow {
  return { ...row, arguments: JSON.parse(row.arguments) as Record<string, unknown> };
}

/** An order's request is filed before its array has a number. */
export function setArray(tx: Tx, id: number, arrayId: number): void {
  tx.run('UPDATE requests SET array_id = :arrayId WHERE id = :id', { id, arrayId });
}

export function renameRequest(tx: Tx, id: number, name: string): void {
  tx.run('UPDATE requests SET name = :name WHERE id = :id', { id, name });
}
