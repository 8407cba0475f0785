import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';

const IDLE_POLL_MS = 2;

interface Generation {
  readers: number;
  /** Retired while readers of this generation may still read them. */
  readonly retired: number[];
}

/**
 * Delays the reuse of an extent while a read of its old content is in flight. Readers belong to the generation that was
 * current when they began; retired extents are released once that generation and all before it have finished.
 */
export class Readers {
  readonly #release: (extent: number) => void;
  readonly #generations: Generation[] = [];
  #current: Generation = { readers: 0, retired: [] };

  constructor(release: (extent: number) => void) {
    this.#release = release;
  }

  async during(work: Promise<void>): Promise<void> {
    const generation = this.#current;
    generation.readers++;
    try {
      await work;
    } finally {
      assert.ok(generation.readers > 0, 'a reader leaves its generation once');
      generation.readers--;
      if (generation.readers === 0) this.#releaseUnread();
    }
  }

  retire(extents: readonly number[]): void {
    for (const extent of extents) this.#current.retired.push(extent);
    this.#generations.push(this.#current);
    this.#current = { readers: 0, retired: [] };
    this.#releaseUnread();
  }

  /** Resolves when no retired extent is being read. */
  async idle(): Promise<void> {
    while (this.waiting > 0) await setTimeout(IDLE_POLL_MS);
  }

  get waiting(): number {
    return this.#generations.reduce((sum, generation) => sum + generation.retired.length, 0);
  }

  #releaseUnread(): void {
    for (let oldest = this.#generations[0]; oldest?.readers === 0; oldest = this.#generations[0]) {
      for (const extent of oldest.retired) this.#release(extent);
      this.#generations.shift();
    }
  }
}
