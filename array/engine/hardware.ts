import type { Work } from './work.ts';

/** What an engine does that keeps drives and RAID groups of its own. The habits of `Engine` hold here, too. */
export interface Hardware {
  /** As if its cable were pulled. */
  takeDriveOffline(drive: string): Promise<void>;
  bringDriveOnline(drive: string): Promise<void>;
  /** Overwrites a drive that is in no group, from a fraction of it on. */
  shredDrive(drive: string, from: number, work: Work): Promise<void>;

  createGroup(group: NewGroup): Promise<{ readonly capacityBytes: number }>;
  deleteGroup(id: string): Promise<void>;
  /** Puts a free drive in the place of a member. Resolves when the rebuild is under way; the report shows its progress. */
  replaceDrive(group: string, from: string, to: string): Promise<void>;
  addSpare(group: string, drive: string): Promise<void>;
  removeSpare(group: string, drive: string): Promise<void>;
  setResyncSpeed(group: string, speed: ResyncSpeed): Promise<void>;
  /** Which drive of a mirror answers a read, in all groups of the array, those to come included. */
  setReadMode(mode: ReadMode): Promise<void>;
  /** Reads and compares everything from a fraction of it on, and repairs what does not match. */
  scrubGroup(group: string, from: number, work: Work): Promise<ScrubResult>;

  /** Moves everything off a group and takes it out of the pool. */
  shrinkPool(id: string, group: string, capacityBytes: number, work: Work): Promise<void>;
}

/** In turns, always the first that works, or the one with the fewest reads under way. */
export type ReadMode = 'balanced' | 'first' | 'least_loaded';

export type Protection = 'RAID1' | 'RAID6';

export interface NewGroup {
  readonly id: string;
  readonly protection: Protection;
  readonly drives: readonly string[];
  readonly spares: readonly string[];
  readonly stripeBytes: number;
  readonly speed: ResyncSpeed;
}

export interface ResyncSpeed {
  /** Bytes a second while servers read and write. */
  readonly minimum: number;
  /** Bytes a second while they do not. */
  readonly maximum: number;
}

export interface ScrubResult {
  readonly mismatches: number;
  readonly repaired: number;
  readonly lost: number;
}
