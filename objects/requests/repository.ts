import type { Db, Tx } from '@granary/kernel';
import { sqlPage, type Page } from '../paging.ts';

export type RequestState = 'pending' | 'approved' | 'denied';

export interface RequestRow {
  readonly id: number;
  readonly account: string;
  readonly username: string;
  readonly email: string;
  /** Null once it is decided. */
  readonly password_hash: string | null;
  readonly state: RequestState;
  readonly requested_at: number;
  readonly decided_by: string | null;
  readonly decided_at: number | null;
}

interface NewRequest {
  readonly account: string;
  readonly username: string;
  readonly email: string;
  readonly passwordHash: string;
  readonly now: number;
}

/** Newest first. */
export function listRequests(db: Db, state: RequestState | undefined, page: Page): RequestRow[] {
  const where = state === undefined ? '' : 'WHERE state = :state';
  const sql = `SELECT * FROM account_requests ${where} ORDER BY id DESC LIMIT :limit OFFSET :start`;
  return db.all<RequestRow>(sql, { ...(state !== undefined && { state }), ...sqlPage(page) });
}

export function countRequests(db: Db, state: RequestState | undefined): number {
  const where = state === undefined ? '' : 'WHERE state = :state';
  const params = state === undefined ? {} : { state };
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM account_requests ${where}`, params)?.n ?? 0;
}

export function findRequest(db: Db, id: number): RequestRow | undefined {
  return db.get<RequestRow>('SELECT * FROM account_requests WHERE id = :id', { id });
}

export function insertRequest(tx: Tx, request: NewRequest): number {
  return tx.run(
    `INSERT INTO account_requests (account, username, email, password_hash, requested_at)
     VALUES (:account, :username, :email, :passwordHash, :now)`,
    { ...request },
  ).insertedId;
}

export function decideRequest(
  tx: Tx,
  id: number,
  decision: { readonly state: RequestState; readonly by: string; readonly now: number },
): void {
  tx.run(
    `UPDATE account_requests SET state = :state, decided_by = :by, decided_at = :now, password_hash = NULL
     WHERE id = :id`,
    { id, ...decision },
  );
}

/** Those decided long ago make room; what waits stays. */
export function deleteOldestDecided(tx: Tx, keep: number): void {
  tx.run(
    `DELETE FROM account_requests WHERE state != 'pending' AND id <= (
       SELECT max(id) FROM account_requests) - :keep`,
    { keep },
  );
}
