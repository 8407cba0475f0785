import { json, plain, Table, type Changes, type Db, type Tx } from '@granary/kernel';
import type { UserId } from '../ids.ts';
import type { TotpFactor } from './factor.ts';

const factors = new Table<TotpFactor>('totp_factors', {
  userId: plain('user_id'),
  secretSealed: plain('secret_sealed'),
  confirmedAt: plain('confirmed_at'),
  lastStep: plain('last_step'),
  recoveryMarks: json('recovery_marks'),
});

export function findFactor(db: Db, userId: UserId): TotpFactor | undefined {
  return factors.get(db, `SELECT ${factors.fields()} FROM totp_factors WHERE user_id = :userId`, { userId });
}

export function insertFactor(tx: Tx, factor: TotpFactor): void {
  factors.insert(tx, factor);
}

export function updateFactor(tx: Tx, userId: UserId, changes: Changes<Omit<TotpFactor, 'userId'>>): void {
  factors.update(tx, { userId }, changes);
}

export function deleteFactor(tx: Tx, userId: UserId): void {
  tx.run('DELETE FROM totp_factors WHERE user_id = :userId', { userId });
}
