import type { Done } from './units.ts';

interface Hold {
  readonly start: number;
  readonly end: number;
  granted: (() => void) | undefined;
}

/**
 * Keeps overlapping ranges apart, first come first served. A newcomer also waits behind ranges that still wait, so a
 * wide range is not starved by a stream of narrow ones. Work that finishes at once never enters the list: nothing else
 * can run in between.
 */
export class RangeLock {
  readonly #holds: Hold[] = [];

  /** Runs `work` when nothing overlapping runs any more. */
  run(start: number, end: number, work: () => Done): Done {
    if (!this.isFree(start, end)) return this.#queue(start, end, work);
    const done = work();
    if (!done) return undefined;
    const hold: Hold = { start, end, granted: undefined };
    this.#holds.push(hold);
    return this.#releaseAfter(hold, done);
  }

  isFree(start: number, end: number): boolean {
    for (const hold of this.#holds) {
      if (hold.start < end && start < hold.end) return false;
    }
    return true;
  }

  /** How many ranges are held or waited for. */
  get size(): number {
    return this.#holds.length;
  }

  async #queue(start: number, end: number, work: () => Done): Promise<void> {
    const hold: Hold = { start, end, granted: undefined };
    const granted = new Promise<void>((resolve) => (hold.granted = resolve));
    this.#holds.push(hold);
    await granted;
    await this.#releaseAfter(hold, (async () => await work())());
  }

  async #releaseAfter(hold: Hold, done: Promise<void>): Promise<void> {
    try {
      await done;
    } finally {
      this.#holds.splice(this.#holds.indexOf(hold), 1);
      this.#grant();
    }
  }

  #grant(): void {
    for (const [index, hold] of this.#holds.entries()) {
      if (!hold.granted) continue;
      const blocked = this.#holds.slice(0, index).some((other) => other.start < hold.end && hold.start < other.end);
      if (blocked) continue;
      hold.granted();
      hold.granted = undefined;
    }
  }
}
