import assert from 'node:assert/strict';
import type { Drive } from '../drive/drive.ts';
import { allDone } from '../all-done.ts';
import { isNoSpace, StorageError } from '../errors.ts';
import { BLOCK_BYTES } from '../units.ts';
import { isNoneWritten } from './blocks.ts';
import { ChecksumCache } from './checksums/checksums.ts';
import type { OnGroupEvent } from './events.ts';
import { IntentLog } from './intent/intent-log.ts';
import { RaidJournal } from './journal/raid-journal.ts';
import type { Layout } from './layout.ts';
import type { Member } from './members/member.ts';
import { GroupMembership } from './members/group-membership.ts';
import type { ReadMode, RuntimeOptions } from './options.ts';
import { RegionResyncs } from './intent/region-resyncs.ts';
import { RangeLock } from '../range-lock.ts';
import type { HeldRange } from '../range-lock.ts';
import { RegionSet } from './intent/region-set.ts';
import type { Strategy } from './strategy.ts';
import { wipeSuperblocks } from './members/superblock.ts';
import { Throttle } from './repair/throttle.ts';

const RETRY_MS_DEFAULT = 5000;

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

/** What the parts of a group share: its members, its locks, and admission of operations. */
export class GroupCore {
  readonly id: string;
  readonly layout: Layout;
  readonly emit: OnGroupEvent;
  readonly membership: GroupMembership;
  readonly checksums: ChecksumCache;
  readonly intent: IntentLog;
  readonly journal: RaidJournal;
  readonly throttle: Throttle;
  readonly locks = new RangeLock();
  /** Regions in which checksums of a member were rejected: the member is repaired from the others. */
  readonly rejected = new Set<number>();
  /**
   * Regions in which members may differ since a crash or a refused write: they are resynced before any other access.
   */
  readonly unsynced: RegionSet;
  readonly resyncs = new RegionResyncs(this);
  readMode: ReadMode = 'balanced';
  /** Starts background work that is due. */
  startWork: () => void = () => undefined;
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
  #strategy: Strategy | undefined;
  #inFlight = 0;
  #onDrained: (() => void)[] = [];
  readonly retired: Drive[] = [];
  /** Which members lacked which rows when the group crashed, according to the superblocks. */
  wasMissing: (slot: number, row: number) => boolean = () => false;
  isClosed = false;
  readonly #retryMs: number;
  #retry: NodeJS.Timeout | undefined;

  constructor(id: string, layout: Layout, options: RuntimeOptions) {
    this.id = id;
    this.layout = layout;
    this.emit = options.onEvent ?? (() => undefined);
    this.#retryMs = options.noSpaceRetryMs ?? RETRY_MS_DEFAULT;
    const fail = (member: Member, error: unknown) => this.fail(member, error);
    const members = () => this.membership.writers;
    this.checksums = new ChecksumCache({
      groupId: id,
      layout,
      fail,
      members,
      isUnsynced: (region) => this.unsynced.has(region),
      isWritten: (region) => this.intent.isWritten(region),
      onRejected: (member, region) => this.#onRejected(member, region),
      cacheBytes: options.checksumCacheBytes,
    });
    this.membership = new GroupMembership(id, layout, {
      onEvent: this.emit,
      drain: () => this.drain(),
      beforeChange: () => this.resyncs.beforeChange(),
      flushMembers: () => this.flushMembers(),
      afterChange: () => this.#afterChange(),
      afterRecord: options.onRecorded ?? (() => Promise.resolve()),
      dropPages: (member) => this.checksums.drop(member),
    });
    this.intent = new IntentLog({ groupId: id, layout, members, fail });
    this.journal = new RaidJournal({ core: this, fail });
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

  /** Whether a write can proceed without waiting. */
  isOpen(): boolean {
    const { committing, failure, stalled } = this.membership;
    return committing === undefined && failure === undefined && stalled === undefined && !this.isClosed;
  }

  /** Waits until the group accepts operations; throws when it is closed or lost. */
  async enter(isReader = false): Promise<void> {
    if (this.isClosed) throw new StorageError('closed', `Group ${this.id} was closed; open it again.`);
    if (!this.isOpen()) await this.whenRecorded(isReader);
  }

  /** Waits until the membership is recorded. A reader proceeds also when the disk is too full to record it. */
  async whenRecorded(isReader: boolean): Promise<void> {
    try {
      await this.membership.whenRecorded();
    } catch (error) {
      if (!isReader || !isNoSpace(error) || this.membership.failure !== undefined) throw error;
    }
  }

  /**
   * Admits an operation to rows of one region and excludes all others until `end`. With `marks` the region is marked in
   * the write-intent log before this resolves. With `isReader` a region that cannot be resynced on a full disk is
   * admitted; the caller checks `unsynced`.
   */
  async begin(row: number, count: number, marks: boolean, isReader = false): Promise<HeldRange> {
    const region = this.regionOf(row);
    let mayDiffer = false;
    for (;;) {
      await this.enter(isReader);
      if (this.unsynced.has(region) && !mayDiffer) {
        mayDiffer = !(await this.resyncs.tryRun(region, isReader));
        continue;
      }
      if (marks && !this.intent.use(region)) {
        await this.intent.mark(region);
        continue;
      }
      const range = await this.locks.acquire(row, row + count);
      if (
        (this.isOpen() || (isReader && this.#isReadable())) &&
        (mayDiffer || !this.unsynced.has(region)) &&
        (!marks || this.intent.use(region))
      ) {
        this.#inFlight += 1;
        return range;
      }
      this.locks.release(range);
    }
  }

  /** The same without waiting: the caller has checked that the rows are free. */
  beginNow(row: number, count: number): HeldRange {
    assert.ok(this.locks.isFree(row, row + count), 'the rows are held by no other operation');
    this.#inFlight += 1;
    return this.locks.hold(row, row + count);
  }

  /** Keeps the membership unchanged while `work` runs. */
  async whileHeld(work: () => Promise<void>): Promise<void> {
    this.#inFlight += 1;
    await work().finally(() => this.#endOperation());
  }

  end(range: HeldRange): void {
    this.locks.release(range);
    this.#endOperation();
  }

  /** Fails a member that returned an error. A full disk is no failure of the member: the error is thrown. */
  fail(member: Member, error: unknown): void {
    if (isNoSpace(error)) throw error;
    this.membership.fail(member, error);
  }

  /** Reads rows of a member; false when the member failed. */
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

  /** Writes rows of a member; false when the member failed. Throws when the disk is full. */
  async writeRows(member: Member, row: number, from: Buffer): Promise<boolean> {
    if (!member.isAlive) return false;
    try {
      await member.drive.write(this.layout.dataOffset + row * BLOCK_BYTES, from);
      return true;
    } catch (error) {
      this.fail(member, error);
      return false;
    }
  }

  /**
   * Writes checksums, then flushes the drives. Afterwards both are durable, or the member has failed, or an error for a
   * full disk is thrown.
   */
  async flushMembers(): Promise<void> {
    const flushed = this.checksums.generations.beginFlush();
    await allDone(
      this.membership.writers.map(async (member) => {
        await this.checksums.writeBack(member);
        if (!member.isAlive) return;
        await member.drive.flush().catch((error: unknown) => this.fail(member, error));
      }),
    );
    this.intent.markWritten(this.checksums.generations.endFlush(flushed));
  }

  /** The disk is full: background work stops and is retried later. */
  retryLater(work: 'rebuild' | 'resync', error: Error): void {
    if (this.#retry !== undefined || this.isClosed) return;
    this.emit({ type: 'no-space', work, reason: error.message });
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      this.startWork();
    }, this.#retryMs).unref();
  }

  drives(): Drive[] {
    const { members, successors, spares } = this.membership;
    return [...members, ...successors.filter((member) => member !== undefined), ...spares].map(({ drive }) => drive);
  }

  regionOf(row: number): number {
    return Math.floor(row / this.layout.regionRows);
  }

  rowsOf(region: number): { readonly first: number; readonly end: number } {
    const { regionRows, rows } = this.layout;
    const first = region * regionRows;
    return { first, end: Math.min(first + regionRows, rows) };
  }

  /** Whether the region was never written, checked without a lock. */
  async isUnused(region: number): Promise<boolean> {
    for (const member of this.membership.writers) {
      if (member.pending?.has(region) === true) continue;
      const page = await this.checksums.fetch(member, region);
      if (page === undefined || !isNoneWritten(page.entries, 0, page.entries.length)) return false;
    }
    return true;
  }

  /** A replaced drive must not rejoin as a member. */
  async retire(member: Member): Promise<void> {
    this.checksums.drop(member);
    this.retired.push(member.drive);
    // The drive may be broken. The other members' superblocks do not list its uuid any more, which is sufficient.
    await wipeSuperblocks(member.drive).catch(() => undefined);
  }

  /** Leaves the drives as a clean start needs them. */
  async persistAtEnd(): Promise<void> {
    const { membership, intent, unsynced } = this;
    await this.flushMembers();
    if (membership.isComplete && unsynced.size === 0) await intent.clear([...intent.marked()]);
    await intent.persist();
    membership.isClean = unsynced.size === 0 && membership.stalled === undefined;
    await membership.persist();
  }

  async drain(): Promise<void> {
    while (this.#inFlight > 0) await new Promise<void>((resolve) => this.#onDrained.push(resolve));
  }

  #isReadable(): boolean {
    const { committing, failure } = this.membership;
    return committing === undefined && failure === undefined && !this.isClosed;
  }

  #onRejected({ slot, drive }: Member, region: number): void {
    this.rejected.add(region);
    this.emit({ type: 'checksums-rejected', slot, driveId: drive.id, region });
    this.startWork();
  }

  async #afterChange(): Promise<void> {
    this.journal.startGeneration();
    await this.intent.rewrite();
  }

  #endOperation(): void {
    assert.ok(this.#inFlight > 0, 'an operation leaves once');
    this.#inFlight -= 1;
    if (this.#inFlight > 0) return;
    const waiting = this.#onDrained;
    this.#onDrained = [];
    for (const resolve of waiting) resolve();
  }
}
