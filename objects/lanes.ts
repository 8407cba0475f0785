/** Work that goes to one place elsewhere, and whether it takes it. */
export class Lane {
  /** Names of what is under way. */
  readonly running = new Set<string>();
  readonly #firstWaitMs: number;
  #failures = 0;
  #pausedUntil = 0;

  constructor(firstWaitMs: number) {
    this.#firstWaitMs = firstWaitMs;
  }

  /** How many more may start now. After a failure one goes ahead alone, to see whether it gets through. */
  free(now: number, max: number): number {
    if (now < this.#pausedUntil) return 0;
    return Math.max(0, (this.#failures > 0 ? 1 : max) - this.running.size);
  }

  succeeded(): void {
    this.#failures = 0;
    this.#pausedUntil = 0;
  }

  /** Until when nothing is sent. */
  failed(now: number): number {
    // Those that were under way together fail together.
    if (now >= this.#pausedUntil) this.#pausedUntil = now + waitAfter(this.#failures++, this.#firstWaitMs);
    return this.#pausedUntil;
  }
}

const WAIT_MS_MAX = 300_000;
const DOUBLINGS_MAX = 20;

/** Twice as long after each failure, up to five minutes. */
export function waitAfter(failures: number, firstMs: number): number {
  return Math.min(WAIT_MS_MAX, firstMs * 2 ** Math.min(failures, DOUBLINGS_MAX));
}
