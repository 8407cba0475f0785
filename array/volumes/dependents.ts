import type { Db, Tx } from '@granary/kernel';

/**
 * What other resources have on record about a volume. They import volumes, so volumes reads and changes their records
 * through this interface, in its own transactions (`array/relations.ts` implements it).
 */
export interface VolumeDependents {
  listAttachedServers(db: Db, volume: string): string[];
  hasNfsClients(db: Db, volume: string): boolean;
  countSnapshots(db: Db, volume: string): number;
  isMirrorSource(db: Db, volume: string): boolean;
  /** The clone of a share gets the records that describe the files in it. */
  copyToClone(tx: Tx, source: string, clone: string): void;
  detachSnapshotPolicies(tx: Tx, volume: string): void;
  /** All records that exist only because the volume does. */
  removeAllOf(tx: Tx, volume: string): void;
}
