const HOUR = 3600;
const DAY = 24 * HOUR;

/** How long figures stay as fine as they are, in seconds; then they are added to those of the next step. */
export interface Level {
  readonly step: number;
  readonly keep: number;
}

export const levels: readonly Level[] = [
  { step: 10, keep: 3 * HOUR },
  { step: 60, keep: 2 * DAY },
  { step: 600, keep: 14 * DAY },
  { step: HOUR, keep: 100 * DAY },
  { step: DAY, keep: Infinity },
];

export const FINEST_STEP = 10;

interface Ageing {
  readonly from: number;
  readonly to: number;
  /** Seconds since 1970: what begins before moves on. A border between two slots of the next step, so none is cut. */
  readonly before: number;
}

/** What has been kept as fine as it is for long enough at a time, in seconds. */
export function ageingAt(now: number): Ageing[] {
  return levels.flatMap(({ step, keep }, position) => {
    const next = levels[position + 1];
    return next ? [{ from: step, to: next.step, before: Math.floor((now - keep) / next.step) * next.step }] : [];
  });
}
