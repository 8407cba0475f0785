import type { Compactor } from './compactor.ts';

/** What the process before left behind is compacted soon after a start. */
const FIRST_MS = 10_000;
/** A compaction that takes long is run less often: it may take a twentieth of the time. */
const TIME_SHARE = 20;

interface ScheduleOptions {
  readonly compactor: Compactor;
  readonly periodMs: number;
  readonly now: () => number;
  /** Whether there are threads to do the work. */
  readonly isPossible: () => boolean;
}

/** Decides when segments are compacted. */
export class CompactionSchedule {
  readonly #options: ScheduleOptions;
  #isRunning = false;
  #nextAt: number;

  constructor(options: ScheduleOptions) {
    this.#options = options;
    this.#nextAt = options.now() + Math.min(options.periodMs, FIRST_MS);
  }

  async runWhenDue(): Promise<void> {
    const { compactor, periodMs, now, isPossible } = this.#options;
    const startedAt = now();
    if (this.#isRunning || startedAt < this.#nextAt || !isPossible()) return;
    this.#isRunning = true;
    try {
      await compactor.run();
    } finally {
      const tookMs = now() - startedAt;
      this.#nextAt = now() + Math.max(periodMs, tookMs * TIME_SHARE);
      this.#isRunning = false;
    }
  }
}
