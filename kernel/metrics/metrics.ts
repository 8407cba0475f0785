import { collectDefaultMetrics, Counter, Histogram, Registry, type Metric } from 'prom-client';
import { samplesOf, type Measure } from './measure.ts';

const BUCKETS_SECONDS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];

/** Figures of the process that the library counts, but names as counters: Prometheus' conventions reserve `_total`. */
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

interface MetricsOptions {
  /** A figure could not be read: the others are served without it. */
  readonly onError?: (error: unknown, name: string) => void;
}

/** One registry a service; labels are resolved once, not at every request. */
export class Metrics {
  readonly registry = new Registry();
  readonly #onError: MetricsOptions['onError'];
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #seconds: Histogram<'operation'>;

  constructor(service: string, { onError }: MetricsOptions = {}) {
    this.#onError = onError;
    this.registry.setDefaultLabels({ service });
    collectDefaultMetrics({ register: this.registry });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
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

  /** The library's own gauges and counters would keep series of things that are gone: these are read anew each time. */
  add(measure: Measure): void {
    const { name, help, type } = measure;
    const get = async () => ({ name, help, type, values: await this.#read(measure), aggregator: 'sum' });
    this.registry.registerMetric({ name, help, type, get, reset: () => undefined } as unknown as Metric);
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

  async #read(measure: Measure): ReturnType<typeof samplesOf> {
    try {
      return await samplesOf(measure);
    } catch (error) {
      this.#onError?.(error, measure.name);
      return [];
    }
  }
}
