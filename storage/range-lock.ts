import assert from 'node:assert/strict';
import type { Done } from './units.ts';

export interface HeldRange {
  readonly start: number;
  readonly end: number;
}

interface WaitingRange extends HeldRange {
  readonly grant: () => void;
}

/**
 * Excludes overlapping ranges, first come first served. A new range also waits behind waiting ranges, so a wide range
 * is not starved by a stream of narrow ones.
 */
export class RangeLock {
  readonly #held: HeldRange[] = [];
  readonly #waiting: WaitingRange[] = [];

  /** Ranges held or waiting. */
  get size(): number {
    return this.#held.length + this.#waiting.length;
  }

  isFree(start: number, end: number): boolean {
    if (this.#held.length === 0) return true;
    return !overlapsAny(this.#held, start, end) && !overlapsAny(this.#waiting, start, end);
  }

  /** Holds a range that the caller has checked to be free. */
  hold(start: number, end: number): HeldRange {
    const range = { start, end };
    this.#held.push(range);
    return range;
  }

  async acquire(start: number, end: number): Promise<HeldRange> {
    if (this.isFree(start, end)) return this.hold(start, end);
    return new Promise((resolve) => {
      const range: WaitingRange = { start, end, grant: () => resolve(range) };
      this.#waiting.push(range);
    });
  }

  release(range: HeldRange): void {
    const index = this.#held.indexOf(range);
    assert.ok(index >= 0, 'only a held range is released');
    const last = this.#held.pop();
    if (last !== undefined && index < this.#held.length) this.#held[index] = last;
    if (this.#waiting.length > 0) this.#grantNext();
  }

  /**
   * Runs `work` when no overlapping range is held. Work that completes synchronously never enters the list: nothing
   * else can run in between.
   */
  run(start: number, end: number, work: () => Done): Done {
    if (!this.isFree(start, end)) return this.#runLater(start, end, work);
    const done = work();
    return done && this.#releaseAfter(this.hold(start, end), done);
  }

  async #runLater(start: number, end: number, work: () => Done): Promise<void> {
    const range = await this.acquire(start, end);
    await this.#releaseAfter(range, (async () => work())());
  }

  async #releaseAfter(range: HeldRange, done: Promise<void>): Promise<void> {
    try {
      await done;
    } finally {
      this.release(range);
    }
  }

  #grantNext(): void {
    for (let index = 0; index < this.#waiting.length;) {
      const range = this.#waiting[index] as WaitingRange;
      const { start, end } = range;
      if (overlapsAny(this.#held, start, end) || overlapsAny(this.#waiting, start, end, index)) {
        index += 1;
        continue;
      }
      this.#waiting.splice(index, 1);
      this.#held.push(range);
      range.grant();
    }
  }
}

function overlapsAny(ranges: readonly HeldRange[], start: number, end: number, count = ranges.length): boolean {
  for (let index = 0; index < count; index += 1) {
    const range = ranges[index] as HeldRange;
    if (range.start < end && start < range.end) return true;
  }
  return false;
}
