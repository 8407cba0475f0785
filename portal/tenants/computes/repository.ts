import { GB, generated, inUnits, plain, sqlPage, Table, type Db, type Page, type Tx } from '@granary/kernel';
import type { ProviderId, UserId } from '../../ids.ts';
import type { Compute } from './compute.ts';

const computes = new Table<Compute, 'id'>('computes', {
  id: generated('id'),
  userId: plain('user_id'),
  providerId: plain('provider_id'),
  displayName: plain('display_name'),
  description: plain('description'),
  cores: plain('cores'),
  ram: inUnits('ram_gb', GB),
  instances: plain('instances'),
  createdAt: plain('created_at'),
});

export function isComputeNameTaken(
  db: Db,
  { userId, providerId, displayName }: Pick<Compute, 'userId' | 'providerId' | 'displayName'>,
): boolean {
  const row = db.get(
    'SELECT 1 FROM computes WHERE user_id = :userId AND provider_id = :providerId AND display_name = :displayName',
    { userId, providerId, displayName },
  );
  return row !== undefined;
}

const SELECT = `SELECT ${computes.fields()} FROM computes`;
const SEEN = '(:scope IS NULL OR user_id = :scope)';

/** `scope` limits the accounts to those of a user; null: all. */
export function listComputes(db: Db, scope: UserId | null, page: Page): Compute[] {
  const sql = `${SELECT} WHERE ${SEEN} ORDER BY id LIMIT :limit OFFSET :start`;
  return computes.all(db, sql, { scope, ...sqlPage(page) });
}

export function countComputes(db: Db, scope: UserId | null): number {
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM computes WHERE ${SEEN}`, { scope })?.n ?? 0;
}

export function findCompute(db: Db, id: number, scope: UserId | null): Compute | undefined {
  return computes.get(db, `${SELECT} WHERE id = :id AND ${SEEN}`, { id, scope });
}

export function listComputesOf(db: Db, tenant: Pick<Compute, 'userId' | 'providerId'>): Compute[] {
  return computes.all(db, `${SELECT} WHERE user_id = :userId AND provider_id = :providerId`, tenant);
}

export function deleteCompute(tx: Tx, id: number): void {
  tx.run('DELETE FROM computes WHERE id = :id', { id });
}

export function insertCompute(tx: Tx, compute: Omit<Compute, 'id'>): number {
  return computes.insert(tx, compute);
}

export function deleteComputesOfProvider(tx: Tx, providerId: ProviderId): void {
  tx.run('DELETE FROM computes WHERE provider_id = :providerId', { providerId });
}

export function deleteComputesOfUser(tx: Tx, userId: UserId): void {
  tx.run('DELETE FROM computes WHERE user_id = :userId', { userId });
}
