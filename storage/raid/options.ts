import type { Drive } from '../drive/drive.ts';
import type { OnGroupEvent } from './events.ts';
import type { GroupFormat, RaidLevel } from './layout.ts';
import type { ResyncSpeed } from './repair/throttle.ts';

/** Names of drives, those that are missing too. */
export interface MembershipRecord {
  readonly events: number;
  readonly members: readonly string[];
  readonly spares: readonly string[];
}

export interface RuntimeOptions {
  readonly onEvent?: OnGroupEvent;
  readonly resyncSpeed?: ResyncSpeed;
  /** Milliseconds that only go up; for tests. */
  readonly clock?: { readonly now: () => number };
  /** How much memory the checksums in use may take, for all members together. */
  readonly checksumCacheBytes?: number;
  /** How long nobody has written to a region when its mark in the write-intent log is taken away. */
  readonly intentIdleMs?: number;
  /**
   * Who belongs to the group from now on, as its drives have it on record. Nothing written under it is answered before
   * this resolves: whoever keeps `events` can tell drives that were left behind, and pass it as `minimumEvents`.
   */
  readonly onRecorded?: (record: MembershipRecord) => Promise<void>;
  /** How long a rebuild or resync that found the disk full waits before it tries again. */
  readonly noSpaceRetryMs?: number;
}

export interface CreateOptions extends RuntimeOptions {
  readonly id: string;
  readonly level: RaidLevel;
  /** The newest unless drives are to be read by an earlier version. */
  readonly format?: GroupFormat;
  readonly stripeBytes?: number;
  readonly members: readonly Drive[];
  readonly spares?: readonly Drive[];
}

export interface OpenOptions extends RuntimeOptions {
  /** Needed only when the drives are of several groups. */
  readonly id?: string;
  /** A drive on record as a member that has no superblock, or one that does not fit, is rebuilt in place. */
  readonly drives: readonly Drive[];
  /** What `state().events` last said: drives that have seen less are not taken for the newest there are. */
  readonly minimumEvents?: number;
  /** False: such drives are left as they are, and the group is degraded. */
  readonly rebuildsInPlace?: boolean;
}
