import type { RequestKind } from '@granary/contract/portal';
import {
  bestFirst,
  generated,
  json,
  likeAny,
  likeParams,
  plain,
  sqlPage,
  Table,
  type Db,
  type Page,
  type Tx,
} from '@granary/kernel';
import type { ArrayId, RequestId, UserId } from '../ids.ts';
import type { PortalRequest } from './request.ts';

const requests = new Table<PortalRequest, 'id'>('requests', {
  id: generated('id'),
  name: plain('name'),
  status: plain('status'),
  kind: plain('kind'),
  arrayId: plain('array_id'),
  userId: plain('user_id'),
  arguments: json('arguments'),
  secretsSealed: plain('secrets_sealed'),
  reason: plain('reason'),
  createdAt: plain('created_at'),
  decidedAt: plain('decided_at'),
  decidedBy: plain('decided_by'),
});

const SELECT = `SELECT ${requests.fields()} FROM requests`;

export interface RequestFilter {
  readonly scope: UserId | null;
  readonly status?: PortalRequest['status'] | undefined;
}

const WHERE = '(:scope IS NULL OR user_id = :scope) AND (:status IS NULL OR status = :status)';

export function listRequests(db: Db, { scope, status }: RequestFilter, page: Page): PortalRequest[] {
  const sql = `${SELECT} WHERE ${WHERE} ORDER BY id LIMIT :limit OFFSET :start`;
  return requests.all(db, sql, { scope, status: status ?? null, ...sqlPage(page) });
}

export function countRequests(db: Db, { scope, status }: RequestFilter): number {
  const sql = `SELECT count(*) AS n FROM requests WHERE ${WHERE}`;
  return db.get<{ n: number }>(sql, { scope, status: status ?? null })?.n ?? 0;
}

/** Those that wait, with a text in the name of what they are about, best first. */
export function searchRequests(db: Db, scope: UserId | null, text: string, limit: number): PortalRequest[] {
  const sql = `${SELECT} WHERE status = 'pending' AND (:scope IS NULL OR user_id = :scope) AND ${likeAny('name')}
    ORDER BY ${bestFirst('name')}`;
  return requests.all(db, sql, { scope, ...likeParams(text, limit) });
}

export function countPendingByKind(db: Db): ReadonlyMap<string, number> {
  const sql = `SELECT kind, count(*) AS n FROM requests WHERE status = 'pending' GROUP BY kind`;
  return new Map(db.all<{ kind: string; n: number }>(sql).map(({ kind, n }) => [kind, n]));
}

export function findRequest(db: Db, id: RequestId, scope: UserId | null = null): PortalRequest | undefined {
  const sql = `${SELECT} WHERE id = :id AND (:scope IS NULL OR user_id = :scope)`;
  return requests.get(db, sql, { id, scope });
}

export function findPendingOfArray(db: Db, arrayId: ArrayId): PortalRequest[] {
  const sql = `${SELECT} WHERE array_id = :arrayId AND status = 'pending' ORDER BY id`;
  return requests.all(db, sql, { arrayId });
}

export function findPendingOfUser(db: Db, userId: UserId, kind: RequestKind): PortalRequest[] {
  const sql = `${SELECT} WHERE user_id = :userId AND kind = :kind AND status = 'pending'`;
  return requests.all(db, sql, { userId, kind });
}

export type NewRequest = Pick<
  PortalRequest,
  'name' | 'kind' | 'arrayId' | 'userId' | 'arguments' | 'secretsSealed' | 'createdAt'
>;

export function insertRequest(tx: Tx, request: NewRequest): number {
  return requests.insert(tx, { ...request, status: 'pending', reason: null, decidedAt: null, decidedBy: null });
}

export interface Decision {
  readonly status: 'approved' | 'denied';
  readonly reason: string | null;
  readonly decidedBy: string;
  readonly decidedAt: number;
}

/** False if another administrator decided first. Secrets are needed no longer and go. */
export function decideRequest(tx: Tx, id: RequestId, decision: Decision): boolean {
  return requests.update(tx, { id, status: 'pending' }, { ...decision, secretsSealed: null }) === 1;
}

/** False when it is gone. `reason` says why what was approved could not be done. */
export function reopenRequest(tx: Tx, id: RequestId, reason: string, secretsSealed: string | null): boolean {
  const changes = { status: 'pending', reason, secretsSealed, decidedAt: null, decidedBy: null } as const;
  return requests.update(tx, { id }, changes) === 1;
}

export function deleteRequest(tx: Tx, id: RequestId): void {
  tx.run('DELETE FROM requests WHERE id = :id', { id });
}

/** An order's request is filed before its array has a number. */
export function setArray(tx: Tx, id: RequestId, arrayId: ArrayId): void {
  requests.update(tx, { id }, { arrayId });
}

export function renameRequest(tx: Tx, id: RequestId, name: string): void {
  requests.update(tx, { id }, { name });
}

export function deletePendingOfUser(tx: Tx, userId: UserId): void {
  tx.run(`DELETE FROM requests WHERE user_id = :userId AND status = 'pending'`, { userId });
}
