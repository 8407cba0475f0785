import { fail } from '@granary/kernel';
import type { SettingsService } from '../settings/service.ts';
import type { ArrayTools } from '../tools.ts';
import { UsageAlerts, type Use } from './alerts.ts';
import { PerformanceHistory } from './history.ts';
import { memoryBytes } from './machine.ts';
import {
  cachePoint,
  controllerPoint,
  ioPoint,
  measuredSeconds,
  memoryUsed,
  processorUse,
  type CachePoint,
  type ControllerPoint,
  type IoPoint,
} from './points.ts';
import { PerformanceRecorder, type InnerKind, type MeasuredKind } from './recorder.ts';

export type { IoPoint } from './points.ts';
export type { MeasuredKind } from './recorder.ts';

const POINTS = 60;
const FLUSH_EVERY_MS = 30_000;
const EVALUATE_EVERY_S = 10;
const EVALUATED_OVER_S = 60;
/** Readings come every second; when they are later than this, time goes on without them. */
const READING_LATE_S = 3;
interface Measured {
  readonly kind: MeasuredKind;
  readonly id: string;
  readonly createdAt: number;
}

/** What was read and written, when, and how long it took: points at any interval from a second to a week. */
export class PerformanceService {
  readonly #tools: ArrayTools;
  readonly #settings: SettingsService;
  readonly #history: PerformanceHistory;
  readonly #recorder: PerformanceRecorder;
  readonly #alerts: UsageAlerts;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #evaluatedAt = 0;

  constructor(tools: ArrayTools, settings: SettingsService) {
    this.#tools = tools;
    this.#settings = settings;
    this.#history = new PerformanceHistory(tools);
    this.#recorder = new PerformanceRecorder(this.#history);
    this.#alerts = new UsageAlerts(tools);
  }

  start(): void {
    this.#tools.readings.onReading(async (readings, atMs) => {
      this.#recorder.record(readings, atMs / 1000);
      await this.#evaluateAlerts(atMs / 1000);
    });
    this.#timer = setInterval(() => void this.#flush(), FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  /** What was measured so far is on disk when this resolves. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#flush();
  }

  /**
   * The last 60 points at this interval, oldest first, without those from before it was made. The thing is named as the
   * engine names it.
   */
  points({ kind, id, createdAt }: Measured, intervalSeconds: number): IoPoint[] {
    return this.#windows(kind, id, intervalSeconds)
      .filter(({ point }) => point * 1000 > createdAt)
      .map(({ sums, point }) => ioPoint(sums, intervalSeconds, point));
  }

  /** Not found: `controller_not_found`. */
  controllerPoints(name: string, intervalSeconds: number): ControllerPoint[] {
    this.#checkController(name);
    const moved = this.#windows('controller_io', name, intervalSeconds);
    const metadata = this.#windows('cache_metadata', name, intervalSeconds);
    const used = this.#windows('controller', name, intervalSeconds).map((window, index) => ({
      ...window,
      io: moved[index]?.sums ?? new Float64Array(),
      metadata: metadata[index]?.sums ?? new Float64Array(),
    }));
    return sinceMeasured(used).map(({ point, ...all }) => controllerPoint(all, point));
  }

  /** Of the cache while that controller was the active one. Not found: `controller_not_found`. */
  cachePoints(controller: string, intervalSeconds: number): CachePoint[] {
    this.#checkController(controller);
    const metadata = this.#windows('cache_metadata', controller, intervalSeconds);
    const lookups = this.#windows('cache_lookups', controller, intervalSeconds);
    const windows = this.#windows('cache', controller, intervalSeconds).map((window, index) => ({
      ...window,
      metadata: metadata[index]?.sums ?? new Float64Array(),
      lookups: lookups[index]?.sums ?? new Float64Array(),
    }));
    return sinceMeasured(windows).map(({ sums, point, ...more }) => cachePoint({ data: sums, ...more }, point));
  }

  /** It is gone, and so are its points. */
  remove(kind: MeasuredKind, id: string): void {
    this.#recorder.remove(kind, id, this.#now());
  }

  #checkController(name: string): void {
    if (!this.#tools.readings.controllers.some((controller) => controller.name === name))
      throw fail('controller_not_found', { id: name });
  }

  /** Points end at whole multiples of the interval, so that repeated requests find the same ones. */
  #windows(kind: MeasuredKind | InnerKind, id: string, seconds: number): { sums: Float64Array; point: number }[] {
    const now = this.#now();
    const measuredUntil = Math.max(this.#recorder.lastAt ?? 0, now - READING_LATE_S);
    const end = Math.floor(measuredUntil / seconds) * seconds;
    const windows = this.#history.windows(kind, id, end, seconds, POINTS, now);
    return windows.map((sums, index) => ({ sums, point: end - (POINTS - 1 - index) * seconds }));
  }

  async #evaluateAlerts(now: number): Promise<void> {
    if (now - this.#evaluatedAt < EVALUATE_EVERY_S) return;
    this.#evaluatedAt = now;
    const { cpuUsageAlert, memUsageAlert } = this.#settings.current();
    const uses = this.#tools.readings.controllers.flatMap(({ name }): Use[] => {
      const [sums] = this.#history.windows('controller', name, now, EVALUATED_OVER_S, 1, now);
      if (!sums || measuredSeconds(sums) < EVALUATED_OVER_S * 0.9) return [];
      const { user, system } = processorUse(sums);
      const memory = (memoryUsed(sums) / memoryBytes()) * 100;
      return [
        { controller: name, resource: 'processors', used: user + system, limit: cpuUsageAlert },
        { controller: name, resource: 'memory', used: memory, limit: memUsageAlert },
      ];
    });
    await this.#alerts.evaluate(uses);
  }

  #flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#history.flush(this.#now()));
    return this.#flushing;
  }

  #now(): number {
    return this.#tools.clock.now() / 1000;
  }
}

/** Without those from before there was anything to measure. */
function sinceMeasured<W extends { readonly sums: Float64Array }>(windows: readonly W[]): W[] {
  const first = windows.findIndex(({ sums }) => measuredSeconds(sums) > 0);
  return first === -1 ? [] : windows.slice(first);
}
