/** Counts changes in memory that threads share: what one of them remembers is good for one count. */
export class Epoch {
  /** For `workerData`: another thread's `Epoch` over it counts the same. */
  readonly memory: SharedArrayBuffer;
  readonly #count: Int32Array;

  constructor(memory = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)) {
    this.memory = memory;
    this.#count = new Int32Array(memory);
  }

  get count(): number {
    return Atomics.load(this.#count, 0);
  }

  /** After a change can be read, and before it is acknowledged. */
  advance(): void {
    Atomics.add(this.#count, 0, 1);
  }
}
