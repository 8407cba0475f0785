import type { StorageError } from '../../errors.ts';
import { ROWS_PER_SECTOR } from './checksum-page-format.ts';
import type { RegionGenerations } from './generations.ts';
import type { Member } from '../members/member.ts';

/** The checksum of nothing: the block was never written and reads as zeros. */
export const NEVER_WRITTEN = 0;
/** Stands in for the checksum of a block whose content is lost, so that nobody takes the bytes there for data. */
export const LOST = 0x1057_b10c;
/** Stands in for a checksum that is lost itself: what the block should hold, only the other members can tell. */
export const UNKNOWN = 0x10c5_0b5e;

/** Why a page is still to be written: the disk is full. */
export type Refusal = StorageError | undefined;

/** The checksums of one region on one member. */
export class ChecksumPage {
  readonly member: Member;
  readonly region: number;
  readonly entries: Uint32Array;
  readonly owner: Buffer;
  /** Of all pages of the region; format 1 has none. */
  readonly generations: RegionGenerations | undefined;
  /** The generation of the page as the drive has it, or is about to. */
  generation = 0;
  /** Sectors that were one generation behind after a crash; they may be from before a flush that was answered. */
  readonly behind = new Set<number>();
  isDirty = false;
  /** Among the changes are checksums of blocks that had none, or were lost. */
  hasFirstWrites = false;
  wasUsed = true;
  isResident = true;
  writing: Promise<Refusal> | undefined;

  constructor(member: Member, region: number, entries: Uint32Array, owner: Buffer, generations?: RegionGenerations) {
    this.member = member;
    this.region = region;
    this.entries = entries;
    this.owner = owner;
    this.generations = generations;
  }

  /** New data was written: these are its checksums. */
  change(first: number, entries: Uint32Array): void {
    this.generations?.advance(this.member.slot);
    this.restore(first, entries);
  }

  /** The same data as before: its checksums are put right, or on a member that lacked them. */
  restore(first: number, entries: Uint32Array): void {
    this.isDirty = true;
    for (let index = first; index < first + entries.length; index += 1) {
      const entry = this.entries[index];
      if (entry === NEVER_WRITTEN || entry === LOST || entry === UNKNOWN) this.hasFirstWrites = true;
    }
    this.entries.set(entries, first);
  }

  isBehind(index: number): boolean {
    return this.behind.size > 0 && this.behind.has(Math.floor(index / ROWS_PER_SECTOR));
  }

  /** Whether the page on the drive belongs to the generation that the other members have on record for it. */
  get isCurrent(): boolean {
    return this.generations === undefined || this.generation === this.generations.latest[this.member.slot];
  }
}
