/** The minimum throughput of memory. */
const BYTES_PER_MS = 2 * 1024 * 1024;
const WAIT_REQUESTS = 8;
const WAIT_MS = 6;
const FACTOR_MAX = 512;
const FORGIVE_AFTER = 32;

/**
 * Decides whether a small request is executed synchronously. While the page cache answers, that is several times
 * cheaper than a thread-pool hop. After a call that waited for the disk, requests are asynchronous for a while, and for
 * longer each time it happens again, so that the event loop is not blocked. The first penalty is short: a thread that
 * lost its processor looks the same.
 */
export class InlineGate {
  readonly #slowMs: number;
  #open = true;
  #factor = 1;
  #fastInARow = 0;
  #requestsLeft = 0;
  #retryAtMs = 0;

  /** A call that takes longer than this plus the time to copy its bytes has waited for the disk. */
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
