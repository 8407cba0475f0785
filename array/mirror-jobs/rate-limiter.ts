import { setTimeout as sleep } from 'node:timers/promises';

const SLICE_MS = 200;

/** Holds work back so that over time no more bytes pass than allowed. */
export class RateLimiter {
  #freeAt = 0;
  #owed = 0;

  /** Waits until as many bytes may pass; a limit that changes meanwhile counts at once. 0 is no limit. */
  async pass(bytes: number, bytesPerSecond: () => number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const limit = bytesPerSecond();
      const now = performance.now();
      if (limit === 0) {
        this.#freeAt = 0;
        return;
      }
      // What was taken before is paid for at the present speed, so a slower past does not hold back a faster present.
      const waitMs = Math.min(this.#freeAt - now, (this.#owed / limit) * 1000);
      if (waitMs <= 0) {
        this.#owed = bytes;
        this.#freeAt = now + (bytes / limit) * 1000;
        return;
      }
      await sleep(Math.min(waitMs, SLICE_MS), undefined, { signal });
    }
  }
}
