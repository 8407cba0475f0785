import type { Db, Tx } from '@granary/kernel';

export interface WalkRow {
  readonly bucket: number;
  /** Days since 1970. */
  readonly day: number;
  /** Fingerprint of the rules it goes by. */
  readonly rules: string;
  /** JSON; null when it is done. */
  readonly position: string | null;
}

export function findWalk(db: Db, bucket: number): WalkRow | undefined {
  return db.get<WalkRow>('SELECT * FROM lifecycle_walks WHERE bucket = :bucket', { bucket });
}

export function saveWalk(tx: Tx, row: WalkRow): void {
  tx.run('INSERT OR REPLACE INTO lifecycle_walks VALUES (:bucket, :day, :rules, :position)', { ...row });
}

/** Buckets that are gone, or have no rules any more, are not walked again. */
export function forgetWalksBefore(tx: Tx, day: number): void {
  tx.run('DELETE FROM lifecycle_walks WHERE day < :day', { day });
}
