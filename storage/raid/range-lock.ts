import assert from 'node:assert/strict';

export interface HeldRange {
  readonly start: number;
  readonly end: number;
}

interface WaitingRange extends HeldRange {
  readonly grant: () => void;
}

/** Lets one operation at a time into any part of a range of rows; those who wait are let in by turns. */
export class RangeLock {
  readonly #held: HeldRange[] = [];
  readonly #waiting: WaitingRange[] = [];

  isFree(start: number, count: number): boolean {
    if (this.#held.length === 0) return true;
    const end = start + count;
    return !overlapsAny(this.#held, start, end) && !overlapsAny(this.#waiting, start, end);
  }

  /** The caller has just seen that the range is free. */
  take(start: number, count: number): HeldRange {
    const range = { start, end: start + count };
    this.#held.push(range);
    return range;
  }

  async acquire(start: number, count: number): Promise<HeldRange> {
    if (this.isFree(start, count)) return this.take(start, count);
    return new Promise((resolve) => {
      const range: WaitingRange = { start, end: start + count, grant: () => resolve(range) };
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

  #grantNext(): void {
    for (let index = 0; index < this.#waiting.length;) {
      const range = this.#waiting[index] as WaitingRange;
      const isBlocked =
        overlapsAny(this.#held, range.start, range.end) || overlapsAny(this.#waiting, range.start, range.end, index);
      if (isBlocked) {
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
