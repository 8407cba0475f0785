/** Recently unpacked chunks by address, with LRU eviction. */
export class ChunkCache {
  readonly #chunksMax: number;
  readonly #chunks = new Map<number, Buffer>();

  constructor(chunksMax: number) {
    this.#chunksMax = chunksMax;
  }

  get(address: number): Buffer | undefined {
    const chunk = this.#chunks.get(address);
    if (!chunk) return undefined;
    this.#chunks.delete(address);
    this.#chunks.set(address, chunk);
    return chunk;
  }

  put(address: number, chunk: Buffer): void {
    this.#chunks.delete(address);
    this.#chunks.set(address, chunk);
    if (this.#chunks.size <= this.#chunksMax) return;
    for (const oldest of this.#chunks.keys()) {
      this.#chunks.delete(oldest);
      return;
    }
  }

  /** The address is reused for other bytes. */
  drop(address: number): void {
    this.#chunks.delete(address);
  }
}
