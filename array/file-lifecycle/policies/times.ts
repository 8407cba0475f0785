/** When shares are scanned: at a time of the day, in UTC, and from then on at an interval in seconds. */
export interface RunTimes {
  /** After midnight. */
  readonly startSeconds: number;
  readonly intervalSeconds: number;
}

export const DEFAULT_TIMES: RunTimes = { startSeconds: 3_600, intervalSeconds: 86_400 };

const DAY_SECONDS = 86_400;

/** The last time up to and including that moment. */
export function lastRunAt(times: RunTimes, nowMs: number): number {
  return 1_000 * lastSecond(times, Math.floor(nowMs / 1_000));
}

/** The first time after that moment. */
export function nextRunAt(times: RunTimes, nowMs: number): number {
  const now = Math.floor(nowMs / 1_000);
  const last = lastSecond(times, now);
  const next = last + times.intervalSeconds;
  if (times.intervalSeconds > DAY_SECONDS) return 1_000 * next;
  // The day's first run comes at its time, however long before it the last one of the day before was.
  return 1_000 * Math.min(next, dayStart(times, now) + DAY_SECONDS);
}

function lastSecond(times: RunTimes, now: number): number {
  const { startSeconds, intervalSeconds } = times;
  const from = intervalSeconds > DAY_SECONDS ? startSeconds : dayStart(times, now);
  return from + Math.floor((now - from) / intervalSeconds) * intervalSeconds;
}

/** The first run of the day that began last; intervals longer than a day count from the first day of 1970. */
function dayStart({ startSeconds }: RunTimes, now: number): number {
  return Math.floor((now - startSeconds) / DAY_SECONDS) * DAY_SECONDS + startSeconds;
}
