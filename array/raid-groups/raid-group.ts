import type { Bytes } from '@granary/kernel';
import type { GroupReport } from '../engine/report.ts';

/** Drives that keep each other's data. */
export interface RaidGroup {
  readonly name: string;
  readonly number: number;
  readonly displayName: string;
  readonly protection: 'RAID1' | 'RAID6';
  readonly width: number;
  readonly stripeBytes: Bytes;
  readonly capacityBytes: Bytes;
  /** What each drive of it needs to have. */
  readonly memberGb: number;
  readonly isSsd: boolean;
  readonly pool: string | null;
  /** How much of it the pool uses. */
  readonly poolBytes: Bytes;
  readonly state: 'creating' | 'ready' | 'deleting';
  readonly mismatches: number;
  /** A second. */
  readonly minResyncMb: number;
  readonly maxResyncMb: number;
  readonly scrubJob: number | null;
  /** Where a scrub that was paused goes on, as a fraction. */
  readonly scrubPosition: number;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

/** A RAID group with all that is not on record. */
export interface RaidGroupFacts {
  readonly group: RaidGroup;
  readonly report: GroupReport | undefined;
  /** Percent, while it is being scrubbed. */
  readonly scrubbed: number | undefined;
  /** What no pool uses yet. */
  readonly freeBytes: number;
}
