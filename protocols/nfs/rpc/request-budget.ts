/** Counts the bytes of requests and replies under way on all connections: while there are too many, none is read from. */
export class RequestBudget {
  readonly #bytesMax: number;
  readonly #waiting = new Set<() => void>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get isSpent(): boolean {
    return this.#bytes >= this.#bytesMax;
  }

  reserve(bytes: number): void {
    this.#bytes += bytes;
  }

  release(bytes: number): void {
    this.#bytes -= bytes;
    if (this.isSpent || this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const resume of waiting) resume();
  }

  /** Calls once when there is room again. */
  whenFree(resume: () => void): void {
    this.#waiting.add(resume);
  }

  drop(resume: () => void): void {
    this.#waiting.delete(resume);
  }
}
