/** A scan that has begun, as far as it is on record: after a crash or a pause it goes on from there. */
export interface ScanState {
  /** Ages of files are counted up to then. */
  readonly startedAt: number;
  /** Everything up to this number was looked at. */
  readonly afterInode: number;
  readonly seenFiles: number;
  /** How many there were, as far as that was known. */
  readonly totalFiles: number;
  /** How long it took so far. */
  readonly spentMs: number;
  /** All of it was read from one snapshot: not after a pause or a crash. */
  readonly isOfOneMoment: boolean;
}

/** A share whose files are looked at. */
export interface ScannedShare {
  readonly volume: string;
  readonly state: 'enabled' | 'paused' | 'disabled';
  /** Up to when its times were looked at. */
  readonly lastRunAt: number;
  /** One that has begun and not ended. */
  readonly scan: ScanState | null;
  readonly modifiedAt: number;
}

/** For the record of a share. Names are comma lists, in the order of what people call them. */
export interface ScannedShareRecord extends ScannedShare {
  readonly names: string | null;
  readonly displayNames: string | null;
}
