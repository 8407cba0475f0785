import type { TestContext } from 'node:test';

/** Numbers in [0, 1) that the seed determines: a failing run is replayed by its seed. */
export function randomFrom(seed: number): () => number {
  const next = bitsFrom(seed);
  return () => next() / 2 ** 32;
}

/** Numbers in [0, 1) that `GRANARY_TEST_SEED` replays. */
export function seededRandom(t: TestContext): () => number {
  const seed = Number(process.env['GRANARY_TEST_SEED'] ?? Date.now() % 2 ** 32);
  t.diagnostic(`GRANARY_TEST_SEED=${seed}`);
  return randomFrom(seed);
}

export function pick<T>(random: () => number, list: readonly T[]): T {
  return list[below(random, list.length)] as T;
}

export function below(random: () => number, bound: number): number {
  return Math.floor(random() * bound);
}

/** Whole numbers that the seed determines. */
export class Random {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = bitsFrom(seed);
  }

  /** From 0 to `bound` - 1. */
  below(bound: number): number {
    return this.#next() % bound;
  }

  /** From 1 to `most`, small ones as often as large ones. */
  size(most: number): number {
    const limit = 2 ** this.below(Math.floor(Math.log2(most)) + 1);
    return Math.min(limit + this.below(limit), most);
  }

  /** Undefined if there are none. */
  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(Math.max(items.length, 1))];
  }
}

/** A hash of 32 bits: neighbouring numbers give unrelated ones. */
export function scramble(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Mulberry32. */
function bitsFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  };
}
