import { TimeBuckets, COLUMNS } from './buckets.ts';

/**
 * From seconds to days, each step kept long enough for the ones above it. Sixty points of any interval from a second
 * to a week can be put together from these, and those of the last two minutes exactly.
 */
const STEPS = [
  { seconds: 1, keep: 130 },
  { seconds: 10, keep: 126 },
  { seconds: 60, keep: 126 },
  { seconds: 600, keep: 144 },
  { seconds: 3600, keep: 336 },
  { seconds: 86_400, keep: 428 },
] as const;

/** The first step is not kept on disk: it is of use for two minutes. */
const STEPS_NOT_KEPT = 1;

export interface KeptBucket {
  readonly step: number;
  readonly bucket: number;
  readonly sums: Float64Array;
}

export interface Changes {
  readonly since: number;
  readonly buckets: readonly KeptBucket[];
}

/** What happened to one thing, at every step of time. */
export class Ladder {
  readonly #steps = STEPS.map(({ seconds, keep }) => new TimeBuckets(seconds, keep));
  /** From when on the first step is complete. */
  #secondsSince = -Infinity;
  /** What is not on disk yet begins here. */
  #changedSince: number | undefined;

  /** Puts back what was kept on disk. */
  restore(kept: readonly KeptBucket[], now: number): void {
    if (kept.length > 0) this.#secondsSince = now;
    for (const { step, bucket, sums } of kept)
      this.#steps.find(({ seconds }) => seconds === step)?.add(bucket * step, sums, 1);
  }

  /** Spreads what happened between two moments evenly over that time. */
  add(sums: ArrayLike<number>, from: number, to: number): void {
    this.#changedSince = Math.min(this.#changedSince ?? Infinity, from);
    const length = to - from;
    for (let begin = from; begin < to; begin = Math.floor(begin) + 1) {
      const part = (Math.min(to, Math.floor(begin) + 1) - begin) / length;
      for (const step of this.#steps) step.add(begin, sums, part);
    }
  }

  /** The sums of that many stretches of time, one after the other, the last of which ends at `end`. */
  windows(end: number, seconds: number, count: number, now: number): Float64Array[] {
    return Array.from({ length: count }, (_, index) => {
      const sums = new Float64Array(COLUMNS);
      const from = end - (count - index) * seconds;
      this.#stepFor(from, now)?.sum(from, from + seconds, sums);
      return sums;
    });
  }

  isEmptyAt(now: number): boolean {
    for (const step of this.#steps) step.prune(now);
    return this.#steps.every(({ isEmpty }) => isEmpty);
  }

  get hasChanges(): boolean {
    return this.#changedSince !== undefined;
  }

  /** What changed since it was last taken, for the disk. */
  takeChanges(): Changes {
    const since = this.#changedSince ?? Infinity;
    this.#changedSince = undefined;
    const buckets = this.#steps.slice(STEPS_NOT_KEPT).flatMap((step) =>
      Array.from(step.since(Math.floor(since / step.seconds)), ({ bucket, sums }) => ({
        step: step.seconds,
        bucket,
        sums,
      })),
    );
    return { since, buckets };
  }

  /** They did not get there. */
  putBack({ since }: Changes): void {
    this.#changedSince = Math.min(this.#changedSince ?? Infinity, since);
  }

  /** The finest step that reaches back to a moment. */
  #stepFor(from: number, now: number): TimeBuckets | undefined {
    const [seconds, ...coarser] = this.#steps;
    if (seconds && from >= seconds.keptSince(now) && from >= this.#secondsSince) return seconds;
    return coarser.find((step) => from >= step.keptSince(now)) ?? coarser.at(-1);
  }
}

/** The oldest bucket of each step that is of any use, for the disk. */
export function oldestKept(now: number): { readonly step: number; readonly bucket: number }[] {
  return STEPS.map(({ seconds, keep }) => ({ step: seconds, bucket: Math.floor(now / seconds) - keep + 1 }));
}
