import { generated, plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import type { AccountRequest, RequestState } from './request.ts';

const requests = new Table<AccountRequest, 'id'>('account_requests', {
  id: generated('id'),
  account: plain('account'),
  username: plain('username'),
  email: plain('email'),
  passwordHash: plain('password_hash'),
  state: plain('state'),
  requestedAt: plain('requested_at'),
  decidedBy: plain('decided_by'),
  decidedAt: plain('decided_at'),
});

const SELECT = `SELECT ${requests.fields()} FROM account_requests`;

/** Newest first. */
export function listRequests(db: Db, state: RequestState | undefined, page: Page): AccountRequest[] {
  const where = state === undefined ? '' : 'WHERE state = :state';
  const sql = `${SELECT} ${where} ORDER BY id DESC LIMIT :limit OFFSET :start`;
  return requests.all(db, sql, { ...(state !== undefined && { state }), ...sqlPage(page) });
}

export function countRequests(db: Db, state: RequestState | undefined): number {
  const where = state === undefined ? '' : 'WHERE state = :state';
  const params = state === undefined ? {} : { state };
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM account_requests ${where}`, params)?.n ?? 0;
}

export function findRequest(db: Db, id: number): AccountRequest | undefined {
  return requests.get(db, `${SELECT} WHERE id = :id`, { id });
}

type NewRequest = Pick<AccountRequest, 'account' | 'username' | 'email' | 'passwordHash' | 'requestedAt'>;

export function insertRequest(tx: Tx, request: NewRequest): number {
  return requests.insert(tx, { ...request, state: 'pending', decidedBy: null, decidedAt: null });
}

type Decision = Pick<AccountRequest, 'state' | 'decidedBy' | 'decidedAt'>;

export function decideRequest(tx: Tx, id: number, decision: Decision): void {
  requests.update(tx, { id }, { ...decision, passwordHash: null });
}

/** Deletes the oldest decided requests; undecided ones stay. */
export function deleteOldestDecided(tx: Tx, keep: number): void {
  tx.run(
    `DELETE FROM account_requests WHERE state != 'pending' AND id <= (
       SELECT max(id) FROM account_requests) - :keep`,
    { keep },
  );
}
