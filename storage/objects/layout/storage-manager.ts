import type { StageOptions } from '../object-store.ts';
import type { Transaction } from '@granary/kernel/sqlite';
import { BlobWriter } from '../blobs/blob-writer.ts';
import type { DriveActivity } from '../drives/activity.ts';
import { OpenDrives } from '../drives/drives.ts';
import { ObjectError } from '../errors.ts';
import type { StagedBlob } from '../records.ts';
import { CompactionSchedule } from '../repair/compaction-schedule.ts';
import { Compactor, type CompactionResult } from '../repair/compactor.ts';
import { RepairQueue } from '../repair/repair-queue.ts';
import { Scrubber, type ScrubResult } from '../repair/scrubber.ts';
import { allocateSegmentNumbers, doubtPartition, liveOn, numberIndex } from './drive-catalogue.ts';
import { DriveRegistry } from './drive-registry.ts';
import { IndexStamps } from './index-stamps.ts';
import { LayoutPublisher } from './layout-publisher.ts';
import { LayoutState } from './layout-state.ts';
import type { EncryptionState, Layout } from './layout.ts';
import { DEFAULT_TIMES, type LayoutListener, type StorageManagerOptions, type Wanted } from './manager-options.ts';
import type { StorageEvent, StorageReport } from './manager-types.ts';
import { Rebalancer } from './rebalancer.ts';
import { reportOf } from './report.ts';
import { SegmentNumbers } from './segment-numbers.ts';
import { SpreadAssessor } from './spreads.ts';

/**
 * Knows the drives, decides where pieces belong and sees to it that they get there. Lives in the main thread; threads
 * get the layout from it and do its work on bytes. What it knows is in tables and marks of the index, so a start goes
 * on where the last one ended.
 */
export class StorageManager {
  readonly #options: StorageManagerOptions;
  readonly #state: LayoutState;
  readonly #registry: DriveRegistry;
  readonly #rebalancer: Rebalancer;
  readonly #queue: RepairQueue;
  readonly #compactor: Compactor;
  readonly #compaction: CompactionSchedule;
  readonly #spreads: SpreadAssessor;
  readonly #publisher: LayoutPublisher;
  readonly #scrubber: Scrubber;
  readonly #numbers: SegmentNumbers;
  readonly #stamps: IndexStamps;
  readonly #drives: OpenDrives;
  readonly #writer: BlobWriter;
  readonly #background = new Set<Promise<void>>();
  readonly #closing = new AbortController();
  /** Drives whose failure is being handled: many reads report the same one at once. */
  readonly #failing = new Set<number>();
  #serial: Promise<unknown> = Promise.resolve();
  #timer: NodeJS.Timeout | undefined;
  #isTicking = false;

  private constructor(options: StorageManagerOptions) {
    this.#options = options;
    const times = { ...DEFAULT_TIMES, ...options };
    const now = options.now ?? Date.now;
    const { index } = options;
    const change = <T>(work: (tx: Transaction) => T) => index.change(work);
    const publish = (event: StorageEvent) => options.onEvent?.(event);
    this.#state = new LayoutState({ change, reader: index.reader.db, now, publish });
    this.#registry = new DriveRegistry(this.#state, times);
    this.#stamps = new IndexStamps(this.#state, options.acceptsAnyIndex ?? false);
    this.#queue = new RepairQueue(this.#state, options.workers);
    this.#rebalancer = new Rebalancer({
      state: this.#state,
      registry: this.#registry,
      queue: this.#queue,
      expansionPercent: options.expansionPercent,
    });
    this.#numbers = new SegmentNumbers((drive, count) => change((db) => allocateSegmentNumbers(db, drive, count)));
    this.#drives = new OpenDrives({
      nextSegment: (drive) => this.nextSegment(drive),
      onDriveFailure: (drive, error) => this.driveFailed(drive, error.message),
    });
    this.#writer = new BlobWriter({ layout: () => this.#publisher.layout, drives: this.#drives });
    this.#compactor = new Compactor({
      state: this.#state,
      drives: this.#drives,
      numbers: this.#numbers,
      workers: options.workers,
      graceMs: times.segmentGraceMs,
      onError: (error) => options.onError?.(error),
    });
    this.#scrubber = new Scrubber(this.#state, this.#queue, times.scrubPeriodMs);
    this.#compaction = new CompactionSchedule({
      compactor: this.#compactor,
      periodMs: times.compactionMs,
      now,
      isPossible: () => options.workers().length > 0,
    });
    this.#spreads = new SpreadAssessor(this.#state, this.#closing.signal);
    this.#publisher = new LayoutPublisher({
      state: this.#state,
      index,
      drives: () => this.#drives,
      queue: this.#queue,
    });
  }

  /** Drives are looked for at the first `follow`. */
  static async open(options: StorageManagerOptions): Promise<StorageManager> {
    await options.index.change(numberIndex);
    const manager = new StorageManager(options);
    manager.#state.reload();
    return manager;
  }

  /** Reconciles drives and policies with the configuration. Resolves when all threads have the layout. */
  follow(wanted: Wanted): Promise<void> {
    return this.#serially(async () => {
      await this.#registry.followPolicies(wanted.policies);
      await this.#registry.followDrives(wanted.drives);
      const name = wanted.defaultPolicy ?? wanted.policies[0]?.name;
      this.#publisher.setDefaultPolicy(name === undefined ? null : this.#state.policyNamed(name).index);
      await this.#inspectDrives();
      if (this.#timer === undefined) await this.#stamps.demand();
      await this.#advance();
      await this.#stamps.writeInTime();
      this.#timer ??= setInterval(() => this.#tick(), this.#options.tickMs ?? DEFAULT_TIMES.tickMs).unref();
    });
  }

  layout(): Layout {
    return this.#publisher.layout;
  }

  /** Called with every new layout and waited for: only then is the old one given up. Returns how to stop it. */
  onLayout(listener: LayoutListener): () => void {
    return this.#publisher.onLayout(listener);
  }

  /** Keys that blobs are encrypted with: kept in memory only. */
  setEncryption(encryption: EncryptionState): Promise<void> {
    return this.#serially(async () => {
      this.#publisher.setEncryption(encryption);
      await this.#publisher.publish();
    });
  }

  report(): StorageReport {
    return reportOf(this.#state, this.#rebalancer, (drive) => this.#drives.get(drive)?.usedBytes ?? 0);
  }

  /** Puts small bodies on the drives, for threads that leave theirs to this one: see `stagingCommit`. */
  stage(policy: number, bytes: Uint8Array, options?: StageOptions): Promise<StagedBlob[]> {
    return this.#writer.stage(policy, bytes, bytes.length, options);
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
    const turn = this.#serially(async () => {
      await this.#inspectDrives();
      this.#registry.failed(number, reason);
      await this.#advance();
    });
    this.#inBackground(turn.finally(() => this.#failing.delete(number)));
  }

  /** A read found a piece missing or damaged: the partition is read whole and repaired. */
  onDamage(partition: number): void {
    if (this.#closing.signal.aborted || this.#state.partitions.marked.get(partition)?.doubted) return;
    this.#inBackground(
      this.#state
        .change((db) => doubtPartition(db, partition))
        .then(() => {
          this.#state.readMarks();
          this.#queue.startNext();
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
    await this.#serially(async () => {
      const policy = this.#state.policyNamed(policyName);
      await this.#registry.startLeaving(policy.index, uuids, (drive) => this.#drives.get(drive)?.usedBytes ?? 0);
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

  /** Reads every piece of everything now and repairs what is damaged. */
  scrub(): Promise<ScrubResult> {
    return this.#scrubber.all();
  }

  /** Frees the space of dead pieces now, except where a read or a commit may need them. */
  compact(): Promise<CompactionResult> {
    return this.#compactor.run();
  }

  /** Ends background work, also that in other threads. Small bodies are still accepted. */
  async stopBackgroundWork(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    this.#compactor.close();
    await this.#queue.close();
    await this.#serial.catch(() => undefined);
    await Promise.allSettled(this.#background);
  }

  async close(): Promise<void> {
    await this.stopBackgroundWork();
    await this.#stamps.write().catch((error: unknown) => this.#options.onError?.(error as Error));
    await this.#drives.close();
  }

  #tick(): void {
    if (this.#isTicking) return;
    this.#isTicking = true;
    const turn = this.#serially(async () => {
      await this.#inspectDrives();
      for (const [drive, problem] of await this.#stamps.compare()) this.#registry.failed(drive, problem);
      await this.#advance();
      await this.#stamps.writeInTime();
    });
    this.#inBackground(turn.finally(() => (this.#isTicking = false)));
    this.#inBackground(this.#scrubber.tick());
    this.#inBackground(this.#spreads.assess());
    this.#inBackground(this.#compaction.runWhenDue());
  }

  async #inspectDrives(): Promise<void> {
    const sights = await this.#registry.inspect();
    for (const { row, sight } of sights) await this.#registry.apply(row, sight);
    await this.#registry.replaceLost();
  }

  async #advance(): Promise<void> {
    this.#state.readMarks();
    await this.#rebalancer.advance();
    await this.#publisher.publish();
    this.#queue.startNext();
  }

  async #pause(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    if (this.#closing.signal.aborted) throw new ObjectError('closed', 'The storage manager is closed.');
    await new Promise((resolve) => setTimeout(resolve, Math.min(this.#options.tickMs ?? DEFAULT_TIMES.tickMs, 200)));
  }

  /** One change of drives and rings at a time. */
  #serially<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#serial.then(() => {
      if (this.#closing.signal.aborted) throw new ObjectError('closed', 'The storage manager is closed.');
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
