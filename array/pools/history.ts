import { CapacityWatch, type CapacityThresholds } from '@granary/storage/capacity';

export interface UsedSample {
  readonly atMs: number;
  readonly usedBytes: number;
}

/** How finely a history is kept over restarts. */
export const HISTORY_STEPS = 64;
const MINUTE_MS = 60_000;

/**
 * A watch that knows a history from the start. What lies before the first sample counts as standing still: a burst in
 * the first seconds of a pool is spread over the history, as the same burst is later.
 */
export function watchWithHistory(
  thresholds: CapacityThresholds,
  samples: readonly UsedSample[],
  latest: UsedSample,
): CapacityWatch {
  const watch = new CapacityWatch(thresholds);
  const historyMs = thresholds.historyMinutes * MINUTE_MS;
  const known = samples.filter(({ atMs }) => atMs > latest.atMs - historyMs && atMs < latest.atMs);
  const { atMs: beginsAt, usedBytes } = known[0] ?? latest;
  for (let step = 0; step < HISTORY_STEPS && historyMs > 0; step++) {
    const atMs = latest.atMs - historyMs + (step * historyMs) / HISTORY_STEPS;
    if (atMs < beginsAt) watch.record(atMs, usedBytes);
  }
  for (const sample of [...known, latest]) watch.record(sample.atMs, sample.usedBytes);
  return watch;
}
