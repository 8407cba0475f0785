/** The state of a pool's space, from harmless to urgent. */
export type CapacityMode = 'normal' | 'alert' | 'protected' | 'emergency';

export interface CapacityThresholds {
  /** The period over which the rate of consumption is measured. */
  readonly historyMinutes: number;
  /** Alert when the pool will be full within this time at that rate. */
  readonly alertMinutes: number;
  /** Refuse new volumes when it will be full within this time. */
  readonly protectedMinutes: number;
  /** Delete the oldest snapshots when less than this is free. */
  readonly emergencyBytes: number;
}

interface Sample {
  readonly atMs: number;
  readonly usedBytes: number;
}

const SAMPLES_MAX = 256;

/** Evaluates a pool's free space by its size and the rate of consumption. */
export class CapacityWatch {
  #thresholds: CapacityThresholds;
  #samples: Sample[] = [];

  constructor(thresholds: CapacityThresholds) {
    this.#thresholds = thresholds;
  }

  get thresholds(): CapacityThresholds {
    return this.#thresholds;
  }

  setThresholds(thresholds: CapacityThresholds): void {
    this.#thresholds = thresholds;
  }

  record(atMs: number, usedBytes: number): void {
    const historyMs = this.#thresholds.historyMinutes * 60_000;
    const spacingMs = historyMs / SAMPLES_MAX;
    const [before, last] = this.#samples.slice(-2);
    // Samples that are close together are merged into the newest. The others stay spaced, so that the history covers
    // the configured period.
    if (before && last && last.atMs - before.atMs < spacingMs) this.#samples.pop();
    this.#samples.push({ atMs, usedBytes });
    this.#samples = this.#samples.filter((sample) => atMs - sample.atMs <= historyMs).slice(-SAMPLES_MAX);
  }

  /** Bytes per minute over the history; 0 when usage does not grow. */
  bytesPerMinute(): number {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (!first || !last || last.atMs <= first.atMs) return 0;
    return Math.max(0, ((last.usedBytes - first.usedBytes) * 60_000) / (last.atMs - first.atMs));
  }

  mode(freeBytes: number): CapacityMode {
    const { emergencyBytes, protectedMinutes, alertMinutes } = this.#thresholds;
    if (freeBytes < emergencyBytes || freeBytes === 0) return 'emergency';
    const rate = this.bytesPerMinute();
    const minutesLeft = rate === 0 ? Infinity : freeBytes / rate;
    if (minutesLeft < protectedMinutes) return 'protected';
    return minutesLeft < alertMinutes ? 'alert' : 'normal';
  }
}
