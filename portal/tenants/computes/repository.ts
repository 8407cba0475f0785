import { GB, generated, inUnits, plain, Table, type Db, type Tx } from '@granary/kernel';
import type { UserId } from '../../ids.ts';
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

export function insertCompute(tx: Tx, compute: Omit<Compute, 'id'>): number {
  return computes.insert(tx, compute);
}

export function deleteComputesOfUser(tx: Tx, userId: UserId): void {
  tx.run('DELETE FROM computes WHERE user_id = :userId', { userId });
}
