import { LatencyCounter } from './latency.ts';
import type { Done } from './units.ts';

/** Totals of one kind of operation since its owner was opened. */
export interface OperationStatistics {
  readonly count: number;
  readonly bytes: number;
  readonly errors: number;
  readonly microseconds: number;
  readonly microsecondsMax: number;
}

/** The owner of the operations: notified of each. */
interface Counted {
  changed(): void;
}

/** Counts and times operations. */
export class Meter {
  readonly #owner: Counted | undefined;
  #count = 0;
  #bytes = 0;
  #errors = 0;
  #milliseconds = 0;
  #millisecondsMax = 0;
  readonly #latencies = new LatencyCounter();

  constructor(owner?: Counted) {
    this.#owner = owner;
  }

  /** Records an operation when it is done, and passes it on. */
  measure(startedMs: number, bytes: number, done: Done): Done {
    if (done) return this.#measureLater(startedMs, bytes, done);
    this.record(startedMs, bytes);
    return undefined;
  }

  record(startedMs: number, bytes: number): void {
    const milliseconds = performance.now() - startedMs;
    this.#count++;
    this.#bytes += bytes;
    this.#milliseconds += milliseconds;
    this.#latencies.add(milliseconds);
    if (milliseconds > this.#millisecondsMax) this.#millisecondsMax = milliseconds;
    this.#owner?.changed();
  }

  recordError(): void {
    this.#errors++;
  }

  totals(): OperationStatistics {
    return {
      count: this.#count,
      bytes: this.#bytes,
      errors: this.#errors,
      microseconds: this.#milliseconds * 1000,
      microsecondsMax: this.#millisecondsMax * 1000,
    };
  }

  /** How many took how long, see `LatencyCounter`. */
  latencies(): number[] {
    return this.#latencies.counts();
  }

  async #measureLater(startedMs: number, bytes: number, done: Promise<void>): Promise<void> {
    try {
      await done;
    } catch (error) {
      this.recordError();
      throw error;
    }
    this.record(startedMs, bytes);
  }
}
