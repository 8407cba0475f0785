import type { Measure } from '@granary/kernel';
import type { RequestRecord } from '@granary/protocols/objects';

const ENDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const MILLISECONDS = 1000;
/** Operations and statuses are few; a protocol that named more is counted as one. */
const SERIES_MAX = 1000;

interface Duration {
  readonly counts: number[];
  sum: number;
}

/** Counts the requests of the data path since the array started. */
export class RequestFigures {
  readonly #requests = new Map<string, { readonly labels: Readonly<Record<string, string>>; count: number }>();
  readonly #durations = new Map<string, Duration>();
  readonly #bytes = { in: 0, out: 0 };

  add(records: readonly RequestRecord[]): void {
    for (const record of records) {
      this.#count(record);
      this.#time(record);
      this.#bytes.in += record.bytesIn;
      this.#bytes.out += record.bytesOut;
    }
  }

  measures(): Measure[] {
    return [
      {
        name: 'granary_object_requests_total',
        help: 'Requests of S3 and Swift by operation and HTTP status',
        type: 'counter',
        read: () => this.#requests.values().map(({ labels, count }) => ({ labels, value: count })),
      },
      {
        name: 'granary_object_bytes_total',
        help: 'Bytes of objects that clients sent (in) and were sent (out)',
        type: 'counter',
        read: () =>
          (['in', 'out'] as const).map((direction) => ({ labels: { direction }, value: this.#bytes[direction] })),
      },
      {
        name: 'granary_object_request_duration_seconds',
        help: 'How long requests of S3 and Swift took, by class of operation',
        type: 'histogram',
        read: () =>
          this.#durations
            .entries()
            .map(([kind, { counts, sum }]) => ({ labels: { class: kind }, ends: ENDS_SECONDS, counts, sum })),
      },
    ];
  }

  #count({ protocol, action, status }: RequestRecord): void {
    const known = this.#requests.has(`${protocol} ${action} ${status}`);
    const operation = known || this.#requests.size < SERIES_MAX ? action : 'other';
    const key = `${protocol} ${operation} ${status}`;
    const series = this.#requests.get(key) ?? { labels: { protocol, operation, status: String(status) }, count: 0 };
    series.count += 1;
    this.#requests.set(key, series);
  }

  #time({ class: kind, milliseconds }: RequestRecord): void {
    const counts = () => new Array<number>(ENDS_SECONDS.length + 1).fill(0);
    const duration = this.#durations.get(kind) ?? { counts: counts(), sum: 0 };
    const seconds = milliseconds / MILLISECONDS;
    const found = ENDS_SECONDS.findIndex((end) => seconds <= end);
    const index = found < 0 ? ENDS_SECONDS.length : found;
    duration.counts[index] = (duration.counts[index] ?? 0) + 1;
    duration.sum += seconds;
    this.#durations.set(kind, duration);
  }
}
