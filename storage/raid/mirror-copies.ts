import { allocate, checksumBlocks, clear, release } from '../kernels/index.ts';
import { BLOCK_BYTES } from '../units.ts';
import { blockOf, damagedBlocks, isNoneWritten } from './blocks.ts';
import { LOST, NEVER_WRITTEN } from './checksums.ts';
import type { GroupCore } from './core.ts';
import type { Member } from './member.ts';

interface Copy {
  readonly member: Member;
  readonly data: Buffer;
  readonly entries: Uint32Array;
  readonly damaged: ReadonlySet<number>;
  /** Blocks that are to be written anew. */
  readonly wrong: Set<number>;
}

/** Rows as all members have them, and what was made out of that. The caller keeps everyone else out of the rows. */
export class MirrorCopies {
  readonly #core: GroupCore;
  readonly #row: number;
  readonly #count: number;
  readonly #copies: Copy[] = [];
  readonly data: Buffer;
  readonly #entries: Uint32Array;
  /** Damage is counted and told; what a crash left is no damage. */
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

  /** Decides what is right: what matches its checksum. */
  agree(): { readonly mismatches: number; readonly lost: readonly number[] } {
    const lost: number[] = [];
    let mismatches = 0;
    if (this.#areEqual()) return { mismatches, lost };
    for (let index = 0; index < this.#count; index += 1) {
      const right = this.#copies.find((copy) => copy.entries[index] !== NEVER_WRITTEN && !copy.damaged.has(index));
      const isNeverWritten = this.#copies.every((copy) => copy.entries[index] === NEVER_WRITTEN);
      if (right !== undefined) {
        mismatches += this.#choose(index, right);
      } else if (isNeverWritten && this.#copies.length > 0) {
        clear(blockOf(this.data, index));
        this.#entries[index] = NEVER_WRITTEN;
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
   * Decides what to go on with after a crash, when data and checksums may be old or new, each on its own: a copy that
   * matches its checksum, or else the first as it is. Returns the rows that were lost before.
   */
  agreeAfterCrash(): number[] {
    const lost: number[] = [];
    this.#isDamage = false;
    if (this.#areEqual()) return lost;
    for (let index = 0; index < this.#count; index += 1) {
      const right = this.#copies.find((copy) => !copy.damaged.has(index));
      const first = this.#copies.find((copy) => copy.entries[index] !== LOST);
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

  /** Puts right whatever differs, and returns how many blocks that were. */
  async writeBack(): Promise<number> {
    let written = 0;
    for (const copy of this.#copies) {
      for (const index of copy.wrong) {
        if (this.#entries[index] !== NEVER_WRITTEN) {
          const block = blockOf(this.data, index);
          if (!(await this.#core.writeRows(copy.member, this.#row + index, block))) break;
        }
        copy.entries[index] = this.#entries[index] as number;
        await this.#core.checksums.put(copy.member, this.#row + index, copy.entries.subarray(index, index + 1));
        written += 1;
        if (this.#isDamage) this.#note(copy.member, index);
      }
    }
    return written;
  }

  async copyTo(target: Member): Promise<void> {
    if (!isNoneWritten(this.#entries, 0, this.#count)) await this.#core.writeRows(target, this.#row, this.data);
    await this.#core.checksums.put(target, this.#row, this.#entries);
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
    this.#copies.push({ member, data, entries, damaged, wrong: new Set() });
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
      copy.wrong.add(index);
      mismatches += 1;
    }
    return mismatches;
  }

  #note(member: Member, index: number): void {
    this.#core.counters.repairedBlocks += 1;
    const { slot, drive } = member;
    this.#core.emit({ type: 'block-repaired', slot, driveId: drive.id, row: this.#row + index });
  }
}
