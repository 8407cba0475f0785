/** A set of region numbers below a fixed bound, as a bitmap. */
export class RegionSet {
  readonly bound: number;
  readonly #words: Uint32Array;
  #size = 0;

  constructor(bound: number) {
    this.bound = bound;
    this.#words = new Uint32Array(Math.ceil(bound / 32));
  }

  get size(): number {
    return this.#size;
  }

  has(region: number): boolean {
    return this.#size > 0 && ((this.#words[region >>> 5] ?? 0) & (1 << (region & 31))) !== 0;
  }

  add(region: number): boolean {
    if (region >= this.bound || this.has(region)) return false;
    this.#words[region >>> 5] = (this.#words[region >>> 5] ?? 0) | (1 << (region & 31));
    this.#size += 1;
    return true;
  }

  delete(region: number): boolean {
    if (!this.has(region)) return false;
    this.#words[region >>> 5] = (this.#words[region >>> 5] ?? 0) & ~(1 << (region & 31));
    this.#size -= 1;
    return true;
  }

  addAll(regions: Iterable<number>): void {
    for (const region of regions) this.add(region);
  }

  clear(): void {
    this.#words.fill(0);
    this.#size = 0;
  }

  /** The lowest member from `start` on; -1 when there is none. */
  next(start: number): number {
    if (this.#size === 0) return -1;
    for (let index = start >>> 5; index < this.#words.length; index += 1) {
      let word = this.#words[index] ?? 0;
      if (index === start >>> 5) word &= -1 << (start & 31);
      if (word !== 0) return index * 32 + (31 - Math.clz32(word & -word));
    }
    return -1;
  }

  *[Symbol.iterator](): Generator<number> {
    for (let region = this.next(0); region !== -1; region = this.next(region + 1)) yield region;
  }

  copy(): RegionSet {
    const copy = new RegionSet(this.bound);
    copy.#words.set(this.#words);
    copy.#size = this.#size;
    return copy;
  }

  static from(bound: number, start: number): RegionSet {
    const set = new RegionSet(bound);
    for (let region = start; region < bound; region += 1) set.add(region);
    return set;
  }

  /** A part of the bitmap as it stands on a drive: bit `n` of byte `b` is region `first + 8b + n`. */
  writeBits(first: number, into: Buffer): void {
    const start = first / 32;
    for (let index = 0; index < into.length / 4; index += 1) {
      into.writeUInt32LE(this.#words[start + index] ?? 0, index * 4);
    }
  }

  addBits(first: number, from: Buffer): void {
    for (let at = 0; at < from.length; at += 1) {
      const byte = from[at] ?? 0;
      for (let bit = 0; byte >>> bit !== 0; bit += 1) {
        if (((byte >>> bit) & 1) === 1) this.add(first + at * 8 + bit);
      }
    }
  }
}
