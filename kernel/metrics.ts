import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

const BUCKETS_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];

/** A metric that the service computes itself: read when metrics are collected. */
export interface Measure {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  read(): Iterable<{ readonly labels: Readonly<Record<string, string>>; readonly value: number }>;
}

/** One registry a service; labels are resolved once, not at every request. */
export class Metrics {
  readonly registry = new Registry();
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #seconds: Histogram<'operation'>;

  constructor(service: string) {
    this.registry.setDefaultLabels({ service });
    collectDefaultMetrics({ register: this.registry });
    this.#requests = new Counter({
      name: 'granary_http_requests_total',
      help: 'Requests by operation and HTTP status',
      labelNames: ['operation', 'status'],
      registers: [this.registry],
    });
    this.#seconds = new Histogram({
      name: 'granary_http_request_seconds',
      help: 'Time from the request to its reply',
      labelNames: ['operation'],
      buckets: BUCKETS_SECONDS,
      registers: [this.registry],
    });
  }

  add(measure: Measure): void {
    new Gauge({
      name: measure.name,
      help: measure.help,
      labelNames: measure.labels,
      registers: [this.registry],
      collect() {
        this.reset();
        for (const each of measure.read()) this.set(each.labels, each.value);
      },
    });
  }

  /** A function that counts one request of the operation. */
  counterOf(operation: string): (status: number, seconds: number) => void {
    const seconds = this.#seconds.labels(operation);
    const byStatus = new Map<number, Counter.Internal>();
    return (status, elapsed) => {
      let counter = byStatus.get(status);
      if (!counter) {
        counter = this.#requests.labels(operation, String(status));
        byStatus.set(status, counter);
      }
      counter.inc();
      seconds.observe(elapsed);
    };
  }
}
