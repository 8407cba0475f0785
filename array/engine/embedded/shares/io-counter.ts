import { LatencyCounter } from '@granary/storage';
import type { IoTotals } from '../../report.ts';
import type { LatencyCounts } from '../reports/totals.ts';

/** What was read and written, as reports have it. */
export class IoCounter {
  readonly #reads = { count: 0, bytes: 0, milliseconds: 0 };
  readonly #writes = { count: 0, bytes: 0, milliseconds: 0 };
  readonly #latencies = { reads: new LatencyCounter(), writes: new LatencyCounter() };

  add(kind: 'reads' | 'writes', bytes: number, milliseconds: number): void {
    const sums = kind === 'reads' ? this.#reads : this.#writes;
    sums.count += 1;
    sums.bytes += bytes;
    sums.milliseconds += milliseconds;
    this.#latencies[kind].add(milliseconds);
  }

  totals(): IoTotals {
    return { reads: totalsOf(this.#reads), writes: totalsOf(this.#writes) };
  }

  latencies(): LatencyCounts {
    return { reads: this.#latencies.reads.counts(), writes: this.#latencies.writes.counts() };
  }
}

function totalsOf({ count, bytes, milliseconds }: { count: number; bytes: number; milliseconds: number }) {
  return { count, bytes, microseconds: Math.round(milliseconds * 1000) };
}
