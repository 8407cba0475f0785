/**
 * Lends a list for checksums, and lends it again: memory for those of a large request costs more than all else that is
 * done between two of them.
 */
export class SpareSums {
  #spare: Uint32Array | undefined;

  /** With whatever was in it. */
  acquire(count: number): Uint32Array {
    const spare = this.#spare;
    if (spare?.length !== count) return new Uint32Array(count);
    this.#spare = undefined;
    return spare;
  }

  release(sums: Uint32Array): void {
    this.#spare = sums;
  }
}
