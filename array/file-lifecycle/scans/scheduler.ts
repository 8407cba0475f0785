import { counted } from '@granary/contract';
import type { ArrayTools } from '../../tools.ts';
import { lastRunAt, nextRunAt, type RunTimes } from '../policies/times.ts';
import { findDue, findWithBin } from './repository.ts';

interface SchedulerOptions {
  readonly times: () => RunTimes;
  readonly retentionSeconds: () => number;
  /** Starts a scan, or leaves the one that is under way alone. */
  readonly scan: (volume: string, at: number) => Promise<void>;
  /** Removes unused objects, such as those of shares that were deleted. */
  readonly sweep: () => Promise<void>;
}

/** Time may be set, and a machine may sleep: it looks at the clock again at least this often. */
const POLL_EVERY_MS = 60_000;
const RETRY_MS = 5_000;
const SWEEP_EVERY_MS = 3_600_000;

/** Starts scans when their time comes, and empties recycle bins. What was missed while the array was down is due once. */
export class LifecycleScheduler {
  readonly #tools: ArrayTools;
  readonly #options: SchedulerOptions;
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #isStarted = false;
  #isWoken = false;
  #sweptAt = 0;

  constructor(tools: ArrayTools, options: SchedulerOptions) {
    this.#tools = tools;
    this.#options = options;
  }

  start(): void {
    this.#isStarted = true;
    this.wake();
  }

  async stop(): Promise<void> {
    this.#isStarted = false;
    clearTimeout(this.#timer);
    this.#stopping.abort();
    await this.#running;
  }

  /** Times are others, or something was attached. */
  wake(): void {
    if (!this.#isStarted) return;
    this.#isWoken = this.#running !== undefined;
    if (!this.#running) this.#poll();
  }

  /** Everything that is due now, once. */
  async runDue(): Promise<void> {
    const { store, clock } = this.#tools;
    const { times, scan } = this.#options;
    const now = clock.now();
    const dueAt = lastRunAt(times(), now);
    for (const volume of store.read((db) => findDue(db, dueAt))) await scan(volume, now);
  }

  /** Deletes what the recycle bins of shares have kept for long enough. */
  async purgeBins(): Promise<void> {
    const { store, clock, engine, events, log } = this.#tools;
    const beforeMs = clock.now() - this.#options.retentionSeconds() * 1_000;
    for (const volume of store.read(findWithBin)) {
      if (this.#stopping.signal.aborted) return;
      try {
        const work = { signal: this.#stopping.signal, onProgress: () => undefined };
        const count = await engine.purgeBin(volume, beforeMs, work);
        if (count === 0) continue;
        const title = `The recycle bin of share ${volume} gave up ${counted(count, 'files')} that it had kept for long enough.`;
        await store.write((tx) => events.record(tx, { title, subject: `volume:${volume}` }));
      } catch (error) {
        // Tried again soon; a share that cannot be reached does not keep the others.
        log.warn({ error, volume }, 'a recycle bin could not be emptied');
      }
    }
  }

  #poll(): void {
    clearTimeout(this.#timer);
    this.#running = this.#runAndSleep().finally(() => {
      this.#running = undefined;
      if (this.#isStarted && this.#isWoken) this.wake();
    });
  }

  async #runAndSleep(): Promise<void> {
    let sleepMs = RETRY_MS;
    try {
      await this.runDue();
      await this.purgeBins();
      const now = this.#tools.clock.now();
      if (now - this.#sweptAt >= SWEEP_EVERY_MS) {
        await this.#options.sweep();
        this.#sweptAt = now;
      }
      sleepMs = Math.min(POLL_EVERY_MS, Math.max(nextRunAt(this.#options.times(), now) - now, 0));
    } catch (error) {
      this.#tools.log.error({ error }, 'file lifecycle policies that are due could not be run');
    }
    if (!this.#isStarted) return;
    this.#timer = setTimeout(() => this.#poll(), sleepMs);
    this.#timer.unref();
  }
}
