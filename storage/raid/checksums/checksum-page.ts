import type { StorageError } from '../../errors.ts';
import { ROWS_PER_SECTOR } from './checksum-page-format.ts';
import type { RegionGenerations } from './generations.ts';

/** The block was never written and reads as zeros. */
export const NEVER_WRITTEN = 0;
/** Marks a block whose content is lost, so that its bytes never verify. */
export const LOST = 0x1057_b10c;
/** Marks a checksum that is lost: only the other members can prove what the block holds. */
export const UNKNOWN = 0x10c5_0b5e;

/** Why a page could not be written: the disk is full. */
export type Refusal = StorageError | undefined;

/** The checksums of one region on one member. */
export class ChecksumPage<M extends { readonly slot: number }> {
  readonly member: M;
  readonly region: number;
  readonly entries: Uint32Array;
  readonly owner: Buffer;
  /** Shared by all pages of the region; format 1 has none. */
  readonly generations: RegionGenerations | undefined;
  /** The generation of the page on the drive, or of the write in flight. */
  generation = 0;
  /** Sectors that were one generation behind after a crash. They may predate a flush that was acknowledged. */
  readonly behind = new Set<number>();
  isDirty = false;
  /** Some changed checksums belong to blocks that had none, or were lost. */
  hasFirstWrites = false;
  wasUsed = true;
  isResident = true;
  writing: Promise<Refusal> | undefined;

  constructor(member: M, region: number, entries: Uint32Array, owner: Buffer, generations?: RegionGenerations) {
    this.member = member;
    this.region = region;
    this.entries = entries;
    this.owner = owner;
    this.generations = generations;
  }

  /** Sets the checksums of new data. */
  change(first: number, entries: Uint32Array): void {
    this.generations?.advance(this.member.slot);
    this.restore(first, entries);
  }

  /** Sets the checksums of data that is unchanged: a repair, or a member that lacked them. */
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

  /** Whether the page on the drive has the generation that the other members record for it. */
  get isCurrent(): boolean {
    return this.generations === undefined || this.generation === this.generations.latest[this.member.slot];
  }
}
