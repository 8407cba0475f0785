/** Reuses one array of checksums: allocating one for a large request costs more than the rest of the request. */
export class SpareSums {
  #spare: Uint32Array | undefined;

  /** Its contents are undefined. */
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
