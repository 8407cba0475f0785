import { allocate, blocksMatch, clear, recover, release } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { blockOf, damagedBlocks, isNoneWritten } from '../blocks.ts';
import { LOST, UNKNOWN } from '../checksums/checksum-page.ts';
import type { ChecksumCache } from '../checksums/checksums.ts';
import type { RegionSet } from '../intent/region-set.ts';
import type { ShardWrite } from '../journal/journal-record.ts';
import type { Layout } from '../layout.ts';
import type { GroupMembership } from '../members/group-membership.ts';
import type { Member } from '../members/member.ts';
import { isParityConsistent } from './parity-check.ts';
import type { StripeMap } from './stripe-map.ts';

/** What rows are loaded from. */
interface RowSource {
  readonly layout: Layout;
  readonly membership: GroupMembership;
  readonly checksums: ChecksumCache;
  readonly unsynced: RegionSet;
  regionOf(row: number): number;
  readRows(member: Member, row: number, into: Buffer): Promise<boolean>;
}

/** The state of a block. The checksum of an unknown block is lost, so its content cannot be verified. */
export type BlockState = 'good' | 'damaged' | 'unknown' | 'absent' | 'solved' | 'gone';

/**
 * Rows of one stripe as read from its members, and what can be reconstructed from them. The caller holds the rows
 * exclusively.
 */
export class StripeRows {
  readonly stripe: number;
  readonly row: number;
  readonly count: number;
  readonly dataShards: number;
  readonly shards: Buffer[] = [];
  readonly entries: Uint32Array[] = [];
  readonly states: BlockState[][] = [];
  /** After a crash: rows in which the checksum of the shard has an older generation than other members record. */
  readonly behind: Set<number>[] = [];
  readonly #core: RowSource;
  readonly #map: StripeMap;

  private constructor(core: RowSource, map: StripeMap, row: number, count: number) {
    this.#core = core;
    this.#map = map;
    this.stripe = map.stripeOf(row);
    this.row = row;
    this.count = count;
    this.dataShards = map.dataShards;
    for (let shard = 0; shard < map.slots; shard += 1) {
      this.shards.push(allocate(count * BLOCK_BYTES));
      this.entries.push(new Uint32Array(count));
      this.behind.push(new Set());
      this.states.push(new Array<BlockState>(count).fill('absent'));
    }
  }

  static async load(core: RowSource, map: StripeMap, row: number, count: number): Promise<StripeRows> {
    const rows = new StripeRows(core, map, row, count);
    await Promise.all(rows.shards.map((_, shard) => rows.#load(shard)));
    return rows;
  }

  release(): void {
    for (const shard of this.shards) release(shard);
  }

  slotOf(shard: number): number {
    return this.#map.slotOf(this.stripe, shard);
  }

  stateOf(shard: number, index: number): BlockState {
    return this.states[shard]?.[index] ?? 'absent';
  }

  setState(shard: number, index: number, state: BlockState): void {
    const states = this.states[shard];
    if (states !== undefined) states[index] = state;
  }

  block(shard: number, index: number): Buffer {
    return blockOf(this.shards[shard] as Buffer, index);
  }

  entryOf(shard: number, index: number): number {
    return this.entries[shard]?.[index] ?? 0;
  }

  /** Sets a block to what a pending write will leave. */
  replace(shard: number, index: number, write: ShardWrite, from: number): void {
    const block = this.block(shard, index);
    if (write.data === undefined) clear(block);
    else blockOf(write.data, from).copy(block);
    const entries = this.entries[shard];
    if (entries !== undefined) entries[index] = write.entries[from] ?? 0;
    this.setState(shard, index, write.entries[from] === LOST ? 'damaged' : 'good');
  }

  /** Whether no member was ever written in these rows. */
  isUnused(): boolean {
    return this.entries.every((entries) => isNoneWritten(entries, 0, this.count));
  }

  /** The shards that are damaged, unknown or absent in a row. */
  erasedAt(index: number): number[] {
    const erased: number[] = [];
    for (const [shard, states] of this.states.entries()) {
      const state = states[index];
      if (state === 'damaged' || state === 'unknown' || state === 'absent') erased.push(shard);
    }
    return erased;
  }

  hasLostData(index: number): boolean {
    for (let shard = 0; shard < this.dataShards; shard += 1) if (this.states[shard]?.[index] === 'gone') return true;
    return false;
  }

  /**
   * Reconstructs damaged and absent blocks from the rest. Blocks that cannot be reconstructed keep their bytes and
   * become `gone`.
   */
  solve(): void {
    for (let first = 0; first < this.count;) {
      const erased = this.erasedAt(first);
      let end = first + 1;
      while (end < this.count && isSame(erased, this.erasedAt(end))) end += 1;
      if (erased.length > 0) this.#solveRun(first, end, erased);
      first = end;
    }
  }

  /** The given rows of all shards. */
  partOf(first: number, end: number): Buffer[] {
    return this.shards.map((shard) => shard.subarray(first * BLOCK_BYTES, end * BLOCK_BYTES));
  }

  async #load(shard: number): Promise<void> {
    const member = this.#core.membership.members[this.slotOf(shard)];
    const entries = this.entries[shard] as Uint32Array;
    const data = this.shards[shard] as Buffer;
    if (member?.holds(this.row) !== true) return;
    if (!(await this.#core.checksums.read(member, this.row, entries))) return;
    const isEmpty = isNoneWritten(entries, 0, this.count);
    if (!isEmpty && !(await this.#core.readRows(member, this.row, data))) {
      entries.fill(0);
      return;
    }
    this.states[shard]?.fill('good');
    for (const index of damagedBlocks(data, entries)) {
      this.setState(shard, index, entries[index] === UNKNOWN ? 'unknown' : 'damaged');
    }
    await this.#recordBehind(shard, member);
  }

  async #recordBehind(shard: number, member: Member): Promise<void> {
    const region = this.#core.regionOf(this.row);
    if (!this.#core.unsynced.has(region)) return;
    const page = await this.#core.checksums.fetch(member, region);
    const first = this.row % this.#core.layout.regionRows;
    for (let index = 0; index < this.count; index += 1) {
      if (page?.isBehind(first + index) === true) this.behind[shard]?.add(index);
    }
  }

  #solveRun(first: number, end: number, erased: readonly number[]): void {
    if (erased.every((shard) => shard >= this.dataShards)) {
      recover(this.partOf(first, end), erased);
      this.#setStates(first, end, erased, 'solved');
      return;
    }
    if (erased.length > 2) {
      this.#setStates(first, end, erased, 'gone');
      return;
    }
    const damaged = erased.filter((shard) => this.states[shard]?.[first] === 'damaged');
    if (damaged.length === 0) {
      recover(this.partOf(first, end), erased);
      this.#setStates(first, end, erased, 'solved');
      return;
    }
    for (let index = first; index < end; index += 1) this.#solveDamagedRow(index, erased, damaged);
  }

  #solveDamagedRow(index: number, erased: readonly number[], damaged: readonly number[]): void {
    const before = damaged.map((shard) => Buffer.from(this.block(shard, index)));
    const part = this.partOf(index, index + 1);
    recover(part, erased);
    const [only = 0] = erased;
    const data = damaged.filter((shard) => shard < this.dataShards);
    if (data.every((shard) => this.#matches(shard, index))) {
      this.#setStates(index, index + 1, erased, 'solved');
    } else if (erased.length === 1 && isParityConsistent(part)) {
      // Both parities agree with the data: the checksum was damaged.
      this.#setStates(index, index + 1, erased, 'solved');
    } else if (erased.length === 1 && this.#solveWithoutFirstParity(only, index)) {
      this.#setStates(index, index + 1, [only, this.dataShards], 'solved');
    } else {
      for (const [at, shard] of damaged.entries()) before[at]?.copy(this.block(shard, index));
      this.#setStates(index, index + 1, erased, 'gone');
    }
  }

  /** P matches its checksum and is wrong all the same; Q may be right. */
  #solveWithoutFirstParity(shard: number, index: number): boolean {
    const part = this.partOf(index, index + 1);
    const parity = part[this.dataShards] as Buffer;
    const before = Buffer.from(parity);
    recover(part, [shard, this.dataShards]);
    if (this.#matches(shard, index)) return true;
    before.copy(parity);
    return false;
  }

  #matches(shard: number, index: number): boolean {
    const entries = this.entries[shard] as Uint32Array;
    return blocksMatch(this.block(shard, index), entries, index) === -1;
  }

  #setStates(first: number, end: number, shards: readonly number[], state: BlockState): void {
    for (const shard of shards) this.states[shard]?.fill(state, first, end);
  }
}

function isSame(left: readonly number[], right: readonly number[]): boolean {
  return left.length === right.length && left.every((value, index) => value === right[index]);
}
