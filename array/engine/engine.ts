import type { EngineEvent } from './events.ts';
import type { Hardware } from './hardware.ts';
import type { Report, VolumeReport } from './report.ts';
import type { ShareEngine } from './shares.ts';

/**
 * What an array needs of whatever keeps its bytes. The embedded engine is one; a cluster with pools, images, snapshots
 * and exports of its own can be another: nothing here depends on files, extents or layers. An engine does all of
 * `EngineCore`; the parts beside it are optional, and services ask for one by `partOf`.
 *
 * - Things are named by the array's own names (`pool-00000001`), drives by their uuid.
 * - Making what is there already, and deleting what is not, changes nothing and is no error: a caller that was cut off
 *   asks again. When a promise resolves, what it did survives a crash.
 * - Arguments and results are plain data, so that an engine may live in another thread or process.
 * - What cannot be done is thrown as an `EngineError`.
 */
export interface Engine extends EngineCore {
  /** What its kind is called in the array's configuration. */
  readonly kind: string;
  /** Space of pools is given out in pieces of this size. */
  readonly allocationBytes: number;
  /** Absent where the engine looks after drives and redundancy by itself. */
  readonly hardware?: Hardware;
  /** Absent where it has no standby of its own. */
  readonly controllers?: EngineControllers;
  /** Absent where volumes are stored as they are written. */
  readonly reduction?: EngineReduction;
  /** Absent where volumes cannot be encrypted with keys of the array. */
  readonly encryption?: EngineEncryption;
}

/** What every engine does. */
export interface EngineCore extends ShareEngine {
  /** Everything it knows and has counted. Of volumes only those that changed since the report of that version. */
  report(sinceVersion: number): Promise<Report>;
  /** One volume, as it is this moment. */
  volume(id: string): Promise<VolumeReport>;

  createPool(pool: NewPool): Promise<void>;
  /**
   * An empty pool whose groups all work. By force, also one whose metadata cannot be read or that has lost groups, with
   * everything in it. A refusal is a `conflict` and changes nothing, as for every deletion.
   */
  deletePool(id: string, isForced?: boolean): Promise<void>;
  /** Lets the pool use so much; with `Hardware`, of all its groups together, those that are added included. */
  expandPool(id: string, groups: readonly string[], capacityBytes: number): Promise<void>;
  setPoolCache(id: string, cache: PoolCache): Promise<void>;

  createVolume(volume: NewVolume): Promise<void>;
  expandVolume(id: string, sizeBytes: number): Promise<void>;
  /** With its snapshots; clones of those stay. */
  deleteVolume(id: string): Promise<void>;
  setCaps(id: string, caps: VolumeCaps): Promise<void>;
  /** Whether it counts how large reads and writes are. */
  countSizes(id: string, isWanted: boolean): Promise<void>;
  /** Writes are held back, not refused, until they are released or the time is up. */
  holdWrites(volumes: readonly string[], forMs: number): Promise<void>;
  releaseWrites(volumes: readonly string[]): Promise<void>;
  /** To another pool, with or without its snapshots, while servers use it. Cut off, it stays where it was. */
  moveVolume(id: string, pool: string, withSnapshots: boolean, work: MoveWork): Promise<void>;
  pauseMove(id: string): Promise<void>;
  resumeMove(id: string): Promise<void>;

  /** All at one moment. They may be held back by `holdWrites` meanwhile. */
  takeSnapshots(wanted: readonly NewSnapshot[], takenAt: number): Promise<SnapshotSizes>;
  deleteSnapshot(id: string): Promise<void>;
  cloneSnapshot(snapshot: string, volume: string): Promise<void>;
  /**
   * The volume becomes what its snapshot shows; both stay. What is written meanwhile may be lost. With `unlessSince`, a
   * snapshot that was taken before, nothing is done if the volume was reverted after that one was taken: so a caller
   * that was cut off can ask again without losing what was written since.
   */
  revertVolume(snapshot: string, unlessSince?: string): Promise<void>;

  /** What differs between two snapshots of a volume, or what the later one holds at all: a page of it, in order. */
  changes(from: string | undefined, to: string, afterOffset: number, limit: number): Promise<readonly ChangedRange[]>;
  readSnapshot(id: string, offset: number, length: number): Promise<Uint8Array>;
  writeVolume(id: string, offset: number, bytes: Uint8Array): Promise<void>;
  discardVolume(id: string, offset: number, length: number): Promise<void>;
  flushVolume(id: string): Promise<void>;
  /** How many bytes of a volume hold data, whether written by it, by its snapshots, or by what it was cloned from. */
  shownBytes(id: string): Promise<number>;

  /** What a server may reach, whole: takes effect at once, also for those who are logged in. */
  putServer(server: ExportedServer): Promise<void>;
  removeServer(id: string): Promise<void>;
  /** How many sessions were closed. */
  dropSessions(initiator: string, target: string): Promise<number>;
}

export interface EngineControllers {
  /** The standby takes over; resolves when it serves. */
  failover(): Promise<void>;
}

export interface EngineReduction {
  setReduction(id: string, reduction: Reduction): Promise<void>;
}

export interface EngineEncryption {
  unlockVolume(id: string, key: Uint8Array): Promise<void>;
}

export type OnEngineEvent = (event: EngineEvent) => void;

export interface MoveProgress {
  readonly copiedBytes: number;
  readonly totalBytes: number;
  /** The snapshot that is being copied; none once it is the volume's own data. */
  readonly snapshot: string | null;
  /** When the move took its newest snapshot of its own, which it copies up to; null before the first. */
  readonly workingSnapshotAt: number | null;
}

export interface MoveWork {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MoveProgress) => void) | undefined;
}

export interface NewPool {
  readonly id: string;
  readonly mode: 'simple' | 'stripe';
  /** None for an engine without `Hardware`. */
  readonly groups: readonly string[];
  /** It uses no more of its groups than this. */
  readonly capacityBytes: number;
}

export interface PoolCache {
  /** 0 turns it off. */
  readonly bytes: number;
  /** Whether what is read through snapshots and clones is kept too. */
  readonly keepsSnapshots: boolean;
  /** Data that was not read for this time is dropped; 0 is never. */
  readonly coolOffMs: number;
}

export interface Reduction {
  readonly compression: boolean;
  readonly deduplication: boolean;
}

export interface NewVolume extends Reduction {
  readonly id: string;
  readonly pool: string;
  readonly sizeBytes: number;
  /** 64 bytes, for an encrypted volume. */
  readonly key?: Uint8Array | undefined;
}

/** 0 is no cap. */
export interface VolumeCaps {
  readonly readIops: number;
  readonly readBytesPerSecond: number;
  readonly writeIops: number;
  readonly writeBytesPerSecond: number;
}

export interface NewSnapshot {
  readonly volume: string;
  readonly snapshot: string;
}

/** Bytes of each, in the order they were asked for: a volume may be expanded at the same moment. */
export type SnapshotSizes = readonly number[];

export interface ChangedRange {
  readonly offset: number;
  readonly length: number;
  /** Holds data; otherwise it reads as zeros. */
  readonly mapped: boolean;
}

export interface ExportedServer {
  readonly id: string;
  readonly initiator: string | null;
  /** An address, or a network as address/bits. */
  readonly address: string | null;
  /** What the server proves to the array, and the array to the server. */
  readonly chap: { readonly user: string; readonly secret: string } | null;
  readonly mutualChap: { readonly user: string; readonly secret: string } | null;
  /** When not, a server that offers CHAP first is checked all the same; one that does not is admitted without. */
  readonly isChapRequired: boolean;
  readonly units: readonly ExportedUnit[];
}

export interface ExportedUnit {
  readonly lun: number;
  readonly volume: string;
  readonly readOnly: boolean;
  /** 32 hexadecimal digits by which servers know the disk again, whichever array it is on. */
  readonly wwid: string;
}
