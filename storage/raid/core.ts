import type { Drive } from '../drive/drive.ts';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES, BLOCKS_PER_REGION } from '../units.ts';
import { isNoneWritten } from './blocks.ts';
import { ChecksumCache, regionOf } from './checksums.ts';
import type { OnGroupEvent } from './events.ts';
import { IntentLog } from './intent-log.ts';
import { Journal } from './journal.ts';
import type { Layout } from './layout.ts';
import type { Member } from './member.ts';
import { Membership } from './membership.ts';
import type { RuntimeOptions } from './options.ts';
import { RangeLock } from './range-lock.ts';
import type { HeldRange } from './range-lock.ts';
import { RegionSet } from './region-set.ts';
import type { Strategy } from './strategy.ts';
import { wipeSuperblocks } from './superblock.ts';
import { Throttle } from './throttle.ts';

/** Rows that background work takes at a time: no more, so that others do not wait long. */
export const BATCH_ROWS = 64;

export interface GroupCounters {
  reads: number;
  writes: number;
  discards: number;
  flushes: number;
  mismatches: number;
  repairedBlocks: number;
  lostBlocks: number;
  resyncedRegions: number;
}

/** What the parts of a group share: its members, its locks, and the way into and out of an operation. */
export class GroupCore {
  readonly id: string;
  readonly layout: Layout;
  readonly emit: OnGroupEvent;
  readonly membership: Membership;
  readonly checksums: ChecksumCache;
  readonly intent: IntentLog;
  readonly journal: Journal;
  readonly throttle: Throttle;
  readonly locks = new RangeLock();
  /** Regions in which members may differ since a crash: nothing is read or written there before they were resynced. */
  readonly unsynced: RegionSet;
  readonly counters: GroupCounters = {
    reads: 0,
    writes: 0,
    discards: 0,
    flushes: 0,
    mismatches: 0,
    repairedBlocks: 0,
    lostBlocks: 0,
    resyncedRegions: 0,
  };
  readonly #resyncing = new Map<number, Promise<void>>();
  #strategy: Strategy | undefined;
  #inFlight = 0;
  #onDrained: (() => void)[] = [];
  readonly retired: Drive[] = [];
  /** Which members lacked which rows when the group crashed, as far as the superblocks say. */
  wasMissing: (slot: number, row: number) => boolean = () => false;
  isClosed = false;

  constructor(id: string, layout: Layout, options: RuntimeOptions) {
    this.id = id;
    this.layout = layout;
    this.emit = options.onEvent ?? (() => undefined);
    const fail = (member: Member, error: unknown) => this.membership.fail(member, error);
    this.checksums = new ChecksumCache(layout, fail, options.checksumCacheBytes);
    this.membership = new Membership(id, layout, {
      onEvent: this.emit,
      drain: () => this.drain(),
      beforeChange: () => this.#resyncBeforeChange(),
      flushMembers: () => this.flushMembers(),
      afterChange: () => this.#afterChange(),
      forget: (member) => this.checksums.forget(member),
    });
    const members = () => this.membership.writers;
    this.intent = new IntentLog({ layout: layout, members, fail });
    this.journal = new Journal({ core: this, fail });
    this.throttle = new Throttle(
      options.clock?.now ?? (() => performance.now()),
      () => this.counters.reads + this.counters.writes,
    );
    this.unsynced = new RegionSet(layout.regions);
  }

  get strategy(): Strategy {
    if (this.#strategy === undefined) throw new Error('a group has a strategy before it is used');
    return this.#strategy;
  }

  set strategy(strategy: Strategy) {
    this.#strategy = strategy;
  }

  /** Whether a write can go ahead without waiting for anything. */
  isOpen(): boolean {
    return this.membership.settling === undefined && this.membership.failure === undefined && !this.isClosed;
  }

  /** Waits until the group takes operations; throws when it does not any more. */
  async enter(): Promise<void> {
    if (this.isClosed) throw new StorageError('closed', `Group ${this.id} was closed; open it again.`);
    if (!this.isOpen()) await this.membership.settled();
  }

  /**
   * Lets an operation into rows of one region and keeps all others out, until `end`. With `marks` the region is in the
   * write-intent log by then.
   */
  async begin(row: number, count: number, marks: boolean): Promise<HeldRange> {
    const region = regionOf(row);
    for (;;) {
      await this.enter();
      if (this.unsynced.has(region)) {
        await this.resyncRegion(region);
        continue;
      }
      if (marks && !this.intent.use(region)) {
        await this.intent.mark(region);
        continue;
      }
      const range = await this.locks.acquire(row, count);
      if (this.isOpen() && !this.unsynced.has(region) && (!marks || this.intent.use(region))) {
        this.#inFlight += 1;
        return range;
      }
      this.locks.release(range);
    }
  }

  /** The same without waiting: the caller has seen that nothing is in the way. */
  beginNow(row: number, count: number): HeldRange {
    this.#inFlight += 1;
    return this.locks.take(row, count);
  }

  end(range: HeldRange): void {
    this.locks.release(range);
    this.#leave();
  }

  /** Reads rows of a member; false when it failed over it. */
  async readRows(member: Member, row: number, into: Buffer): Promise<boolean> {
    if (!member.isAlive) return false;
    try {
      await member.drive.read(this.layout.dataOffset + row * BLOCK_BYTES, into);
      return true;
    } catch (error) {
      this.membership.fail(member, error);
      return false;
    }
  }

  async writeRows(member: Member, row: number, from: Buffer): Promise<boolean> {
    if (!member.isAlive) return false;
    try {
      await member.drive.write(this.layout.dataOffset + row * BLOCK_BYTES, from);
      return true;
    } catch (error) {
      this.membership.fail(member, error);
      return false;
    }
  }

  /** Checksums first, then the drives: both are durable afterwards, or the member is out. */
  async flushMembers(): Promise<void> {
    await Promise.all(
      this.membership.writers.map(async (member) => {
        await this.checksums.writeBack(member);
        if (!member.isAlive) return;
        await member.drive.flush().catch((error: unknown) => this.membership.fail(member, error));
      }),
    );
  }

  /** Brings one region in line after a crash. Those who need the same one share the work. */
  resyncRegion(region: number): Promise<void> {
    const running = this.#resyncing.get(region);
    if (running !== undefined) return running;
    const resyncing = this.#resyncByBatches(region).finally(() => this.#resyncing.delete(region));
    this.#resyncing.set(region, resyncing);
    return resyncing;
  }

  drives(): Drive[] {
    const { members, successors, spares } = this.membership;
    return [...members, ...successors.filter((member) => member !== undefined), ...spares].map(({ drive }) => drive);
  }

  rowsOf(region: number): { readonly first: number; readonly end: number } {
    const first = region * BLOCKS_PER_REGION;
    return { first, end: Math.min(first + BLOCKS_PER_REGION, this.layout.rows) };
  }

  /** Nobody ever wrote there, as far as can be told without keeping others out. */
  async isUnused(region: number): Promise<boolean> {
    for (const member of this.membership.writers) {
      if (member.pending?.has(region) === true) continue;
      const page = await this.checksums.fetch(member, region);
      if (page === undefined || !isNoneWritten(page.entries, 0, BLOCKS_PER_REGION)) return false;
    }
    return true;
  }

  /** A drive that was replaced must not be taken for a member again. */
  async retire(member: Member): Promise<void> {
    this.checksums.forget(member);
    this.retired.push(member.drive);
    // It may be broken: then it has no uuid of ours in the superblocks of the others either, which is enough.
    await wipeSuperblocks(member.drive).catch(() => undefined);
  }

  async drain(): Promise<void> {
    while (this.#inFlight > 0) await new Promise<void>((resolve) => this.#onDrained.push(resolve));
  }

  async #resyncByBatches(region: number): Promise<void> {
    await Promise.resolve();
    const { first, end } = this.rowsOf(region);
    for (let row = first; row < end; row += BATCH_ROWS) {
      await this.enter();
      if (!this.unsynced.has(region)) return;
      this.#inFlight += 1;
      try {
        await this.strategy.resync(row, Math.min(BATCH_ROWS, end - row));
      } finally {
        this.#leave();
      }
    }
    await this.enter();
    this.#synced(region);
  }

  #synced(region: number): void {
    if (this.unsynced.delete(region)) this.counters.resyncedRegions += 1;
  }

  /** Parity can only be put right while it is known which members were there at the crash. */
  async #resyncBeforeChange(): Promise<void> {
    if (this.layout.level !== 'RAID6') return;
    for (const region of [...this.unsynced]) {
      const { first, end } = this.rowsOf(region);
      for (let row = first; row < end; row += BATCH_ROWS) {
        await this.strategy.resync(row, Math.min(BATCH_ROWS, end - row));
      }
      if (this.membership.failure !== undefined) return;
      this.#synced(region);
    }
  }

  async #afterChange(): Promise<void> {
    this.journal.startAnew();
    await this.intent.rewrite();
  }

  #leave(): void {
    this.#inFlight -= 1;
    if (this.#inFlight > 0) return;
    const waiting = this.#onDrained;
    this.#onDrained = [];
    for (const resolve of waiting) resolve();
  }
}
