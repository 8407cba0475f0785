/** Two changes of threads take about as long. */
const QUICK_MS = 0.25;
/** Of so many calls the quickest counts: a thread whose processor was given to another seems to have a slow disk. */
const ROUND = 8;
/** No processor is away for so long: the disk is slow. */
const LONG_MS = 20;
/** So seldom a slow disk is tried again: each time holds up the thread. */
const PROBE_EVERY = 64;

/** Whether a disk syncs so quickly that it is better waited for on the spot than by another thread. */
export class QuickDisk {
  #isQuick = true;
  #leastMs = Infinity;
  #calls = 0;

  /** Asked before each sync. */
  get isWorthIt(): boolean {
    if (this.#isQuick) return true;
    this.#calls += 1;
    return this.#calls % PROBE_EVERY === 0;
  }

  /** So long a sync on the spot took. */
  took(milliseconds: number): void {
    this.#leastMs = Math.min(this.#leastMs, milliseconds);
    this.#calls += 1;
    const isLong = milliseconds > LONG_MS;
    if (this.#isQuick && !isLong && this.#calls % ROUND > 0) return;
    this.#isQuick = !isLong && this.#leastMs <= QUICK_MS;
    this.#leastMs = Infinity;
    this.#calls = 0;
  }
}
