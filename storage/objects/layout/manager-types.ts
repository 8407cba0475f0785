import type { DriveState } from './layout.ts';
import type { PolicyLayout } from '../records.ts';

/** A drive of the array, as the cloud configures it. */
export interface WantedDrive {
  readonly uuid: string;
  readonly folder: string;
  readonly node: string;
  readonly zone: string;
  readonly capacity: number;
  /** Name of the policy it is for; null goes to the first policy. */
  readonly policy: string | null;
}

export type WantedPolicy = Omit<PolicyLayout, 'index'>;

export interface DriveReport {
  readonly number: number;
  readonly uuid: string;
  readonly policy: number;
  readonly state: DriveState;
  readonly usedBytes: number;
  readonly capacity: number;
  /** Partitions on it that lack pieces; that cannot lose another one. */
  readonly degraded: number;
  readonly critical: number;
}

export interface PolicyReport {
  readonly policy: PolicyLayout;
  readonly ringVersion: number;
  readonly partitions: {
    readonly total: number;
    readonly normal: number;
    readonly degraded: number;
    readonly critical: number;
  };
  /** Of partitions that have to move or be repaired, how many are done; null when nothing is under way. */
  readonly rebalance: { readonly done: number; readonly total: number } | null;
  readonly rebalancedAt: number | null;
  readonly usedBytes: number;
  readonly capacity: number;
  readonly drives: readonly number[];
}

export interface StorageReport {
  readonly at: number;
  readonly policies: readonly PolicyReport[];
  readonly drives: readonly DriveReport[];
}

export interface RepairResult {
  readonly examined: number;
  readonly rebuilt: number;
  readonly bytes: number;
  /** Blobs that no longer have enough good pieces. */
  readonly unreadable: number;
  /** Whether every blob of the partition now has every piece where the ring wants it. */
  readonly whole: boolean;
}

/** Work on bytes that the storage manager gives to an idle thread. */
export interface StorageWorker {
  /** Brings every piece of a partition to where the ring wants it, rebuilding what is missing. `verify` reads all of them. */
  repair(partition: number, verify: boolean): Promise<RepairResult>;
  /** Rewrites what lives in a segment elsewhere; the storage manager then drops the segment. Resolves with bytes moved. */
  compact(drive: number, segment: number): Promise<number>;
  /** Segments that this thread writes to now: not to be dropped. */
  busySegments(): Promise<readonly SegmentName[]>;
}

export interface SegmentName {
  readonly drive: number;
  readonly segment: number;
}

export type StorageEvent =
  | { readonly kind: 'drive-absent'; readonly uuid: string; readonly reason: string }
  | { readonly kind: 'drive-back'; readonly uuid: string; readonly empty: boolean }
  | { readonly kind: 'drive-joined' | 'drive-left'; readonly uuid: string; readonly policy: string }
  | { readonly kind: 'repaired'; readonly policy: string; readonly rebuilt: number }
  | { readonly kind: 'unreadable'; readonly policy: string; readonly objects: number };
