import type { ForecastRecord } from '@granary/contract';
import {
  compareForecasts,
  forecastView,
  pageOf,
  type CapacityHistory,
  type Filled,
  type Forecast,
  type Page,
} from '@granary/kernel';
import type { PolicyService } from '../policies/service.ts';
import type { ObjectsTools } from '../tools.ts';

interface FilledPolicy extends Filled {
  readonly kind: 'policy';
  readonly name: string;
}

interface Parts {
  readonly policies: PolicyService;
  readonly history: CapacityHistory;
}

const KIND = 'policy';
const LOOK_EVERY_MS = 60_000;

/** When storage policies will be full, from what is kept of their use. */
export class ForecastService {
  readonly #tools: Pick<ObjectsTools, 'store' | 'clock' | 'log'>;
  readonly #policies: PolicyService;
  readonly #history: CapacityHistory;
  #timer: NodeJS.Timeout | undefined;
  #recording: Promise<void> = Promise.resolve();

  constructor(tools: Pick<ObjectsTools, 'store' | 'clock' | 'log'>, { policies, history }: Parts) {
    this.#tools = tools;
    this.#policies = policies;
    this.#history = history;
  }

  start(): void {
    this.#recording = this.record();
    this.#timer = setInterval(() => {
      this.#recording = this.record();
    }, LOOK_EVERY_MS).unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#recording;
  }

  /** A point is kept when an hour has passed. */
  async record(): Promise<void> {
    try {
      // One whose drives are away has no capacity for the time being; what is known of its growth stays.
      const existing = new Set(this.#policies.list().map(({ name }) => name));
      await this.#history.record(KIND, this.#things(), existing);
    } catch (error) {
      this.#tools.log.warn({ error }, 'how full storage policies are could not be kept');
    }
  }

  of(): Promise<(FilledPolicy & Forecast)[]> {
    return this.#history.forecasts(KIND, this.#things());
  }

  /** What fills up first comes first. */
  async list(page: Page): Promise<{ forecasts: ForecastRecord[]; count: number }> {
    const all = (await this.of()).sort(compareForecasts);
    const now = this.#tools.clock.now();
    return { forecasts: pageOf(all, page).map((one) => forecastView(one, now)), count: all.length };
  }

  #things(): FilledPolicy[] {
    return this.#policies
      .list()
      .filter(({ report }) => report.capacity > 0)
      .map(({ name, displayName, report }) => ({
        kind: KIND,
        id: name,
        name: displayName,
        usedBytes: report.usedBytes,
        capacityBytes: report.capacity,
      }));
  }
}
