/** How a pool's space is judged, from harmless to urgent. */
export type CapacityMode = 'normal' | 'alert' | 'protected' | 'emergency';

export interface CapacityThresholds {
  /** How far back the rate of consumption looks. */
  readonly historyMinutes: number;
  /** Alert when the pool will be full within so many minutes at that rate. */
  readonly alertMinutes: number;
  /** Refuse new volumes when it will be full within so many minutes. */
  readonly protectedMinutes: number;
  /** Give up oldest snapshots when less than this is left. */
  readonly emergencyBytes: number;
}

interface Sample {
  readonly atMs: number;
  readonly usedBytes: number;
}

const SAMPLES_MAX = 256;

/** Judges a pool's free space by how much is left and how fast it goes. */
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
    // Close samples are one: the newest stands for both. Those that stay are spaced, so the history is as long as told.
    if (before && last && last.atMs - before.atMs < spacingMs) this.#samples.pop();
    this.#samples.push({ atMs, usedBytes });
    this.#samples = this.#samples.filter((sample) => atMs - sample.atMs <= historyMs).slice(-SAMPLES_MAX);
  }

  /** Bytes a minute over the history; 0 when space is not going. */
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
