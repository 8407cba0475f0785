/** What a volume may do in a second; absent means as much as it can. */
export interface Caps {
  readonly operationsPerSecond?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
}

/** How far a volume may run ahead of its cap after a pause. */
const BURST_MS = 50;

/**
 * Holds requests back so that neither cap is passed. Each request moves a point in time on by what it costs and waits
 * until that point; timers that fire late delay one request, not the rate.
 */
export class Limiter {
  readonly #now: () => number;
  #caps: Caps = {};
  #operationsDueMs = 0;
  #bytesDueMs = 0;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  setCaps(caps: Caps): void {
    this.#caps = caps;
    this.#operationsDueMs = 0;
    this.#bytesDueMs = 0;
  }

  get caps(): Caps {
    return this.#caps;
  }

  get isOpen(): boolean {
    return this.#caps.operationsPerSecond === undefined && this.#caps.bytesPerSecond === undefined;
  }

  /** Resolves when the request may go; `undefined` when it may go at once. */
  take(bytes: number): Promise<void> | undefined {
    if (this.isOpen) return undefined;
    const now = this.#now();
    const { operationsPerSecond, bytesPerSecond } = this.#caps;
    const earliest = now - BURST_MS;
    if (operationsPerSecond !== undefined) {
      this.#operationsDueMs = Math.max(this.#operationsDueMs, earliest) + 1000 / operationsPerSecond;
    }
    if (bytesPerSecond !== undefined) {
      this.#bytesDueMs = Math.max(this.#bytesDueMs, earliest) + (bytes * 1000) / bytesPerSecond;
    }
    const waitMs = Math.max(this.#operationsDueMs, this.#bytesDueMs) - now;
    if (waitMs <= 0) return undefined;
    return new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
