import { formatUtc, type Clock, type EventLog, type Log, type Store } from '@granary/kernel';
import type { RequestRecord } from '@granary/protocols/objects';
import type { Settings } from '../settings/service.ts';

interface ErrorAlertsOptions {
  readonly store: Store;
  readonly events: EventLog;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: () => Pick<Settings, 'errorAlerts' | 'errorThreshold'>;
}

const MINUTE_MS = 60_000;

/** Records an event, once a minute at most, when more requests fail with 5xx than the threshold allows. */
export class ErrorAlerts {
  readonly #options: ErrorAlertsOptions;
  #minute = 0;
  #failed = 0;
  #isReported = false;

  constructor(options: ErrorAlertsOptions) {
    this.#options = options;
  }

  add(requests: readonly RequestRecord[]): void {
    const failed = requests.filter(({ status, isLimited }) => status >= 500 && isLimited !== true).length;
    if (failed === 0) return;
    const minute = Math.floor(this.#options.clock.now() / MINUTE_MS);
    if (minute !== this.#minute) {
      this.#minute = minute;
      this.#failed = 0;
      this.#isReported = false;
    }
    this.#failed += failed;
    const { errorAlerts, errorThreshold } = this.#options.settings();
    if (!errorAlerts || this.#isReported || this.#failed <= errorThreshold) return;
    this.#isReported = true;
    this.#recordAlert(errorThreshold);
  }

  #recordAlert(threshold: number): void {
    const { store, events, log } = this.#options;
    const title = `More than ${threshold} data requests failed in the minute from ${formatUtc(this.#minute * MINUTE_MS)}.`;
    store
      .write((tx) => events.record(tx, { severity: 'error', title, subject: 'requests:data' }))
      .catch((error: unknown) => log.error({ error, title }, 'an event could not be recorded'));
  }
}
