import { flag, generated, plain, Table, type Changes, type Db, type Tx } from '@granary/kernel';
import type { ArrayId } from '../../ids.ts';
import type { PublicService } from './public-service.ts';

const services = new Table<PublicService, 'id'>('public_services', {
  id: generated('id'),
  arrayId: plain('array_id'),
  state: plain('state'),
  accountName: plain('account_name'),
  remoteId: plain('remote_id'),
  username: plain('username'),
  passwordSealed: plain('password_sealed'),
  ip: plain('ip'),
  host: plain('host'),
  autoApprove: flag('auto_approve'),
  changedAt: plain('changed_at'),
});

export function findPublicService(db: Db, arrayId: ArrayId): PublicService | undefined {
  const sql = `SELECT ${services.fields()} FROM public_services WHERE array_id = :arrayId`;
  return services.get(db, sql, { arrayId });
}

/** Arrays that run and whose public service approves sign-ups by itself. */
export function listAutoApproving(db: Db): number[] {
  const sql = `SELECT array_id FROM public_services JOIN arrays ON arrays.id = array_id
               WHERE auto_approve = 1 AND public_services.state IN ('open', 'changing') AND arrays.status = 'created'`;
  return db.all<{ array_id: number }>(sql, {}).map(({ array_id: id }) => id);
}

export function insertPublicService(tx: Tx, service: Omit<PublicService, 'id'>): void {
  services.insert(tx, service);
}

/** What is undefined stays. */
export function updatePublicService(
  tx: Tx,
  arrayId: ArrayId,
  changes: Changes<Omit<PublicService, 'id' | 'arrayId'>>,
): void {
  services.update(tx, { arrayId }, { arrayId, ...changes });
}

export function deletePublicService(tx: Tx, arrayId: ArrayId): void {
  tx.run('DELETE FROM public_services WHERE array_id = :arrayId', { arrayId });
}
