import { allocate, checksumBlocks, clear, computeParity, release, updateParity, xorInto } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { damagedBlocks, isNoneWritten } from '../blocks.ts';
import { LOST } from '../checksums/checksum-page.ts';
import type { GroupCore } from '../core.ts';
import type { ShardWrite } from '../journal/journal-record.ts';
import type { StripeMap } from './stripe-map.ts';
import { StripeRows } from './stripe-rows.ts';

/** New blocks of one data shard; without data they are discarded. */
export interface ShardPart {
  readonly shard: number;
  readonly row: number;
  readonly count: number;
  readonly data: Buffer | undefined;
}

/** The writes that give a stripe its new data and parity. */
export interface Plan {
  readonly writes: readonly ShardWrite[];
  readonly release: () => void;
}

/** All parts of one stripe, and the rows they touch. */
export interface StripeChange {
  readonly stripe: number;
  readonly row: number;
  readonly count: number;
  readonly parts: readonly ShardPart[];
}

/** Computes the new parity in the way that reads least. */
export class ParityPlanner {
  readonly #core: GroupCore;
  readonly #map: StripeMap;

  constructor(core: GroupCore, map: StripeMap) {
    this.#core = core;
    this.#map = map;
  }

  /** For a stripe without a missing member; undefined when a block in it is damaged. */
  planWhole(change: StripeChange): Promise<Plan | undefined> {
    const written = change.parts.reduce((total, { count }) => total + count, 0);
    const readsToUpdate = written + 2 * change.count;
    const readsToReconstruct = this.#map.dataShards * change.count - written;
    return readsToUpdate < readsToReconstruct ? this.#planUpdate(change) : this.#planReconstruct(change);
  }

  /** When all data of the rows is discarded, so is the parity. */
  planDiscard(change: StripeChange): Plan | undefined {
    const { dataShards, slots } = this.#map;
    const covering = change.parts.filter(({ count, data }) => data === undefined && count === change.count);
    if (covering.length < dataShards) return undefined;
    const shards = Array.from({ length: slots }, (_, shard) => shard);
    const writes = shards.map((shard) => this.#write(change, shard, change.row, change.count, undefined));
    return { writes, release: () => undefined };
  }

  /** For any stripe: reads all of it and reconstructs what is missing or damaged. */
  async planAny(change: StripeChange): Promise<Plan> {
    const rows = await StripeRows.load(this.#core, this.#map, change.row, change.count);
    rows.solve();
    for (const { shard, row, count, data } of change.parts) {
      const first = row - change.row;
      const target = rows.shards[shard]?.subarray(first * BLOCK_BYTES, (first + count) * BLOCK_BYTES);
      if (target && data === undefined) clear(target);
      else if (target) data?.copy(target);
      rows.states[shard]?.fill('good', first, first + count);
    }
    computeParity(rows.shards);
    const parity = this.#parityWrites(change, rows.shards);
    for (let index = 0; index < change.count; index += 1) {
      // Parity over unknown data would produce false data later; marking it as lost keeps the loss visible.
      if (rows.hasLostData(index)) for (const { entries } of parity) entries[index] = LOST;
    }
    return { writes: [...this.#dataWrites(change), ...parity], release: () => rows.release() };
  }

  /** Read-modify-write: removes the old data from the parity and adds the new. */
  async #planUpdate(change: StripeChange): Promise<Plan | undefined> {
    const { dataShards } = this.#map;
    const p = { shard: dataShards, row: change.row, count: change.count };
    const q = { shard: dataShards + 1, row: change.row, count: change.count };
    const reads = [...change.parts, p, q].map(({ shard, row, count }) => ({
      shard,
      row,
      count,
      buffer: allocate(count * BLOCK_BYTES),
    }));
    const releaseAll = () => reads.forEach(({ buffer }) => release(buffer));
    const results = await Promise.all(reads.map((read) => this.#readShard(change, read)));
    if (results.includes(false)) {
      releaseAll();
      return undefined;
    }
    const [oldP, oldQ] = reads.slice(-2).map(({ buffer }) => buffer) as [Buffer, Buffer];
    for (const [at, { shard, row, count, data }] of change.parts.entries()) {
      const difference = (reads[at] as (typeof reads)[number]).buffer;
      if (data !== undefined) xorInto(difference, data);
      const start = (row - change.row) * BLOCK_BYTES;
      const end = start + count * BLOCK_BYTES;
      updateParity(shard, difference, oldP.subarray(start, end), oldQ.subarray(start, end));
    }
    const none: Buffer[] = new Array<Buffer>(dataShards);
    const writes = [...this.#dataWrites(change), ...this.#parityWrites(change, [...none, oldP, oldQ])];
    return { writes, release: releaseAll };
  }

  /** Reconstruct-write: computes the parity from all data, reading only the blocks that are not written. */
  async #planReconstruct(change: StripeChange): Promise<Plan | undefined> {
    const { dataShards, slots } = this.#map;
    const own: Buffer[] = [];
    const shards: Buffer[] = [];
    const reads: Promise<boolean>[] = [];
    for (let shard = 0; shard < slots; shard += 1) {
      const part = change.parts.find((candidate) => candidate.shard === shard);
      const isCovered = part?.count === change.count;
      if (isCovered && part.data !== undefined) {
        shards.push(part.data);
        continue;
      }
      const buffer = allocate(change.count * BLOCK_BYTES);
      own.push(buffer);
      shards.push(buffer);
      if (isCovered) clear(buffer);
      else if (shard < dataShards) {
        reads.push(this.#readShard(change, { shard, row: change.row, count: change.count, buffer }));
      }
    }
    const releaseAll = () => own.forEach((buffer) => release(buffer));
    if ((await Promise.all(reads)).includes(false)) {
      releaseAll();
      return undefined;
    }
    for (const { shard, row, count, data } of change.parts) {
      if (count === change.count) continue;
      const start = (row - change.row) * BLOCK_BYTES;
      const target = (shards[shard] as Buffer).subarray(start, start + count * BLOCK_BYTES);
      if (data === undefined) clear(target);
      else data.copy(target);
    }
    computeParity(shards);
    return { writes: [...this.#dataWrites(change), ...this.#parityWrites(change, shards)], release: releaseAll };
  }

  /** False when the member failed, or a block is damaged. */
  async #readShard(
    change: StripeChange,
    read: { readonly shard: number; readonly row: number; readonly count: number; readonly buffer: Buffer },
  ): Promise<boolean> {
    const { shard, row, count, buffer } = read;
    const member = this.#core.membership.members[this.#map.slotOf(change.stripe, shard)];
    const entries = new Uint32Array(count);
    if (member?.holds(row) !== true || !(await this.#core.checksums.read(member, row, entries))) return false;
    const isEmpty = isNoneWritten(entries, 0, count);
    if (!isEmpty && !(await this.#core.readRows(member, row, buffer))) return false;
    return damagedBlocks(buffer, entries).length === 0;
  }

  #dataWrites(change: StripeChange): ShardWrite[] {
    return change.parts.map(({ shard, row, count, data }) => this.#write(change, shard, row, count, data));
  }

  #parityWrites(change: StripeChange, shards: readonly Buffer[]): ShardWrite[] {
    const { dataShards } = this.#map;
    return [dataShards, dataShards + 1].map((shard) =>
      this.#write(change, shard, change.row, change.count, shards[shard]),
    );
  }

  #write(change: StripeChange, shard: number, row: number, count: number, data: Buffer | undefined): ShardWrite {
    const entries = new Uint32Array(count);
    if (data !== undefined) checksumBlocks(data, entries, 0);
    return { slot: this.#map.slotOf(change.stripe, shard), row, count, data, entries };
  }
}
