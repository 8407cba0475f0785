import type { Reads, Transaction } from '@granary/kernel/sqlite';
import { BlobWriter } from '../blobs/blob-writer.ts';
import type { DriveActivity } from '../drives/activity.ts';
import { Drives } from '../drives/drives.ts';
import { ObjectError } from '../errors.ts';
import type { StagedBlob } from '../records.ts';
import { MendQueue } from '../mend/mend-queue.ts';
import { Scrubber, type ScrubResult } from '../mend/scrubber.ts';
import { Sweeper, type SweepResult } from '../mend/sweeper.ts';
import { doubtPartition, isIn, liveOn, numberIndex, takeSegmentNumbers } from './keeper-book.ts';
import { IndexStamps } from './index-stamps.ts';
import { KeeperState } from './keeper-state.ts';
import type { KeeperEvent, KeeperReport, StorageWorker, WantedDrive, WantedPolicy } from './keeper-types.ts';
import type { EncryptionState, Layout, LayoutDrive } from './layout.ts';
import { Rebalancer } from './rebalancer.ts';
import { reportOf } from './report.ts';
import { Roster } from './roster.ts';
import { SegmentNumbers } from './segment-numbers.ts';
import { findSpreads } from './spreads.ts';

/** What the keeper needs of the index: `IndexWriter` has it. */
export interface KeeperIndex {
  change<T>(work: (tx: Transaction) => T): Promise<T>;
  useLayout(layout: Layout, isIn: (db: Reads, drive: number) => boolean): void;
  readonly reader: { readonly db: Reads };
}

export interface KeeperOptions {
  readonly index: KeeperIndex;
  /** Threads that mend and compact, each the same object as long as it lives. */
  readonly workers: () => readonly StorageWorker[];
  /** Share of new drives, in percent, that one step of an expansion adds. */
  readonly expansionPercent: () => number;
  readonly onEvent?: (event: KeeperEvent) => void;
  /** The keeper's own work failed: it goes on at the next turn. */
  readonly onError?: (error: Error) => void;
  readonly now?: () => number;
  /** How often drives are looked at. */
  readonly tickMs?: number;
  /** After this time others take over the slots of a drive that is away. */
  readonly lostAfterMs?: number;
  /** How long a drive that failed is left alone at first; twice as long each time it fails again soon. */
  readonly retryMs?: number;
  /** For reading every piece once. */
  readonly scrubPeriodMs?: number;
  readonly sweepMs?: number;
  /** How long a segment is left alone after the last write to it. */
  readonly segmentGraceMs?: number;
  /** Goes on with an index that is older than the drives, or not theirs. */
  readonly acceptsAnyIndex?: boolean;
}

/** What the array was told to have. */
export interface Wanted {
  readonly drives: readonly WantedDrive[];
  readonly policies: readonly WantedPolicy[];
  /** Policy of new buckets; the first one where it is not named. */
  readonly defaultPolicy?: string | null;
}

export type LayoutListener = (layout: Layout) => void | Promise<void>;

const TICK_MS = 1000;
const LOST_AFTER_MS = 60_000;
const RETRY_MS = 5000;
const SCRUB_PERIOD_MS = 14 * 24 * 3600_000;
const SWEEP_MS = 60_000;
/** What the process before left behind is looked at soon after a start. */
const FIRST_SWEEP_MS = 10_000;
const SEGMENT_GRACE_MS = 10 * 60_000;
/** A sweep that takes long is made less often: it may take one part in so many of the time. */
const SWEEP_SHARE = 20;
const NO_ENCRYPTION: EncryptionState = { writeKey: 0, keys: [] };

/**
 * Knows the drives, decides where pieces belong and sees to it that they get there. Lives in the main thread; threads
 * get the layout from it and do its work on bytes. What it knows is in tables and marks of the index, so a start goes
 * on where the last one ended.
 */
export class Keeper {
  readonly #options: KeeperOptions;
  readonly #state: KeeperState;
  readonly #roster: Roster;
  readonly #rebalancer: Rebalancer;
  readonly #queue: MendQueue;
  readonly #sweeper: Sweeper;
  readonly #scrubber: Scrubber;
  readonly #numbers: SegmentNumbers;
  readonly #stamps: IndexStamps;
  readonly #drives: Drives;
  readonly #writer: BlobWriter;
  readonly #listeners = new Set<LayoutListener>();
  readonly #background = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** Drives of which a failure is being looked into: one is told of by many reads at once. */
  readonly #failing = new Set<number>();
  #serial: Promise<unknown> = Promise.resolve();
  #layout: Layout = { version: 0, drives: [], rings: [], defaultPolicy: null, encryption: NO_ENCRYPTION };
  #encryption = NO_ENCRYPTION;
  #defaultPolicy: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isTicking = false;
  #isAssessing = false;
  #isSweeping = false;
  #nextSweepAt: number;

  private constructor(options: KeeperOptions) {
    this.#options = options;
    const now = options.now ?? Date.now;
    const { index } = options;
    const change = <T>(work: (tx: Transaction) => T) => index.change(work);
    const tell = (event: KeeperEvent) => options.onEvent?.(event);
    this.#state = new KeeperState({ change, reader: index.reader.db, now, tell });
    this.#roster = new Roster(this.#state, {
      lostAfterMs: options.lostAfterMs ?? LOST_AFTER_MS,
      retryMs: options.retryMs ?? RETRY_MS,
    });
    this.#stamps = new IndexStamps(this.#state, options.acceptsAnyIndex ?? false);
    this.#queue = new MendQueue(this.#state, options.workers);
    this.#rebalancer = new Rebalancer({
      state: this.#state,
      roster: this.#roster,
      queue: this.#queue,
      expansionPercent: options.expansionPercent,
    });
    this.#numbers = new SegmentNumbers((drive, count) => change((db) => takeSegmentNumbers(db, drive, count)));
    this.#drives = new Drives({
      nextSegment: (drive) => this.nextSegment(drive),
      onDriveFailure: (drive, error) => this.driveFailed(drive, error.message),
    });
    this.#writer = new BlobWriter({ layout: () => this.#layout, drives: this.#drives });
    this.#sweeper = new Sweeper({
      state: this.#state,
      drives: this.#drives,
      numbers: this.#numbers,
      workers: options.workers,
      graceMs: options.segmentGraceMs ?? SEGMENT_GRACE_MS,
      onError: (error) => options.onError?.(error),
    });
    this.#scrubber = new Scrubber(this.#state, this.#queue, options.scrubPeriodMs ?? SCRUB_PERIOD_MS);
    this.#nextSweepAt = now() + Math.min(options.sweepMs ?? SWEEP_MS, FIRST_SWEEP_MS);
  }

  /** Drives are looked for at the first `follow`. */
  static async open(options: KeeperOptions): Promise<Keeper> {
    await options.index.change(numberIndex);
    const keeper = new Keeper(options);
    keeper.#state.reload();
    return keeper;
  }

  /** Brings drives and policies in line with what the array was told to have. Resolves when all threads know. */
  follow(wanted: Wanted): Promise<void> {
    return this.#inTurn(async () => {
      await this.#roster.followPolicies(wanted.policies);
      await this.#roster.followDrives(wanted.drives);
      const name = wanted.defaultPolicy ?? wanted.policies[0]?.name;
      this.#defaultPolicy = name === undefined ? null : this.#state.policyNamed(name).index;
      this.#state.isDirty = true;
      await this.#look();
      if (this.#timer === undefined) await this.#stamps.demand();
      await this.#advance();
      await this.#stamps.writeInTime();
      this.#timer ??= setInterval(() => this.#tick(), this.#options.tickMs ?? TICK_MS).unref();
    });
  }

  layout(): Layout {
    return this.#layout;
  }

  /** Called with every new layout and waited for: only then is the old one given up. Returns how to stop it. */
  onLayout(listener: LayoutListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Keys that blobs are encrypted with: kept in memory only. */
  setEncryption(encryption: EncryptionState): Promise<void> {
    return this.#inTurn(async () => {
      this.#encryption = encryption;
      this.#state.isDirty = true;
      await this.#publish();
    });
  }

  report(): KeeperReport {
    return reportOf(this.#state, this.#rebalancer, (drive) => this.#drives.get(drive)?.usedBytes ?? 0);
  }

  /** Puts small bodies on the drives, for threads that leave theirs to this one: see `stagingCommit`. */
  stage(policy: number, bytes: Uint8Array): Promise<StagedBlob[]> {
    return this.#writer.stage(policy, bytes);
  }

  /** What this thread did on each drive since it was opened here. */
  activity(): ReadonlyMap<number, DriveActivity> {
    return this.#drives.activity();
  }

  /** A number that no segment of the drive ever had. */
  nextSegment(drive: number): Promise<number> {
    return this.#numbers.next(drive);
  }

  /** A thread could not use a drive. */
  driveFailed(number: number, reason: string): void {
    if (this.#closing.signal.aborted || this.#failing.has(number) || !this.#state.isLive(number)) return;
    this.#failing.add(number);
    const turn = this.#inTurn(async () => {
      await this.#look();
      this.#roster.failed(number, reason);
      await this.#advance();
    });
    this.#inBackground(turn.finally(() => this.#failing.delete(number)));
  }

  /** A read found a piece missing or damaged: the partition is read whole and mended. */
  onDamage(partition: number): void {
    if (this.#closing.signal.aborted || this.#state.partitions.marked.get(partition)?.doubted) return;
    this.#inBackground(
      this.#state
        .change((db) => doubtPartition(db, partition))
        .then(() => {
          this.#state.readMarks();
          this.#queue.kick();
        }),
    );
  }

  /**
   * Moves everything away from drives of a policy and resolves when nothing is on them. Asked again for drives that are
   * leaving already, it waits for them. An abort ends the waiting, not the moving.
   */
  async removeDrives(
    policyName: string,
    uuids: readonly string[],
    onProgress: (done: number) => void = () => undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#inTurn(async () => {
      const policy = this.#state.policyNamed(policyName);
      await this.#roster.startLeaving(policy.index, uuids, (drive) => this.#drives.get(drive)?.usedBytes ?? 0);
      await this.#advance();
    });
    const numbers = () => this.#state.drives.filter((row) => uuids.includes(row.uuid) && row.stage === 'leaving');
    const liveNow = () => numbers().reduce((sum, row) => sum + liveOn(this.#state.reader, row.number), 0);
    const atFirst = Math.max(liveNow(), 1);
    while (numbers().length > 0) {
      onProgress(Math.max(0, 1 - liveNow() / atFirst));
      await this.#pause(signal);
    }
    onProgress(1);
  }

  /** Reads every piece of everything now and mends what is damaged. */
  scrub(): Promise<ScrubResult> {
    return this.#scrubber.all();
  }

  /** Gives back the room of dead pieces now, as far as nobody may need them. */
  sweep(): Promise<SweepResult> {
    return this.#sweeper.sweep();
  }

  /** Ends its own work, and with it what it asks of other threads. Small bodies are still taken. */
  async rest(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    this.#sweeper.close();
    await this.#queue.close();
    await this.#serial.catch(() => undefined);
    await Promise.allSettled(this.#background);
  }

  async close(): Promise<void> {
    await this.rest();
    await this.#stamps.write().catch((error: unknown) => this.#options.onError?.(error as Error));
    await this.#drives.close();
  }

  #tick(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    const turn = this.#inTurn(async () => {
      await this.#look();
      for (const [drive, problem] of await this.#stamps.compare()) this.#roster.failed(drive, problem);
      await this.#advance();
      await this.#stamps.writeInTime();
    });
    this.#inBackground(turn.finally(() => (this.#isTicking = false)));
    this.#inBackground(this.#scrubber.tick());
    this.#inBackground(this.#assess());
    this.#inBackground(this.#sweepInTime());
  }

  async #look(): Promise<void> {
    const sights = await this.#roster.look();
    for (const { row, sight } of sights) await this.#roster.apply(row, sight);
    await this.#roster.giveUpLost();
  }

  async #advance(): Promise<void> {
    this.#state.readMarks();
    await this.#rebalancer.advance();
    await this.#publish();
    this.#queue.kick();
  }

  /** Tells everybody, and waits until they know. */
  async #publish(): Promise<void> {
    if (!this.#state.isDirty) return;
    this.#state.isDirty = false;
    this.#queue.hold();
    try {
      const layout = this.#build(() => ({}));
      this.#options.index.useLayout(layout, isIn);
      await this.#drives.update(layout);
      this.#layout = this.#build((drive) => {
        const usedBytes = this.#drives.get(drive)?.usedCounter;
        return usedBytes ? { usedBytes } : {};
      });
      await Promise.all([...this.#listeners].map(async (listener) => listener(this.#layout)));
      this.#queue.release();
    } catch (error) {
      this.#state.isDirty = true;
      throw error;
    }
  }

  #build(more: (drive: number) => Pick<LayoutDrive, 'usedBytes'>): Layout {
    return {
      version: this.#layout.version + 1,
      drives: this.#state.drives.map(({ number, uuid, folder, node, zone, capacity, policy, stage }) => ({
        number,
        uuid,
        folder,
        node,
        zone,
        capacity,
        policy,
        state: stateOf(this.#state.isLive(number), stage),
        ...more(number),
      })),
      rings: this.#state.ringsForThreads(),
      defaultPolicy: this.#defaultPolicy,
      encryption: this.#encryption,
    };
  }

  /** Looks where the blobs of marked partitions are, so that their state is known exactly. */
  async #assess(): Promise<void> {
    if (this.#isAssessing) return;
    this.#isAssessing = true;
    try {
      for (const { partition, mark } of this.#state.partitions.unknown()) {
        if (this.#closing.signal.aborted) return;
        this.#state.partitions.setSpreads(partition, mark, await findSpreads(this.#state.reader, partition));
      }
    } finally {
      this.#isAssessing = false;
    }
  }

  async #sweepInTime(): Promise<void> {
    const startedAt = this.#state.now();
    if (this.#isSweeping || startedAt < this.#nextSweepAt || this.#options.workers().length === 0) return;
    this.#isSweeping = true;
    try {
      await this.#sweeper.sweep();
    } finally {
      const took = this.#state.now() - startedAt;
      this.#nextSweepAt = this.#state.now() + Math.max(this.#options.sweepMs ?? SWEEP_MS, took * SWEEP_SHARE);
      this.#isSweeping = false;
    }
  }

  async #pause(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#closing.signal.aborted) throw new ObjectError('closed', 'The keeper is closed.');
    await new Promise((resolve) => setTimeout(resolve, Math.min(this.#options.tickMs ?? TICK_MS, 200)));
  }

  /** One change of drives and rings at a time. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#serial.then(() => {
      if (this.#closing.signal.aborted) throw new ObjectError('closed', 'The keeper is closed.');
      return work();
    });
    this.#serial = turn.catch(() => undefined);
    return turn;
  }

  #inBackground(work: Promise<void>): void {
    const job = work
      .catch((error: unknown) => {
        if (!this.#closing.signal.aborted) this.#options.onError?.(error as Error);
      })
      .finally(() => this.#background.delete(job));
    this.#background.add(job);
  }
}

function stateOf(isLive: boolean, stage: string): LayoutDrive['state'] {
  if (!isLive) return 'absent';
  return stage === 'leaving' || stage === 'left' ? 'leaving' : 'normal';
}
