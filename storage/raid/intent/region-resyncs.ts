import { isNoSpace } from '../../errors.ts';
import type { RangeLock } from '../../range-lock.ts';
import { DeferredWrites, type RowTarget } from '../journal/deferred-writes.ts';
import { BATCH_ROWS, type Layout } from '../layout.ts';
import type { Strategy } from '../strategy.ts';
import type { RegionSet } from './region-set.ts';

/** The group whose regions are resynced. */
interface ResyncedGroup extends RowTarget {
  readonly layout: Layout;
  readonly locks: RangeLock;
  readonly strategy: Strategy;
  readonly unsynced: RegionSet;
  readonly counters: { resyncedRegions: number };
  readonly startWork: () => void;
  readonly wasMissing: (slot: number, row: number) => boolean;
  rowsOf(region: number): { readonly first: number; readonly end: number };
  isOpen(): boolean;
  enter(): Promise<void>;
  whileHeld(work: () => Promise<void>): Promise<void>;
}

/** Resyncs regions in which a crash, or a full disk, left a write incomplete. */
export class RegionResyncs {
  readonly deferred: DeferredWrites;
  readonly #core: ResyncedGroup;
  readonly #running = new Map<number, Promise<void>>();
  /** Regions where a full disk refused part of a write to a stripe with all members present. */
  readonly #torn = new Set<number>();

  constructor(core: ResyncedGroup) {
    this.#core = core;
    this.deferred = new DeferredWrites(core);
  }

  /**
   * A write to these rows was refused partway; the caller still holds them. With `torn`, parity is as after a crash.
   */
  leaveUnsynced(row: number, torn: boolean): void {
    const region = this.#core.regionOf(row);
    this.#core.unsynced.add(region);
    if (torn) this.#torn.add(region);
    for (const successor of this.#core.membership.successors) successor?.fillAgain(region);
    // Most often that needs no space: the part that was written is undone.
    this.#core.startWork();
  }

  /** Whether part of a write to this region was refused and not repaired since. */
  isTorn(row: number): boolean {
    return this.#torn.has(this.#core.regionOf(row));
  }

  /**
   * Whether the stripe lacked this member at the crash: then all writes went through the journal, and the stripe is
   * consistent.
   */
  wasConsistent(slot: number, row: number): boolean {
    return !this.#torn.has(this.#core.regionOf(row)) && this.#core.wasMissing(slot, row);
  }

  /** Resyncs one region after a crash. Concurrent callers share the work. */
  async run(region: number): Promise<void> {
    const running = this.#running.get(region);
    if (running === undefined) return this.#start(region);
    try {
      await running;
    } catch (error) {
      if (!isNoSpace(error)) throw error;
      // That resync started before this call: space may have been freed since.
      await (this.#running.get(region) ?? this.#start(region));
    }
  }

  #start(region: number): Promise<void> {
    const resyncing = this.#resyncByBatches(region).finally(() => this.#running.delete(region));
    this.#running.set(region, resyncing);
    return resyncing;
  }

  /** Applies the deferred writes; throws when the disk is still full. */
  async applyDeferred(): Promise<void> {
    for (const region of this.deferred.regions()) await this.run(region);
  }

  /** False when the disk is too full to resync and the caller accepts that. */
  async tryRun(region: number, canDoWithout: boolean): Promise<boolean> {
    try {
      await this.run(region);
      return true;
    } catch (error) {
      if (canDoWithout && isNoSpace(error)) return false;
      throw error;
    }
  }

  async #resyncByBatches(region: number): Promise<void> {
    await Promise.resolve();
    const { first, end } = this.#core.rowsOf(region);
    if (this.deferred.has(region)) {
      await this.#alone(region, first, end, () => this.deferred.apply(region));
      if (!this.#torn.has(region)) {
        this.#synced(region);
        return;
      }
    }
    for (let row = first; row < end; row += BATCH_ROWS) {
      const next = Math.min(row + BATCH_ROWS, end);
      await this.#alone(region, row, next, () => this.#core.strategy.resync(row, next - row));
    }
    await this.#core.enter();
    this.#synced(region);
  }

  /** Operations may still be in flight in a region that has just become unsynced. */
  async #alone(region: number, row: number, end: number, work: () => Promise<void>): Promise<void> {
    const range = await this.#core.locks.acquire(row, end);
    try {
      while (!this.#core.isOpen()) await this.#core.enter();
      if (!this.#core.unsynced.has(region)) return;
      await this.#core.whileHeld(work);
    } finally {
      this.#core.locks.release(range);
    }
  }

  #synced(region: number): void {
    this.#torn.delete(region);
    if (this.#core.unsynced.delete(region)) this.#core.counters.resyncedRegions += 1;
  }

  /** Parity can only be corrected while it is known which members were present at the crash. */
  async beforeChange(): Promise<void> {
    if (this.#core.layout.level !== 'RAID6') return;
    for (const region of [...this.#core.unsynced]) {
      const { first, end } = this.#core.rowsOf(region);
      const isDeferred = this.deferred.has(region);
      if (isDeferred) await this.deferred.apply(region);
      for (let row = first; row < end && (!isDeferred || this.#torn.has(region)); row += BATCH_ROWS) {
        await this.#core.strategy.resync(row, Math.min(BATCH_ROWS, end - row));
      }
      if (this.#core.membership.failure !== undefined) return;
      this.#synced(region);
    }
  }
}
