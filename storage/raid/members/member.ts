import type { Drive, DriveStatistics } from '../../drive/drive.ts';
import { StorageError } from '../../errors.ts';
import type { ChecksumPage } from '../checksums/checksum-page.ts';
import type { RegionSet } from '../intent/region-set.ts';
import type { MemberState } from './superblock.ts';

/** Fails a member. Throws instead when the disk is full, because that is no failure of the member. */
export type FailMember = (member: Member, error: unknown) => void;

/** The checksums of one region of a member. */
export type MemberPage = ChecksumPage<Member>;

/** A drive in a slot of the group, and the part of the data it holds. */
export class Member {
  readonly slot: number;
  readonly uuid: string;
  readonly drive: Drive;
  state: MemberState = 'active';
  /** Reads for callers that its drive has not answered yet. */
  readsUnderWay = 0;
  /** Regions still to be filled. */
  pending: RegionSet | undefined;
  /** The write-intent log records what it lacks, so there is no cursor to keep. */
  isPartial = false;
  /** What it lacks according to the superblocks: after a crash, filling resumes from there. */
  #lacking: RegionSet | undefined;
  /** Regions below this one are filled and durable, according to the superblocks. */
  cursor = 0;
  /** The region being filled, and its first row that is not filled yet. */
  fillingRegion = -1;
  fillingRow = 0;
  failedAt: number | undefined;
  isIncomplete = false;
  superblockSlot: number;
  readonly pages = new Map<number, MemberPage>();
  readonly #regionRows: number;

  constructor(place: {
    readonly slot: number;
    readonly uuid: string;
    readonly drive: Drive;
    /** The slot of its newest superblock. */
    readonly superblockSlot: number;
    readonly regionRows: number;
  }) {
    this.slot = place.slot;
    this.uuid = place.uuid;
    this.drive = place.drive;
    this.superblockSlot = place.superblockSlot;
    this.#regionRows = place.regionRows;
  }

  get isAlive(): boolean {
    return this.state !== 'failed';
  }

  /** Whether its data in this row is the group's. */
  holds(row: number): boolean {
    if (this.state === 'active') return true;
    if (this.state === 'failed' || this.pending === undefined) return false;
    const region = Math.floor(row / this.#regionRows);
    if (!this.pending.has(region)) return true;
    return region === this.fillingRegion && row < this.fillingRow;
  }

  /** Whether it holds the whole region. */
  holdsRegion(region: number): boolean {
    if (this.state !== 'rebuilding') return this.state === 'active';
    return this.pending?.has(region) === false;
  }

  /** Whether it would still hold this row after a crash. */
  holdsOnRecord(row: number): boolean {
    if (this.state !== 'rebuilding') return this.state === 'active';
    const region = Math.floor(row / this.#regionRows);
    return this.#lacking?.has(region) === false || region < this.cursor;
  }

  startFilling(pending: RegionSet, isPartial: boolean): void {
    this.state = 'rebuilding';
    this.pending = pending;
    this.isPartial = isPartial;
    this.#lacking = isPartial ? pending.copy() : undefined;
    this.cursor = isPartial ? 0 : Math.max(0, pending.next(0));
  }

  /** While it is being filled: a write to this region did not reach it completely. */
  fillAgain(region: number): void {
    this.pending?.add(region);
    if (this.fillingRegion === region) this.fillingRow = region * this.#regionRows;
  }

  complete(): void {
    this.state = 'active';
    this.pending = undefined;
    this.#lacking = undefined;
    this.isPartial = false;
    this.fillingRegion = -1;
  }
}

/** The placeholder for a missing drive. */
export class AbsentDrive implements Drive {
  readonly id: string;
  readonly sizeBytes = 0;

  constructor(id: string) {
    this.id = id;
  }

  read(): never {
    throw this.#absent();
  }

  write(): never {
    throw this.#absent();
  }

  flush(): Promise<void> {
    return Promise.reject(this.#absent());
  }

  writeDurably(): Promise<void> {
    return Promise.reject(this.#absent());
  }

  discard(): Promise<void> {
    return Promise.reject(this.#absent());
  }

  statistics(): DriveStatistics {
    const none = { count: 0, bytes: 0, errors: 0, microseconds: 0, microsecondsMax: 0 };
    return { reads: none, writes: none, flushes: none, discards: none };
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #absent(): StorageError {
    return new StorageError('drive-failed', `Drive ${this.id} is missing; bring it back or replace it.`);
  }
}
