import type { Db } from '@granary/kernel';

export interface NfsClient {
  readonly server: string;
  readonly address: string;
  readonly isReadOnly: boolean;
}

export interface NamedSnapshot {
  readonly name: string;
  readonly displayName: string;
}

/** What shares read of the records of resources that import them (`array/relations.ts` implements it). */
export interface ShareReaders {
  /** As events name it; undefined for a volume that is not on record. */
  titleOf(db: Db, volume: string): string | undefined;
  /** Ready shares that no mirror writes to. */
  listServable(db: Db): string[];
  isServable(db: Db, volume: string): boolean;
  /** The servers it is attached to over NFS. */
  listNfsClients(db: Db, volume: string): NfsClient[];
  /** The shares attached to a server, over whatever protocol. */
  listOfServer(db: Db, server: string): string[];
  /** The snapshots that clients see in the share, oldest first. */
  listSnapshots(db: Db, volume: string): NamedSnapshot[];
}
