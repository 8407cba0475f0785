import { isNoSpace, StorageError } from '../../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { BATCH_ROWS } from '../layout.ts';
import type { GroupCore } from '../core.ts';
import type { Examination } from '../strategy.ts';

export interface ScrubOptions {
  /** Where to begin, as a fraction of the group: what lies before was scrubbed earlier. */
  readonly from?: number;
  readonly onProgress?: (fraction: number) => void;
  readonly signal?: AbortSignal;
}

export interface ScrubState {
  readonly isRunning: boolean;
  readonly isPaused: boolean;
  readonly progress: number;
  /** Of the current run, or the last one. */
  readonly mismatches: number;
  readonly repaired: number;
  readonly lost: number;
  readonly finishedRuns: number;
}

/** Reads everything that was written, compares and repairs. One run at a time. */
export class GroupScrubber {
  readonly #core: GroupCore;
  #result: Examination = { mismatches: 0, repaired: 0, lost: 0 };
  #isRunning = false;
  #progress = 0;
  #finishedRuns = 0;
  #paused: { readonly until: Promise<void>; readonly resume: () => void } | undefined;

  constructor(core: GroupCore) {
    this.#core = core;
  }

  state(): ScrubState {
    return {
      isRunning: this.#isRunning,
      isPaused: this.#paused !== undefined,
      progress: this.#progress,
      ...this.#result,
      finishedRuns: this.#finishedRuns,
    };
  }

  pause(): void {
    if (this.#paused !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<undefined>();
    this.#paused = { until: promise, resume: () => resolve(undefined) };
  }

  resume(): void {
    this.#paused?.resume();
    this.#paused = undefined;
  }

  /** Members that do not match are failed by `verifyMembers` first, so that they are not used as a source. */
  async run(
    options: ScrubOptions = {},
    verifyMembers: () => Promise<void> = () => Promise.resolve(),
  ): Promise<Examination> {
    if (this.#isRunning) {
      throw new StorageError('conflict', `Group ${this.#core.id} is being scrubbed already; wait until that is done.`);
    }
    this.#isRunning = true;
    const { regions } = this.#core.layout;
    const first = Math.floor(Math.min(1, Math.max(0, options.from ?? 0)) * regions);
    this.#progress = first / regions;
    this.#result = { mismatches: 0, repaired: 0, lost: 0 };
    const onAbort = () => this.resume();
    options.signal?.addEventListener('abort', onAbort);
    try {
      refuseIfCancelled(this.#core.id, options.signal);
      await verifyMembers();
      for (let region = first; region < regions; region += 1) {
        await this.#scrubRegion(region, options.signal);
        this.#progress = (region + 1) / regions;
        options.onProgress?.(this.#progress);
      }
      this.#finishedRuns += 1;
      return { ...this.#result };
    } catch (error) {
      if (isNoSpace(error)) this.#core.emit({ type: 'no-space', work: 'scrub', reason: error.message });
      throw error;
    } finally {
      options.signal?.removeEventListener('abort', onAbort);
      this.#isRunning = false;
    }
  }

  async #scrubRegion(region: number, signal: AbortSignal | undefined): Promise<void> {
    refuseIfCancelled(this.#core.id, signal);
    if (await this.#core.isUnused(region)) return;
    const { first, end } = this.#core.rowsOf(region);
    let repaired = await this.#auditChecksums(region);
    this.#result.mismatches += repaired;
    const repairedRows: number[] = [];
    for (let row = first; row < end; row += BATCH_ROWS) {
      const count = Math.min(BATCH_ROWS, end - row);
      await this.#core.throttle.pace(count * BLOCK_BYTES);
      while (this.#paused !== undefined && signal?.aborted !== true) await this.#paused.until;
      refuseIfCancelled(this.#core.id, signal);
      const found = await examineRows(this.#core, row, count, true);
      this.#result.mismatches += found.mismatches;
      this.#result.lost += found.lost;
      repaired += found.repaired;
      if (found.repaired > 0) repairedRows.push(row);
    }
    if (repaired > 0) this.#result.repaired += Math.max(0, repaired - (await this.#stillWrong(region, repairedRows)));
  }

  /** Compares the checksums in memory with those on the drives; returns the number of blocks that differ. */
  async #auditChecksums(region: number): Promise<number> {
    const { checksums, membership } = this.#core;
    let differing = 0;
    for (const member of membership.writers) {
      if (member.holdsRegion(region)) differing += (await checksums.audit(member, region)).length;
    }
    return differing;
  }

  /** Counts as repaired what reads back correctly, including checksums. */
  async #stillWrong(region: number, rows: readonly number[]): Promise<number> {
    await this.#core.flushMembers();
    let wrong = await this.#auditChecksums(region);
    const { end } = this.#core.rowsOf(region);
    for (const row of rows) {
      const { mismatches, lost } = await examineRows(this.#core, row, Math.min(BATCH_ROWS, end - row), false);
      wrong += mismatches - lost;
    }
    return wrong;
  }
}

function refuseIfCancelled(id: string, signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  throw new StorageError('cancelled', `The scrub of group ${id} was cancelled; start it again.`);
}

/** Examines rows while holding them exclusively. */
export async function examineRows(core: GroupCore, row: number, count: number, repair: boolean): Promise<Examination> {
  const range = await core.begin(row, count, false);
  try {
    return await core.strategy.examine(row, count, repair);
  } finally {
    core.end(range);
  }
}
