import { plain, Table, type Db, type Tx } from '@granary/kernel';

/** How far the lifecycle rules of a bucket have been applied on a day: to remove, and to move, each by itself. */
interface Walk {
  readonly work: Work;
  readonly bucket: number;
  /** Days since 1970. */
  readonly day: number;
  /** Fingerprint of the rules it goes by. */
  readonly rules: string;
  /** JSON; null when it is done. */
  readonly position: string | null;
}

export type Work = 'expiry' | 'transitions';

const walks = new Table<Walk>('lifecycle_walks', {
  work: plain('work'),
  bucket: plain('bucket'),
  day: plain('day'),
  rules: plain('rules'),
  position: plain('position'),
});

export function findWalk(db: Db, work: Work, bucket: number): Walk | undefined {
  return walks.get(db, `SELECT ${walks.fields()} FROM lifecycle_walks WHERE work = :work AND bucket = :bucket`, {
    work,
    bucket,
  });
}

/** In place of the one before. */
export function saveWalk(tx: Tx, walk: Walk): void {
  const { work, bucket, ...changes } = walk;
  if (walks.update(tx, { work, bucket }, changes) === 0) walks.insert(tx, walk);
}

/** Buckets that are gone, or have no rules any more, are not walked again. */
export function deleteWalksBefore(tx: Tx, day: number): void {
  tx.run('DELETE FROM lifecycle_walks WHERE day < :day', { day });
}
