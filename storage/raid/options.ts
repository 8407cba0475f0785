import type { Drive } from '../drive/drive.ts';
import type { OnGroupEvent } from './events.ts';
import type { GroupFormat, RaidLevel } from './layout.ts';
import type { ResyncSpeed } from './repair/throttle.ts';

/**
 * Which member of a mirror answers a read. `balanced`: neighbouring slices are read from different members. `first`: the
 * member in the first slot that works; the others are for when it fails. `least_loaded`: the member with the fewest reads
 * under way, and among equals as `balanced`. RAID6 has one copy of each block, so there is nothing to choose.
 */
export type ReadMode = 'balanced' | 'first' | 'least_loaded';

/** Names of drives, including missing ones. */
export interface MembershipRecord {
  readonly events: number;
  readonly members: readonly string[];
  readonly spares: readonly string[];
}

export interface RuntimeOptions {
  readonly onEvent?: OnGroupEvent;
  readonly resyncSpeed?: ResyncSpeed;
  /** A monotonic clock in milliseconds; for tests. */
  readonly clock?: { readonly now: () => number };
  /** The memory limit for checksum pages of all members together. */
  readonly checksumCacheBytes?: number;
  /** The time without writes after which a region's mark in the write-intent log is cleared. */
  readonly intentIdleMs?: number;
  /**
   * The membership from now on, as recorded on the drives. No write under it is acknowledged before this resolves: an
   * owner that stores `events` recognises drives that were left behind, and passes it as `minimumEvents`.
   */
  readonly onRecorded?: (record: MembershipRecord) => Promise<void>;
  /** The delay before a rebuild or resync that found the disk full is retried. */
  readonly noSpaceRetryMs?: number;
}

export interface CreateOptions extends RuntimeOptions {
  readonly id: string;
  readonly level: RaidLevel;
  /** The newest, unless an earlier version has to read the drives. */
  readonly format?: GroupFormat;
  readonly stripeBytes?: number;
  readonly members: readonly Drive[];
  readonly spares?: readonly Drive[];
}

export interface OpenOptions extends RuntimeOptions {
  /** Needed only when the drives belong to several groups. */
  readonly id?: string;
  /** A drive recorded as a member that has no superblock, or one that does not match, is rebuilt in place. */
  readonly drives: readonly Drive[];
  /** The last value of `state().events`: drives with a lower event count are not accepted as the newest. */
  readonly minimumEvents?: number;
  /** False: such drives are left as they are, and the group is degraded. */
  readonly rebuildsInPlace?: boolean;
}
