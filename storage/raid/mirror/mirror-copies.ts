import { allocate, checksumBlocks, release } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { blockOf, damagedBlocks, isNoneWritten } from '../blocks.ts';
import { LOST, NEVER_WRITTEN, UNKNOWN } from '../checksums/checksum-page.ts';
import type { GroupCore } from '../core.ts';
import type { Member } from '../members/member.ts';

interface Copy {
  readonly member: Member;
  readonly data: Buffer;
  readonly entries: Uint32Array;
  readonly damaged: ReadonlySet<number>;
  /** After a crash: blocks whose checksums have an older generation than those of other members. */
  readonly behind: ReadonlySet<number>;
  /** Blocks to be rewritten. */
  readonly wrong: Set<number>;
}

/** The copies of rows on all members, and the result of comparing them. The caller holds the rows exclusively. */
export class MirrorCopies {
  readonly #core: GroupCore;
  readonly #row: number;
  readonly #count: number;
  readonly #copies: Copy[] = [];
  readonly data: Buffer;
  readonly #entries: Uint32Array;
  /** Damage is counted and reported; differences after a crash are no damage. */
  #isDamage = true;

  private constructor(core: GroupCore, row: number, count: number) {
    this.#core = core;
    this.#row = row;
    this.#count = count;
    this.data = allocate(count * BLOCK_BYTES);
    this.#entries = new Uint32Array(count);
  }

  static async load(core: GroupCore, row: number, count: number): Promise<MirrorCopies> {
    const copies = new MirrorCopies(core, row, count);
    const holders = core.membership.members.filter((member) => member.holds(row) && member.holds(row + count - 1));
    await Promise.all(holders.map((member) => copies.#load(member)));
    copies.#copies.sort((left, right) => left.member.slot - right.member.slot);
    return copies;
  }

  release(): void {
    release(this.data);
    for (const copy of this.#copies) release(copy.data);
  }

  /** Chooses the copies that match their checksums. */
  agree(): { readonly mismatches: number; readonly lost: readonly number[] } {
    const lost: number[] = [];
    let mismatches = 0;
    if (this.#areEqual()) return { mismatches, lost };
    for (let index = 0; index < this.#count; index += 1) {
      const right = this.#copies.find((copy) => copy.entries[index] !== NEVER_WRITTEN && !copy.damaged.has(index));
      const [known, ...others] = this.#copies.filter((copy) => copy.entries[index] !== UNKNOWN);
      const isNeverWritten = [known, ...others].every((copy) => copy?.entries[index] === NEVER_WRITTEN);
      if (right !== undefined) {
        mismatches += this.#choose(index, right);
      } else if (isNeverWritten && known !== undefined) {
        mismatches += this.#choose(index, known);
      } else {
        this.#entries[index] = LOST;
        lost.push(this.#row + index);
        mismatches += 1;
      }
    }
    this.#core.counters.mismatches += mismatches;
    this.#core.counters.lostBlocks += lost.length;
    return { mismatches, lost };
  }

  /**
   * Chooses the content after a crash, when data and checksums may each be old or new: a copy that matches its
   * checksum, or else the first as it is; of several, the one with the latest checksums, because older ones may predate
   * a flush that was acknowledged. Returns the rows that are lost.
   */
  agreeAfterCrash(): number[] {
    const lost: number[] = [];
    this.#isDamage = false;
    if (this.#areEqual()) return lost;
    for (let index = 0; index < this.#count; index += 1) {
      const latest = this.#copies.toSorted(
        (one, other) => Number(one.behind.has(index)) - Number(other.behind.has(index)),
      );
      const right = latest.find((copy) => !copy.damaged.has(index));
      const first = latest.find((copy) => copy.entries[index] !== LOST && copy.entries[index] !== UNKNOWN);
      if (right !== undefined) {
        this.#choose(index, right);
      } else if (first !== undefined) {
        checksumBlocks(blockOf(first.data, index), first.entries, index);
        this.#choose(index, first);
        first.wrong.add(index);
      } else {
        lost.push(this.#row + index);
      }
    }
    return lost;
  }

  /** Rewrites the copies that differ; returns the number of blocks. */
  async writeBack(): Promise<number> {
    let written = 0;
    for (const copy of this.#copies) {
      for (const index of copy.wrong) {
        const block = blockOf(this.data, index);
        if (this.#entries[index] !== NEVER_WRITTEN && !blockOf(copy.data, index).equals(block)) {
          if (!(await this.#core.writeRows(copy.member, this.#row + index, block))) break;
        }
        copy.entries[index] = this.#entries[index] as number;
        await this.#core.checksums.restore(copy.member, this.#row + index, copy.entries.subarray(index, index + 1));
        written += 1;
        if (this.#isDamage) this.#countRepair(copy.member, index);
      }
    }
    return written;
  }

  async copyTo(target: Member): Promise<void> {
    if (!isNoneWritten(this.#entries, 0, this.#count)) await this.#core.writeRows(target, this.#row, this.data);
    await this.#core.checksums.restore(target, this.#row, this.#entries);
  }

  async #load(member: Member): Promise<void> {
    const entries = new Uint32Array(this.#count);
    if (!(await this.#core.checksums.read(member, this.#row, entries))) return;
    const data = allocate(this.#count * BLOCK_BYTES);
    const isEmpty = isNoneWritten(entries, 0, this.#count);
    if (!isEmpty && !(await this.#core.readRows(member, this.#row, data))) {
      release(data);
      return;
    }
    const damaged = new Set(damagedBlocks(data, entries));
    const behind = await this.#behindOf(member);
    this.#copies.push({ member, data, entries, damaged, behind, wrong: new Set() });
  }

  async #behindOf(member: Member): Promise<Set<number>> {
    const behind = new Set<number>();
    const region = this.#core.regionOf(this.#row);
    if (!this.#core.unsynced.has(region)) return behind;
    const page = await this.#core.checksums.fetch(member, region);
    const first = this.#row % this.#core.layout.regionRows;
    for (let index = 0; index < this.#count; index += 1) if (page?.isBehind(first + index) === true) behind.add(index);
    return behind;
  }

  #areEqual(): boolean {
    const [first, ...others] = this.#copies;
    if (first === undefined || first.damaged.size > 0) return false;
    for (const other of others) {
      if (other.damaged.size > 0 || !other.data.equals(first.data)) return false;
      if (!other.entries.every((entry, index) => entry === first.entries[index])) return false;
    }
    first.data.copy(this.data);
    this.#entries.set(first.entries);
    return true;
  }

  #choose(index: number, right: Copy): number {
    let mismatches = 0;
    const block = blockOf(right.data, index);
    block.copy(this.data, index * BLOCK_BYTES);
    this.#entries[index] = right.entries[index] as number;
    for (const copy of this.#copies) {
      if (copy === right) continue;
      const isSame = copy.entries[index] === right.entries[index] && blockOf(copy.data, index).equals(block);
      if (isSame) continue;
      mismatches += 1;
      // Two different copies match their checksums: neither is provably right, so neither is overwritten.
      if (!this.#isDamage || !verifies(copy, index)) copy.wrong.add(index);
    }
    return mismatches;
  }

  #countRepair(member: Member, index: number): void {
    this.#core.counters.repairedBlocks += 1;
    const { slot, drive } = member;
    this.#core.emit({ type: 'block-repaired', slot, driveId: drive.id, row: this.#row + index });
  }
}

function verifies({ entries, damaged }: Copy, index: number): boolean {
  return entries[index] !== NEVER_WRITTEN && !damaged.has(index);
}
