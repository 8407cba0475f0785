/** What memory gives at the least. */
const BYTES_PER_MS = 2 * 1024 * 1024;
const WAIT_REQUESTS = 8;
const WAIT_MS = 6;
const FACTOR_MAX = 512;
const FORGIVE_AFTER = 32;

/**
 * Decides whether a small request is done on the spot. As long as the machine answers from memory that is several times
 * cheaper than a thread-pool hop; once a call had to wait for the disk, the event loop must not be held up again, so
 * requests take the asynchronous way for a while, and for longer each time it happens again. The first time it is a
 * moment only: a thread whose processor was given to another looks the same.
 */
export class InlineGate {
  readonly #slowMs: number;
  #open = true;
  #factor = 1;
  #fastInARow = 0;
  #requestsLeft = 0;
  #retryAtMs = 0;

  /** A call that takes longer than this, and what its bytes take in memory, has waited for the disk. */
  constructor(slowMs: number) {
    this.#slowMs = slowMs;
  }

  allows(nowMs: number): boolean {
    if (this.#open) return true;
    this.#requestsLeft -= 1;
    if (this.#requestsLeft > 0 && nowMs < this.#retryAtMs) return false;
    this.#open = true;
    return true;
  }

  took(milliseconds: number, nowMs: number, bytes = 0): void {
    if (milliseconds > this.#slowMs + bytes / BYTES_PER_MS) {
      this.#open = false;
      this.#fastInARow = 0;
      this.#requestsLeft = WAIT_REQUESTS * this.#factor;
      this.#retryAtMs = nowMs + WAIT_MS * this.#factor;
      this.#factor = Math.min(this.#factor * 2, FACTOR_MAX);
      return;
    }
    if (this.#factor === 1) return;
    this.#fastInARow += 1;
    if (this.#fastInARow < FORGIVE_AFTER) return;
    this.#fastInARow = 0;
    this.#factor = 1;
  }
}
