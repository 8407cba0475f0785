import type { Db } from '@granary/kernel';

/** What drives need to know of the RAID group they are in. RAID groups import drives, so it is read through `FindGroup`. */
export interface DriveGroup {
  readonly name: string;
  readonly displayName: string;
  readonly state: 'creating' | 'ready' | 'deleting';
  readonly width: number;
  /** What each drive of it needs to have. */
  readonly memberGb: number;
  readonly isSsd: boolean;
  /** How many of its drives it can do without. */
  readonly toleratedFailures: number;
}

export type FindGroup = (db: Db, name: string) => DriveGroup | undefined;
