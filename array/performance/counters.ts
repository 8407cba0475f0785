import type { IoTotals, OperationTotals } from '../engine/report.ts';
import { COLUMNS } from './buckets.ts';

const nothing: OperationTotals = { count: 0, bytes: 0, microseconds: 0 };
const idle: IoTotals = { reads: nothing, writes: nothing };

/** How long what was forgotten may still be on its way in a reading, seconds. */
const FORGOTTEN_FOR_S = 60;

/** Turns totals that only grow into what happened since they were last seen. */
export class IoCounters {
  readonly #last = new Map<string, IoTotals>();
  readonly #forgotten = new Map<string, number>();

  /** Undefined when nothing happened. */
  since(key: string, totals: IoTotals): Float64Array | undefined {
    const last = this.#last.get(key) ?? idle;
    // What did not change since the reading before is the same object: thousands of idle volumes cost nothing.
    if (last === totals || this.#forgotten.has(key)) return undefined;
    this.#last.set(key, totals);
    const sums = new Float64Array(COLUMNS);
    subtract(totals.reads, last.reads, sums, 0);
    subtract(totals.writes, last.writes, sums, 3);
    return sums.some((sum) => sum > 0) ? sums : undefined;
  }

  remove(key: string, now: number): void {
    this.#last.delete(key);
    this.#forgotten.set(key, now);
  }

  dropExpired(now: number): void {
    for (const [key, at] of this.#forgotten) if (now - at > FORGOTTEN_FOR_S) this.#forgotten.delete(key);
  }
}

/** A total that is smaller than before was reset: the controller was restarted. */
function subtract(now: OperationTotals, before: OperationTotals, into: Float64Array, at: number): void {
  const beganAnew = now.count < before.count || now.bytes < before.bytes || now.microseconds < before.microseconds;
  const { count, bytes, microseconds } = beganAnew ? nothing : before;
  into.set([now.count - count, now.bytes - bytes, now.microseconds - microseconds], at);
}
