import type { Bytes, Db, Tx } from '@granary/kernel';

/** What pools read and remove of the volumes in them, which import pools (`array/relations.ts` implements it). */
export interface VolumesInPool {
  /** What they were promised together, those in the recycle bin too. */
  sumSizes(db: Db, pool: string): Bytes;
  /** In whatever state. */
  count(db: Db, pool: string): number;
  listShares(db: Db, pool: string): string[];
  isMigrationTarget(db: Db, pool: string): boolean;
  /** Throws where one of them must not be deleted, not even with its snapshots. */
  checkAllDeletable(tx: Tx, pool: string): void;
  /** Off the record, with all that is tied to them; their names. */
  removeAll(tx: Tx, pool: string): string[];
}
