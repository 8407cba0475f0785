import { rounds } from '../../../testing/effort.ts';

/** A small seeded source of numbers, so that a failing run can be repeated. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function pick<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

export function below(random: () => number, bound: number): number {
  return Math.floor(random() * bound);
}

/** How many seeds a test tries. */
export function seedCount(usual: number): number {
  return rounds({ quick: 1, long: usual, torture: usual * 20 });
}
