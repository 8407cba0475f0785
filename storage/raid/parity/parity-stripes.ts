import { isNoSpace, StorageError } from '../../errors.ts';
import { blocksMatch } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';
import type { Done } from '../../units.ts';
import { allDone } from '../../all-done.ts';
import { areAllWritten, damagedBlocks } from '../blocks.ts';
import type { GroupCore } from '../core.ts';
import type { ShardWrite } from '../journal/journal-record.ts';
import { ParityPlanner } from './parity-plan.ts';
import type { Plan, ShardPart, StripeChange } from './parity-plan.ts';
import { damagedPlaces, ParityRepair } from './parity-repair.ts';
import type { Member } from '../members/member.ts';
import { ifThereIsSpace } from '../journal/deferred-writes.ts';
import type { Examination, Strategy } from '../strategy.ts';
import { StripeMap } from './stripe-map.ts';
import type { ChunkPart } from './stripe-map.ts';
import { StripeRows } from './stripe-rows.ts';

const STRIPES_AT_ONCE = 8;
const PARTS_AT_ONCE = 64;
const noData = Promise.resolve();

/** RAID6: data in chunks over the members, with two parities that rotate from stripe to stripe. */
export class ParityStripes implements Strategy {
  readonly #core: GroupCore;
  readonly #map: StripeMap;
  readonly #planner: ParityPlanner;
  readonly #repair: ParityRepair;
  readonly #dataOffset: number;

  constructor(core: GroupCore) {
    this.#core = core;
    this.#map = new StripeMap(core.layout);
    this.#planner = new ParityPlanner(core, this.#map);
    this.#repair = new ParityRepair(core, this.#map);
    this.#dataOffset = core.layout.dataOffset;
  }

  read(offset: number, into: Buffer): Done {
    const core = this.#core;
    const count = into.length / BLOCK_BYTES;
    const part = this.#map.partAt(offset / BLOCK_BYTES, count, 0);
    if (part.count < count || !core.isOpen()) return this.#readParts(offset / BLOCK_BYTES, into);
    const region = this.#core.regionOf(part.row);
    const member = core.membership.members[this.#map.slotOf(part.stripe, part.shard)];
    const page = member?.pages.get(region);
    if (page === undefined || member?.holds(part.row) !== true) return this.#readPart(part, into);
    const first = part.row % this.#core.layout.regionRows;
    if (core.unsynced.has(region) || !areAllWritten(page.entries, first, count)) return this.#readPart(part, into);
    page.wasUsed = true;
    core.checksums.lookups.readHits += 1;
    let done: Done;
    try {
      done = member.drive.read(this.#dataOffset + part.row * BLOCK_BYTES, into);
    } catch (error) {
      core.membership.fail(member, error);
      return this.#readPart(part, into);
    }
    if (done !== undefined) return this.#readLater(done, member, part, into);
    if (blocksMatch(into, page.entries, first) === -1) return undefined;
    return this.#readPart(part, into);
  }

  write(offset: number, from: Buffer): Promise<void> {
    return this.#change(offset / BLOCK_BYTES, from.length / BLOCK_BYTES, from);
  }

  discard(offset: number, length: number): Promise<void> {
    return this.#change(offset / BLOCK_BYTES, length / BLOCK_BYTES, undefined);
  }

  async resync(row: number, count: number): Promise<void> {
    for (const piece of this.#map.pieces(row, count)) await this.#repair.resync(piece.row, piece.count);
  }

  async fill(target: Member, row: number, count: number): Promise<void> {
    for (const piece of this.#map.pieces(row, count)) await this.#repair.fill(target, piece.row, piece.count);
  }

  async examine(row: number, count: number, repair: boolean): Promise<Examination> {
    const total: Examination = { mismatches: 0, repaired: 0, lost: 0 };
    for (const piece of this.#map.pieces(row, count)) {
      const found = await this.#repair.examine(piece.row, piece.count, repair);
      total.mismatches += found.mismatches;
      total.repaired += found.repaired;
      total.lost += found.lost;
    }
    return total;
  }

  async #readLater(done: Promise<void>, member: Member, part: ChunkPart, into: Buffer): Promise<void> {
    try {
      await done;
    } catch (error) {
      this.#core.membership.fail(member, error);
      return this.#readPart(part, into);
    }
    const first = part.row % this.#core.layout.regionRows;
    const page = member.pages.get(this.#core.regionOf(part.row));
    if (page !== undefined && areAllWritten(page.entries, first, part.count)) {
      if (blocksMatch(into, page.entries, first) === -1) return undefined;
    }
    return this.#readPart(part, into);
  }

  async #readParts(block: number, into: Buffer): Promise<void> {
    const running: Promise<void>[] = [];
    for (const part of this.#map.parts(block, into.length / BLOCK_BYTES)) {
      const start = part.at * BLOCK_BYTES;
      running.push(this.#readPart(part, into.subarray(start, start + part.count * BLOCK_BYTES)));
      if (running.length === PARTS_AT_ONCE) await allDone(running.splice(0));
    }
    await allDone(running);
  }

  async #readPart(part: ChunkPart, into: Buffer): Promise<void> {
    await this.#core.enter(true);
    const member = this.#core.membership.members[this.#map.slotOf(part.stripe, part.shard)];
    if (member?.holds(part.row) !== true || this.#core.unsynced.has(this.#core.regionOf(part.row))) {
      return this.#readAndRepair(part, into);
    }
    const entries = new Uint32Array(part.count);
    const isRead = await this.#core.readRows(member, part.row, into);
    if (!isRead || !(await this.#core.checksums.read(member, part.row, entries)))
      return this.#readAndRepair(part, into);
    if (damagedBlocks(into, entries).length > 0) return this.#readAndRepair(part, into);
  }

  /**
   * With the rows held exclusively: blocks that do not match now are damaged, and are reconstructed from the rest of
   * the stripe.
   */
  async #readAndRepair({ row, count, shard }: ChunkPart, into: Buffer): Promise<void> {
    const core = this.#core;
    const range = await core.begin(row, count, false, true);
    try {
      const rows = await StripeRows.load(core, this.#map, row, count);
      try {
        if (core.unsynced.has(this.#core.regionOf(row))) this.#repair.previewResync(rows);
        else await this.#solve(rows);
        const lost = rows.states[shard]?.findIndex((state) => state === 'gone') ?? -1;
        if (lost >= 0) throw this.#unreadable(row + lost);
        rows.shards[shard]?.copy(into);
      } finally {
        rows.release();
      }
    } finally {
      core.end(range);
    }
    await core.whenRecorded(true);
  }

  async #solve(rows: StripeRows): Promise<void> {
    const damaged = damagedPlaces(rows);
    rows.solve();
    this.#core.counters.mismatches += damaged.length;
    await ifThereIsSpace(this.#repair.writeSolved(rows, damaged));
  }

  async #change(block: number, count: number, from: Buffer | undefined): Promise<void> {
    const running: Promise<void>[] = [];
    for (const change of this.#changes(block, count, from)) {
      running.push(this.#changeStripe(change));
      if (running.length === STRIPES_AT_ONCE) await allDone(running.splice(0));
    }
    await allDone(running);
    await this.#core.membership.whenRecorded();
  }

  /** Groups the parts of a request by stripe. */
  *#changes(block: number, count: number, from: Buffer | undefined): Generator<StripeChange> {
    let parts: ShardPart[] = [];
    let stripe = -1;
    for (const part of this.#map.parts(block, count)) {
      if (part.stripe !== stripe && parts.length > 0) yield changeOf(stripe, parts);
      if (part.stripe !== stripe) parts = [];
      stripe = part.stripe;
      const data = from?.subarray(part.at * BLOCK_BYTES, (part.at + part.count) * BLOCK_BYTES);
      parts.push({ shard: part.shard, row: part.row, count: part.count, data });
    }
    if (parts.length > 0) yield changeOf(stripe, parts);
  }

  async #changeStripe(change: StripeChange): Promise<void> {
    if (this.#core.resyncs.deferred.size > 0) await this.#core.resyncs.applyDeferred();
    const range = await this.#core.begin(change.row, change.count, true);
    try {
      if (this.#needsJournal(change)) await this.#changeByJournal(change);
      else await this.#changeInPlace(change);
    } finally {
      this.#core.end(range);
    }
  }

  /** With a member missing, an interrupted write would lose data; and a replay must write the newest data. */
  #needsJournal({ row, count }: StripeChange): boolean {
    const { membership, journal } = this.#core;
    return membership.members.some((member) => !member.holdsOnRecord(row)) || journal.covers(row, count);
  }

  async #changeInPlace(change: StripeChange): Promise<void> {
    const plan = await this.#plan(change);
    // When a member failed meanwhile, the rest of the stripe must not be written without the journal.
    const isSafe = !this.#needsJournal(change);
    try {
      if (isSafe) await this.#apply(plan.writes);
    } catch (error) {
      if (isNoSpace(error)) this.#core.resyncs.leaveUnsynced(change.row, true);
      throw error;
    } finally {
      plan.release();
    }
    if (!isSafe) await this.#changeByJournal(change);
  }

  async #changeByJournal(change: StripeChange): Promise<void> {
    const shardBytes = this.#map.slots * (BLOCK_BYTES + 4);
    const rowsAtOnce = Math.floor((this.#core.journal.recordBytesMax - 2 * BLOCK_BYTES) / shardBytes);
    for (let row = change.row; row < change.row + change.count; row += rowsAtOnce) {
      const window = cut(change, row, Math.min(row + rowsAtOnce, change.row + change.count));
      if (window === undefined) continue;
      const plan = await this.#plan(window);
      try {
        await this.#throughJournal(row, plan);
      } finally {
        plan.release();
      }
    }
  }

  async #throughJournal(row: number, plan: Plan): Promise<void> {
    const { journal, resyncs } = this.#core;
    const refusal = await journal.append(plan.writes);
    try {
      if (refusal !== undefined) throw refusal;
      await this.#apply(plan.writes);
    } catch (error) {
      if (isNoSpace(error)) {
        resyncs.deferred.keep(row, plan.writes);
        this.#core.resyncs.leaveUnsynced(row, false);
      }
      throw error;
    } finally {
      journal.finish();
    }
  }

  async #plan(change: StripeChange): Promise<Plan> {
    const discard = this.#planner.planDiscard(change);
    if (discard !== undefined) return discard;
    const { members } = this.#core.membership;
    const isWhole = members.every((member) => member.holds(change.row));
    const plan = isWhole ? await this.#planner.planWhole(change) : undefined;
    return plan ?? (await this.#planner.planAny(change));
  }

  async #apply(writes: readonly ShardWrite[]): Promise<void> {
    const { members, successors } = this.#core.membership;
    const targets = writes.flatMap((write) =>
      [members[write.slot], successors[write.slot]]
        .filter((member) => member?.holds(write.row) === true)
        .map((member) => ({ ...write, member: member as Member })),
    );
    await allDone(
      targets.map(({ member, row, data }) => (data === undefined ? noData : this.#core.writeRows(member, row, data))),
    );
    // Only after the data: when a write is refused, the checksums identify the blocks that still have the old data.
    await allDone(targets.map(({ member, row, entries }) => this.#core.checksums.put(member, row, entries)));
  }

  #unreadable(row: number): StorageError {
    this.#core.emit({ type: 'block-lost', row });
    this.#core.counters.lostBlocks += 1;
    const message = `Group ${this.#core.id}: too much of the stripe at row ${row} is damaged to work it out; restore it.`;
    return new StorageError('unreadable', message);
  }
}

function changeOf(stripe: number, parts: readonly ShardPart[]): StripeChange {
  const row = Math.min(...parts.map((part) => part.row));
  const end = Math.max(...parts.map((part) => part.row + part.count));
  return { stripe, row, count: end - row, parts };
}

/** The part of a change between two rows. */
function cut(change: StripeChange, first: number, end: number): StripeChange | undefined {
  const parts: ShardPart[] = [];
  for (const part of change.parts) {
    const row = Math.max(part.row, first);
    const count = Math.min(part.row + part.count, end) - row;
    if (count <= 0) continue;
    const start = (row - part.row) * BLOCK_BYTES;
    parts.push({ ...part, row, count, data: part.data?.subarray(start, start + count * BLOCK_BYTES) });
  }
  return parts.length === 0 ? undefined : changeOf(change.stripe, parts);
}
