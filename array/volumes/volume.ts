import type { Bytes, Changes } from '@granary/kernel';
import type { CapacityMode } from '@granary/storage';
import type { Name } from '../sequences/name.ts';
import type { Share } from '../shares/repository.ts';

/** A block volume, or a file share: a volume with a filesystem in it. */
export interface Volume {
  readonly name: Name<'volume'>;
  readonly displayName: string;
  /** Each volume is the only one of its group. */
  readonly consistencyGroup: Name<'cg'>;
  readonly pool: string;
  readonly kind: 'block' | 'file';
  readonly sizeBytes: Bytes;
  readonly state: 'creating' | 'ready' | 'deleting' | 'binned';
  readonly comment: string | null;
  readonly compress: boolean;
  readonly dedupe: boolean;
  /** Of an encrypted volume. */
  readonly wrappedKey: string | null;
  /** By which servers know the disk. */
  readonly wwid: string;
  /** The mirror it is the destination of. */
  readonly mirrorJob: string | null;
  /** The job that moves it to another pool. */
  readonly migration: string | null;
  /** The snapshot it is going back to. */
  readonly restoring: string | null;
  /** When it last went back to a snapshot. */
  readonly restoredAt: number | null;
  /** Whether its reads and writes are counted by size. */
  readonly countsSizes: boolean;
  readonly capacityMode: CapacityMode;
  /** Over how long its growth is averaged. */
  readonly historyMinutes: number;
  /** An alert is raised when it will be full within this time; 0 is never. */
  readonly alertMinutes: number;
  /** With less free it is in an emergency; 0 is not set. */
  readonly emergencyBytes: Bytes;
  readonly expandsItself: boolean;
  readonly expandByBytes: Bytes | null;
  readonly maxBytes: Bytes | null;
  /** Above these alerts are raised; 0 is none. Latencies are in milliseconds. */
  readonly readIopsLimit: number;
  readonly readMbpsLimit: number;
  readonly readLatencyLimit: number;
  readonly writeIopsLimit: number;
  readonly writeMbpsLimit: number;
  readonly writeLatencyLimit: number;
  /** More than this is not served; 0 is no cap. */
  readonly readIopsCap: number;
  readonly readMbpsCap: number;
  readonly writeIopsCap: number;
  readonly writeMbpsCap: number;
  /** The engine may not know of its reduction yet. */
  readonly isReductionPending: boolean;
  readonly deleteJob: number | null;
  readonly binnedAt: number | null;
  /** The user; null is the administrators. */
  readonly createdBy: number | null;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** What is left out stays as it is; `modifiedAt` is the caller's to set. */
export type VolumeChange = Changes<Omit<Volume, 'name' | 'createdBy' | 'createdAt'>>;

/** With what its record shows of other things. */
export interface VolumeFacts extends Volume {
  readonly poolDisplayName: string | null;
  readonly poolVersion: number | null;
  readonly poolCache: boolean | null;
  /** Comma list; null when it is attached to none. */
  readonly serverNames: string | null;
  readonly firstServer: string | null;
  readonly accessType: 'NFS' | 'SMB' | 'ISCSI' | null;
  readonly lun: number | null;
  readonly isReadOnly: boolean | null;
  readonly hasSnapshots: boolean;
  readonly isMirrored: boolean;
  readonly isShadowCopy: boolean;
  readonly share: Share | undefined;
}
