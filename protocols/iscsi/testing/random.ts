/** A small seeded generator: a failing run is replayed by its seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** A whole number from 0 to `below` - 1. */
  below(below: number): number {
    this.#state = (this.#state + 0x9e3779b9) >>> 0;
    return scramble(this.#state) % below;
  }

  /** A whole number from 1 to `most`, small ones as often as large ones. */
  size(most: number): number {
    const limit = 2 ** this.below(Math.floor(Math.log2(most)) + 1);
    return Math.min(limit + this.below(limit), most);
  }
}

/** A number that looks nothing like the one it is made from. */
export function scramble(value: number): number {
  let mixed = value | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
