import type { Work } from './work.ts';

/**
 * What an engine does for file shares: a filesystem in the blocks of a volume, and the protocols that reach it. A share is
 * named by its volume. The habits of `Engine` hold here, too.
 */
export interface ShareEngine {
  /** Makes a filesystem in an empty volume. One that is there already stays as it is. */
  formatShare(volume: string): Promise<void>;
  /** How a share is served, whole: takes effect at once, also for those who use it. Mounts it when it is not mounted. */
  putShare(share: ServedShare): Promise<void>;
  /** Resolves when it is unused and unmounted. The volume stays. */
  removeShare(volume: string): Promise<void>;
  /** Users and groups that shares know by name, whole. */
  putNasAccounts(accounts: NasAccounts): Promise<void>;

  quotaState(volume: string): Promise<QuotaSwitches>;
  setQuotaState(volume: string, state: QuotaSwitches): Promise<void>;
  quota(volume: string, scope: QuotaScope, id: number): Promise<QuotaUsage>;
  /** Everyone who uses something or has a limit, in the order of the ids. */
  quotas(volume: string, scope: QuotaScope, fromId: number, limit: number): Promise<readonly QuotaUsage[]>;
  /** All or none. */
  setQuotas(volume: string, limits: readonly QuotaLimit[]): Promise<void>;
  /** Everything at and below the directory belongs to the project afterwards; 0 is none. */
  setProject(volume: string, path: string, project: number, work: Work): Promise<void>;

  /**
   * Files of a snapshot, in the order of their numbers, each once whatever its names: one moment, however long the listing
   * takes. Only regular files, those in the recycle bin included.
   */
  listFiles(snapshot: string, afterInode: number, limit: number): Promise<readonly ListedFile[]>;
  readFile(volume: string, file: FileVersion, offset: number, length: number): Promise<Uint8Array>;
  /**
   * Its data goes, its size stays, and reading it asks for a recall. False if it is another version by now, or archived to
   * another place; true if it is archived to that place already.
   */
  archiveFile(volume: string, file: FileVersion, archive: FileArchive): Promise<boolean>;
  /** Writes a part of the recalled data; it is visible after `finishRecall`. */
  writeRecall(volume: string, inode: number, generation: number, offset: number, bytes: Uint8Array): Promise<void>;
  /** Those who wait for it read on. With a reason it failed, and they get an error. */
  finishRecall(volume: string, inode: number, generation: number, failure?: string): Promise<void>;
  /** A part of an object that `contents-wanted` asked for. Null if it cannot be had, and why: who reads it gets an error. */
  giveContents(archive: FileArchive, offset: number, bytes: Uint8Array | null, failure: string): Promise<void>;
  /** False if it is another version by now. With `toBin` it is moved to the share's recycle bin. */
  expireFile(volume: string, file: FileVersion, toBin: boolean): Promise<boolean>;
  /** Deletes what came to the recycle bin before that time, milliseconds since 1970; how many files. */
  purgeBin(volume: string, beforeMs: number, work: Work): Promise<number>;
  /** Copies one file of a snapshot over the one at that path, or to another path. */
  restoreFile(volume: string, snapshot: string, path: string, toPath: string, work: Work): Promise<void>;
}

/** The directory of a share's root that is its recycle bin. */
export const RECYCLE_BIN = '.recycle';

export interface ServedShare {
  readonly volume: string;
  /** Names below `/export`; the first is the primary one. */
  readonly exportNames: readonly string[];
  /** The servers it is attached to over NFS. */
  readonly clients: readonly ShareClient[];
  /** Writes are durable when they are answered, also those that leave it to a later COMMIT. */
  readonly sync: boolean;
  readonly updatesAccessTimes: boolean;
  readonly squash: 'none' | 'root' | 'all';
  readonly anonymousUid: number;
  readonly anonymousGid: number;
  readonly readAheadBytes: number;
  readonly isAudited: boolean;
  /** Shown, to read, in `.snapshot`. */
  readonly snapshots: readonly ShownSnapshot[];
}

export interface ShareClient {
  readonly server: string;
  /** An address, or a network as address/bits. */
  readonly address: string;
  readonly readOnly: boolean;
}

export interface ShownSnapshot {
  readonly id: string;
  /** Name of its directory. */
  readonly name: string;
}

export interface NasAccounts {
  readonly users: readonly { readonly name: string; readonly uid: number; readonly groups: readonly number[] }[];
  readonly groups: readonly { readonly name: string; readonly gid: number }[];
}

export type QuotaScope = 'user' | 'group' | 'project';

export type QuotaSwitches = Readonly<Record<QuotaScope, boolean>>;

export interface QuotaLimit {
  readonly scope: QuotaScope;
  readonly id: number;
  /** None when undefined. */
  readonly limitBytes: number | undefined;
}

export interface QuotaUsage extends QuotaLimit {
  readonly usedBytes: number;
  readonly files: number;
}

/** A file as it was at one moment: with every change of it, `change` is another. */
export interface FileVersion {
  readonly inode: number;
  readonly generation: number;
  readonly change: number;
}

export interface ListedFile extends FileVersion {
  /** From the root of the share; one of them if it has several. Bytes that are not UTF-8 are shown as U+FFFD. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly usedBytes: number;
  readonly uid: number;
  readonly gid: number;
  /** Milliseconds since 1970. */
  readonly accessedAt: number;
  readonly modifiedAt: number;
  readonly changedAt: number;
  readonly createdAt: number;
  readonly isArchived: boolean;
  /** Where its data is, if it is archived: an object that no listing names is unused. */
  readonly archive?: FileArchive | undefined;
}

/** Where the data of an archived file is. */
export interface FileArchive {
  /** The bucket, by a name that means the same on another array that the share is mirrored to: `host:port/bucket`. */
  readonly destination: string;
  readonly key: string;
}
