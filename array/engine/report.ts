import type { QuotaSwitches } from './shares.ts';

/** What an engine knows of itself. All counts run since its active controller started: they may start again at zero. */
export interface Report {
  /** Passed to the next `report`. */
  readonly version: number;
  readonly drives: readonly DriveReport[];
  readonly groups: readonly GroupReport[];
  readonly pools: readonly PoolReport[];
  /** Those that changed since the version asked about. */
  readonly volumes: readonly VolumeReport[];
  readonly sessions: readonly SessionReport[];
  readonly servers: readonly ServerReport[];
  readonly controllers: readonly ControllerReport[];
}

export interface OperationTotals {
  readonly count: number;
  readonly bytes: number;
  readonly microseconds: number;
}

export interface IoTotals {
  readonly reads: OperationTotals;
  readonly writes: OperationTotals;
}

/** Reads and writes by how long they took. */
export interface IoLatencies {
  /** One upper bound for each bucket, seconds. */
  readonly endsSeconds: readonly number[];
  /** Counts of each bucket, in the order of `endsSeconds`, and last those that took longer. */
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

export interface DriveReport {
  readonly id: string;
  /** `rebuilding`: it is being filled. `absent`: it belongs to a group, but is not there. */
  readonly state: 'online' | 'rebuilding' | 'failed' | 'absent';
  readonly io: IoTotals;
}

export type GroupState = 'normal' | 'degraded' | 'recovering' | 'scrubbing' | 'failed';

export interface GroupReport {
  readonly id: string;
  readonly state: GroupState;
  /** Of a recovery or scrub, from 0 to 1. */
  readonly progress: number | null;
  readonly capacityBytes: number;
  /** Who is in it this moment: a spare may have been taken, a replacement may have ended. */
  readonly members: readonly string[];
  readonly spares: readonly string[];
  readonly mismatches: number;
  /** How fast it rebuilds, resyncs or scrubs now, bytes a second. */
  readonly resyncSpeed: number;
  readonly io: IoTotals;
  /** Of checksums. Absent where it is not counted. */
  readonly metadataCache?: MetadataCacheTotals;
}

export interface PoolReport {
  readonly id: string;
  /** False when its metadata cannot be read: then its contents are unknown. */
  readonly isOpen: boolean;
  readonly totalBytes: number;
  readonly usedBytes: number;
  /** What compression and deduplication spare. */
  readonly savedBytes: number;
  /** What a byte of a chunk that a volume refers to takes of the pool. Absent where there are no chunks: 1. */
  readonly chunkShare?: number;
  readonly groups: readonly string[];
  readonly cache: CacheTotals;
  readonly io: IoTotals;
  /** Absent where they are not counted. */
  readonly latencies?: IoLatencies;
}

export interface CacheTotals {
  readonly capacityBytes: number;
  readonly usedBytes: number;
  /** Blocks read. */
  readonly hits: number;
  readonly misses: number;
  /** Blocks written. */
  readonly writeHits: number;
  readonly writeMisses: number;
}

export interface MetadataCacheTotals {
  readonly capacityBytes: number;
  readonly cleanBytes: number;
  /** Changed, and not on the drives yet. */
  readonly dirtyBytes: number;
  /** Lookups. */
  readonly readHits: number;
  readonly readMisses: number;
  readonly writeHits: number;
  readonly writeMisses: number;
}

export interface VolumeReport {
  readonly id: string;
  readonly pool: string;
  readonly sizeBytes: number;
  /** Written since the last snapshot. */
  readonly ownBytes: number;
  readonly snapshotBytes: number;
  /** What a clone reads of what it was cloned from. */
  readonly sharedBytes: number;
  /**
   * What it is charged for: over all volumes, each place of the pool once. Absent where an engine does not tell them apart.
   */
  readonly held?: HeldReport;
  /** Stored as it was written, and to be reduced in the background. Absent where there is no reduction. */
  readonly unreducedBytes?: number;
  readonly isLocked: boolean;
  readonly io: IoTotals;
  /** Absent where they are not counted. */
  readonly latencies?: IoLatencies;
  /** Where they are counted. */
  readonly sizes: IoSizes | null;
  /** Of a share that is mounted. Its `io` above counts what clients read and wrote, not what the filesystem did. */
  readonly share: ShareReport | null;
}

/** Places of its present data, and of what its snapshots hold beyond that. */
export interface HeldReport {
  readonly own: HeldBytes;
  readonly snapshots: HeldBytes;
}

export interface HeldBytes {
  readonly plainBytes: number;
  /** To be multiplied by the `chunkShare` of its pool: chunks may be shared between volumes. */
  readonly chunkBytes: number;
}

export interface ShareReport {
  readonly files: number;
  readonly totalBytes: number;
  readonly usedBytes: number;
  readonly availableBytes: number;
  /** Which quotas are enforced. */
  readonly quotas: QuotaSwitches;
}

/** Reads and writes by how large they were: one upper bound in bytes for each, the last without bound. */
export const IO_SIZE_ENDS = [4, 8, 16, 32, 64, 128, 256, 512, 1024].map((kilobytes) => kilobytes * 1024);

/** Counts of each size, in the order of `IO_SIZE_ENDS`, and last those that are larger. */
export interface IoSizes {
  readonly reads: readonly number[];
  readonly writes: readonly number[];
}

export interface SessionReport {
  readonly protocol: 'ISCSI' | 'NFS';
  /** The server it was let in as. */
  readonly server: string;
  /** Its IQN; over NFS the address of the client. */
  readonly initiator: string;
  readonly address: string;
  /** The IQN of the target; over NFS the path of the export. */
  readonly target: string;
  /** Name of the controller it is with. */
  readonly controller: string;
  readonly connections: number;
  readonly io: IoTotals;
}

/** What a server moved in all its sessions, those that have ended included. */
export interface ServerReport {
  readonly id: string;
  readonly io: IoTotals;
}

export interface ControllerReport {
  readonly name: string;
  readonly index: number;
  readonly state: 'active' | 'standby' | 'failed';
  readonly target: string;
  /** Where it serves iSCSI: host and port of its first portal. */
  readonly host: string;
  readonly port: number;
  /** When it last answered, milliseconds since 1970. */
  readonly heartbeatAt: number;
  /** When it last failed, milliseconds since 1970; null when it has not since the array was started. */
  readonly failedAt: number | null;
  /** Since it started. */
  readonly cpuUserMicroseconds: number;
  readonly cpuSystemMicroseconds: number;
  readonly memoryBytes: number;
}
