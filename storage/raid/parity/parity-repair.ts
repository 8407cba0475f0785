import { StorageError } from '../../errors.ts';
import { checksumBlocks, computeParity, recover } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { blockOf } from '../blocks.ts';
import { LOST, NEVER_WRITTEN, UNKNOWN } from '../checksums/checksum-page.ts';
import type { GroupCore } from '../core.ts';
import type { Member } from '../members/member.ts';
import { isParityConsistent } from './parity-check.ts';
import type { StripeMap } from './stripe-map.ts';
import { StripeRows } from './stripe-rows.ts';
import type { Examination } from '../strategy.ts';

/** A block of a stripe. */
interface Place {
  readonly shard: number;
  readonly index: number;
}

interface WrongBlock extends Place {
  readonly right: Buffer;
}

/** Damage is counted and reported; differences after a crash are no damage. */
type Reason = 'repair' | 'resync';

const ZEROS = Buffer.alloc(BLOCK_BYTES);

/** Repairs stripes: damage, incomplete writes of a crash, and what a new member lacks. */
export class ParityRepair {
  readonly #core: GroupCore;
  readonly #map: StripeMap;

  constructor(core: GroupCore, map: StripeMap) {
    this.#core = core;
    this.#map = map;
  }

  /** Compares rows of one stripe with their checksums and parity, and repairs differences. */
  async examine(row: number, count: number, repair: boolean): Promise<Examination> {
    const rows = await StripeRows.load(this.#core, this.#map, row, count);
    try {
      const result: Examination = { mismatches: 0, repaired: 0, lost: 0 };
      if (rows.isUnused()) return result;
      const damaged = damagedPlaces(rows);
      rows.solve();
      for (const { shard, index } of damaged) {
        result.mismatches += 1;
        if (rows.stateOf(shard, index) === 'gone') result.lost += 1;
      }
      if (repair) result.repaired += await this.writeSolved(rows, damaged);
      let wrong = this.#wrongParity(rows);
      const zeroed = this.#findZeroed(rows, new Set(wrong.map(({ index }) => index)));
      if (zeroed.length > 0) wrong = this.#wrongParity(rows);
      result.mismatches += zeroed.length + wrong.length;
      if (repair) result.repaired += await this.writeSolved(rows, zeroed);
      // Parity that matches its checksum is not overwritten: the data may be older than both.
      const unproven = wrong.filter(({ shard, index }) => rows.entryOf(shard, index) === NEVER_WRITTEN);
      if (repair) result.repaired += await this.#rewriteParity(rows, unproven, 'repair');
      if (repair) this.#core.counters.mismatches += result.mismatches;
      if (repair) this.#core.counters.lostBlocks += result.lost;
      return result;
    } finally {
      rows.release();
    }
  }

  /** Writes blocks that were damaged and could be reconstructed. */
  async writeSolved(rows: StripeRows, damaged: readonly Place[]): Promise<number> {
    let repaired = 0;
    for (const { shard, index } of damaged) {
      if (rows.stateOf(shard, index) !== 'solved') continue;
      if (await this.#writeBlock(rows, shard, index, 'repair')) repaired += 1;
    }
    return repaired;
  }

  /** The result of a resync of these rows, without writing it. */
  previewResync(rows: StripeRows): void {
    this.#core.resyncs.deferred.overlay(rows);
    if (hasAbsentData(rows, this.#core)) {
      // A partial write with a member missing: nothing can be reconstructed before the write is complete.
      if (this.#core.resyncs.isTorn(rows.row))
        throw new StorageError('no-space', 'A stripe is half written; make room for it.');
      rows.solve();
      return;
    }
    for (let index = 0; index < rows.count; index += 1) this.#reconcileRow(rows, index);
  }

  /** Writes a member's blocks of these rows. Blocks that cannot be reconstructed are marked as lost. */
  async fill(target: Member, row: number, count: number): Promise<void> {
    const rows = await StripeRows.load(this.#core, this.#map, row, count);
    try {
      rows.solve();
      const shard = this.#map.shardOf(rows.stripe, target.slot);
      const data = rows.shards[shard] as Buffer;
      const entries = new Uint32Array(count);
      for (let index = 0; index < count; index += 1) {
        if (rows.stateOf(shard, index) === 'gone') entries[index] = LOST;
        else if (!blockOf(data, index).equals(ZEROS)) checksumBlocks(blockOf(data, index), entries, index);
        else entries[index] = NEVER_WRITTEN;
      }
      if (entries.some((entry) => entry !== NEVER_WRITTEN)) await this.#core.writeRows(target, row, data);
      await this.#core.checksums.restore(target, row, entries);
    } finally {
      rows.release();
    }
  }

  /**
   * After a crash data, checksums and parity may each be old or new. Data that matches its checksum is kept, as is data
   * that can be reconstructed to match it; other data is accepted as it is; parity is recomputed.
   */
  async resync(row: number, count: number): Promise<void> {
    const rows = await StripeRows.load(this.#core, this.#map, row, count);
    try {
      if (rows.isUnused()) return;
      const absent = rows.shards.map((_, shard) => shard).filter((shard) => rows.stateOf(shard, 0) === 'absent');
      // With a member missing since before the crash all writes went through the journal, so the stripe is consistent.
      if (absent.some((shard) => this.#core.resyncs.wasConsistent(rows.slotOf(shard), row))) return;
      if (absent.some((shard) => shard < rows.dataShards)) await this.#resyncWithoutData(rows, absent);
      else await this.#resyncData(rows);
    } finally {
      rows.release();
    }
  }

  async #resyncData(rows: StripeRows): Promise<void> {
    for (let index = 0; index < rows.count; index += 1) {
      for (const shard of this.#reconcileRow(rows, index)) {
        if (rows.stateOf(shard, index) === 'good') await this.#writeBlock(rows, shard, index, 'resync');
      }
      if (rows.hasLostData(index)) await this.#markLost(rows, index);
    }
    await this.#rewriteParity(rows, this.#wrongParity(rows), 'resync');
  }

  /** Chooses the data of a row after a crash. Returns the data shards that have to be written. */
  #reconcileRow(rows: StripeRows, index: number): number[] {
    const damaged = rows.erasedAt(index).filter((shard) => shard < rows.dataShards);
    if (damaged.length === 0) return this.#preferLatest(rows, index);
    this.#reconcileDamaged(rows, index, damaged);
    return damaged;
  }

  /**
   * Data whose checksum is one generation behind may predate a flush that was acknowledged. When the rest of the row
   * has the latest generation and agrees on other data, that data is used.
   */
  #preferLatest(rows: StripeRows, index: number): number[] {
    const [shard, ...more] = rows.behind.flatMap((behind, candidate) => (behind.has(index) ? [candidate] : []));
    if (shard === undefined || more.length > 0 || shard >= rows.dataShards) return [];
    const part = rows.partOf(index, index + 1);
    if (rows.erasedAt(index).length > 0 || isParityConsistent(part)) return [];
    const block = rows.block(shard, index);
    const before = Buffer.from(block);
    recover(part, [shard]);
    if (isParityConsistent(part)) return [shard];
    before.copy(block);
    return [];
  }

  /** Reconstructs data that matches its checksum, or accepts it as it is, unless its checksum is unknown. */
  #reconcileDamaged(rows: StripeRows, index: number, damaged: readonly number[]): void {
    const erased = rows.erasedAt(index);
    const unknown = damaged.filter((shard) => rows.stateOf(shard, index) === 'unknown');
    const before = damaged.map((shard) => Buffer.from(rows.block(shard, index)));
    const entries = new Uint32Array(1);
    if (erased.length <= 2) recover(rows.partOf(index, index + 1), erased);
    const isVerified = damaged.every((shard) => {
      checksumBlocks(rows.block(shard, index), entries, 0);
      return entries[0] === rows.entryOf(shard, index) || unknown.includes(shard);
    });
    // A block without a checksum is proven by another block that was reconstructed with it, or when both parities agree
    // on it.
    const isProven = unknown.length < damaged.length || unknown.length === 0;
    const isRight =
      isVerified && (isProven || (erased.length === 1 && isParityConsistent(rows.partOf(index, index + 1))));
    for (const [at, shard] of damaged.entries()) {
      if (!isRight) before[at]?.copy(rows.block(shard, index));
      // Data that was lost before the crash does not become valid by accepting the bytes there.
      const entry = rows.entryOf(shard, index);
      const isLost = !isRight && (entry === LOST || entry === UNKNOWN);
      rows.setState(shard, index, isLost ? 'gone' : 'good');
    }
  }

  /**
   * A member that was present at the crash is missing now. Where both parities agree on its block, the row is
   * consistent. Where they do not, a write was interrupted and the block is lost; the parity is marked so that the loss
   * stays visible.
   */
  async #resyncWithoutData(rows: StripeRows, absent: readonly number[]): Promise<void> {
    const damaged = damagedPlaces(rows);
    const isParityDamaged = new Set(damaged.filter(({ shard }) => shard >= rows.dataShards).map(({ index }) => index));
    rows.solve();
    for (let index = 0; index < rows.count; index += 1) {
      const isConsistent = !isParityDamaged.has(index) && isParityConsistent(rows.partOf(index, index + 1));
      const wasCutOff = absent.length === 1 && !isConsistent;
      if (!wasCutOff && !rows.hasLostData(index)) continue;
      this.#core.counters.lostBlocks += 1;
      this.#core.emit({ type: 'block-lost', row: rows.row + index });
      await this.#markLost(rows, index);
      // Blocks of other members are accepted as they are.
      for (let shard = 0; shard < rows.dataShards; shard += 1) {
        if (absent.includes(shard) || rows.stateOf(shard, index) !== 'gone') continue;
        const entry = rows.entryOf(shard, index);
        if (entry !== LOST && entry !== UNKNOWN) await this.#writeBlock(rows, shard, index, 'resync');
      }
    }
    await this.writeSolved(rows, damaged);
  }

  /**
   * In rows with wrong parity: data blocks recorded as never written although both parities agree that they were.
   * Format 1 cannot detect zeroed checksums. They are reconstructed afterwards.
   */
  #findZeroed(rows: StripeRows, wrongRows: Iterable<number>): Place[] {
    const zeroed: Place[] = [];
    for (const index of wrongRows) {
      const part = rows.partOf(index, index + 1);
      for (let shard = 0; shard < rows.dataShards; shard += 1) {
        if (rows.entryOf(shard, index) !== NEVER_WRITTEN || rows.stateOf(shard, index) !== 'good') continue;
        recover(part, [shard]);
        if (isParityConsistent(part)) {
          rows.setState(shard, index, 'solved');
          zeroed.push({ shard, index });
          break;
        }
        ZEROS.copy(rows.block(shard, index));
      }
    }
    return zeroed;
  }

  /** The parity blocks that do not match the data, in rows where all data was read from the drives. */
  #wrongParity(rows: StripeRows): WrongBlock[] {
    const parity = [rows.dataShards, rows.dataShards + 1];
    const computed = parity.map((shard) => Buffer.allocUnsafe(rows.shards[shard]?.length ?? 0));
    computeParity([...rows.shards.slice(0, rows.dataShards), ...computed]);
    const wrong: WrongBlock[] = [];
    if (hasAbsentData(rows, this.#core)) return wrong;
    for (const [at, shard] of parity.entries()) {
      for (let index = 0; index < rows.count; index += 1) {
        if (rows.hasLostData(index)) continue;
        const state = rows.stateOf(shard, index);
        const member = this.#core.membership.members[rows.slotOf(shard)];
        if (state === 'absent' || member?.holds(rows.row) !== true) continue;
        const right = blockOf(computed[at] as Buffer, index);
        if (state !== 'damaged' && right.equals(rows.block(shard, index))) continue;
        wrong.push({ shard, index, right });
      }
    }
    return wrong;
  }

  async #rewriteParity(rows: StripeRows, wrong: readonly WrongBlock[], reason: Reason): Promise<number> {
    let rewritten = 0;
    for (const { shard, index, right } of wrong) {
      right.copy(rows.block(shard, index));
      if (await this.#writeBlock(rows, shard, index, reason)) rewritten += 1;
    }
    return rewritten;
  }

  async #writeBlock(rows: StripeRows, shard: number, index: number, reason: Reason): Promise<boolean> {
    const member = this.#core.membership.members[rows.slotOf(shard)];
    const row = rows.row + index;
    if (member?.holds(row) !== true) return false;
    const block = rows.block(shard, index);
    const entries = new Uint32Array(1);
    const isUnknown = rows.entryOf(shard, index) === UNKNOWN;
    if (!isUnknown || !block.equals(ZEROS)) checksumBlocks(block, entries, 0);
    const isThere = isUnknown && (entries[0] === NEVER_WRITTEN || (await this.#isOnDrive(member, row, block)));
    if (!isThere && !(await this.#core.writeRows(member, row, block))) return false;
    await this.#core.checksums.restore(member, row, entries);
    if (reason === 'resync') return true;
    this.#core.counters.repairedBlocks += 1;
    this.#core.emit({ type: 'block-repaired', slot: member.slot, driveId: member.drive.id, row });
    return true;
  }

  /** Where only the checksum was lost, the block on the drive is right. */
  async #isOnDrive(member: Member, row: number, block: Buffer): Promise<boolean> {
    const found = Buffer.alloc(BLOCK_BYTES);
    return (await this.#core.readRows(member, row, found)) && found.equals(block);
  }

  /** Parity over unknown data must not be used as parity. */
  async #markLost(rows: StripeRows, index: number): Promise<void> {
    for (const shard of [rows.dataShards, rows.dataShards + 1]) {
      rows.setState(shard, index, 'gone');
      const member = this.#core.membership.members[rows.slotOf(shard)];
      const row = rows.row + index;
      if (member?.holds(row) === true) await this.#core.checksums.restore(member, row, Uint32Array.of(LOST));
    }
  }
}

export function damagedPlaces(rows: StripeRows): Place[] {
  const places: Place[] = [];
  for (const [shard, states] of rows.states.entries()) {
    for (const [index, state] of states.entries()) {
      if (state === 'damaged' || state === 'unknown') places.push({ shard, index });
    }
  }
  return places;
}

/** Data that was reconstructed from the parity proves nothing about the parity. */
function hasAbsentData(rows: StripeRows, core: GroupCore): boolean {
  for (let shard = 0; shard < rows.dataShards; shard += 1) {
    if (core.membership.members[rows.slotOf(shard)]?.holds(rows.row) !== true) return true;
  }
  return false;
}
