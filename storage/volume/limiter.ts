/** The limits of a volume per second; absent means unlimited. */
export interface Caps {
  readonly operationsPerSecond?: number | undefined;
  readonly bytesPerSecond?: number | undefined;
}

interface Waiter {
  readonly bytes: number;
  readonly resolve: () => void;
  timer: NodeJS.Timeout | undefined;
}

const clock = (): number => performance.now();

/** How far a volume may exceed its cap after a pause. */
const BURST_MS = 50;

/**
 * Delays requests so that neither cap is exceeded. Each request advances a point in time by its cost and waits until
 * that point; timers that fire late delay one request, not the rate.
 */
export class Limiter {
  readonly #now: () => number;
  #caps: Caps = {};
  #operationsDueMs = 0;
  #bytesDueMs = 0;
  /** In the order they came. */
  #waiting: Set<Waiter> | undefined;

  constructor(now: () => number = clock) {
    this.#now = now;
  }

  /** Waiting requests follow the new caps; without caps they proceed at once. */
  setCaps(caps: Caps): void {
    this.#caps = caps;
    this.#operationsDueMs = 0;
    this.#bytesDueMs = 0;
    const waiting = this.#waiting;
    if (!waiting) return;
    this.#waiting = undefined;
    for (const waiter of waiting) {
      clearTimeout(waiter.timer);
      this.#admit(waiter);
    }
  }

  get caps(): Caps {
    return this.#caps;
  }

  get isOpen(): boolean {
    return this.#caps.operationsPerSecond === undefined && this.#caps.bytesPerSecond === undefined;
  }

  /** Resolves when the request may proceed; `undefined` when it may proceed at once. */
  acquire(bytes: number): Promise<void> | undefined {
    if (this.isOpen) return undefined;
    const waitMs = this.#charge(bytes);
    if (waitMs <= 0) return undefined;
    return new Promise((resolve) => this.#wait({ bytes, resolve, timer: undefined }, waitMs));
  }

  #admit(waiter: Waiter): void {
    const waitMs = this.isOpen ? 0 : this.#charge(waiter.bytes);
    if (waitMs <= 0) waiter.resolve();
    else this.#wait(waiter, waitMs);
  }

  #wait(waiter: Waiter, waitMs: number): void {
    this.#waiting ??= new Set();
    this.#waiting.add(waiter);
    waiter.timer = setTimeout(() => {
      this.#waiting?.delete(waiter);
      waiter.resolve();
    }, waitMs);
  }

  /** Advances the points in time; returns the delay of the request. */
  #charge(bytes: number): number {
    const now = this.#now();
    const { operationsPerSecond, bytesPerSecond } = this.#caps;
    const earliest = now - BURST_MS;
    if (operationsPerSecond !== undefined) {
      this.#operationsDueMs = Math.max(this.#operationsDueMs, earliest) + 1000 / operationsPerSecond;
    }
    if (bytesPerSecond !== undefined) {
      this.#bytesDueMs = Math.max(this.#bytesDueMs, earliest) + (bytes * 1000) / bytesPerSecond;
    }
    return Math.max(this.#operationsDueMs, this.#bytesDueMs) - now;
  }
}
