/** How full a thing was. */
export interface CapacityPoint {
  readonly at: number;
  readonly usedBytes: number;
}

/** Bytes a day. Four times of five the rate that is behind the points lies between the lowest and the highest. */
export interface Rate {
  readonly low: number;
  readonly likely: number;
  readonly high: number;
}

export const DAY_MS = 86_400_000;
/** What lies further back says little of the days to come. */
const LOOK_BACK_MS = 30 * DAY_MS;
const SAMPLES = 48;
/** Student's t for 46 degrees of freedom: a tenth is above, and a tenth below. */
const T_80_PERCENT = 1.3;
/** Of one deviation with the next. What follows a line this closely is no longer a line with noise. */
const CORRELATION_MAX = 0.95;

/**
 * A straight line through the points of the last month, by least squares, and how sure its slope is. The points are taken at
 * equal distances, so that a busy hour counts no more than a quiet one. Use drifts: a high value is followed by
 * another, so there is less to learn from the samples than their number says. The deviations' correlation with the next says how
 * much less, and the range widens by it.
 */
export function fitRate(points: readonly CapacityPoint[], now: number): Rate {
  const from = Math.max(points[0]?.at ?? now, now - LOOK_BACK_MS);
  if (from >= now) return { low: 0, likely: 0, high: 0 };
  const step = (now - from) / (SAMPLES - 1);
  const used = valuesAt(
    points,
    Array.from({ length: SAMPLES }, (_, index) => from + index * step),
  );
  const middle = (SAMPLES - 1) / 2;
  const mean = sum(used) / SAMPLES;
  const spread = sum(used.map((_, index) => (index - middle) ** 2));
  const slope = sum(used.map((value, index) => (index - middle) * (value - mean))) / spread;
  const deviations = used.map((value, index) => value - mean - slope * (index - middle));
  const error = Math.sqrt((squares(deviations) / (SAMPLES - 2) / spread) * inflation(deviations));
  const daily = DAY_MS / step;
  const likely = slope * daily;
  const margin = error * daily * T_80_PERCENT;
  return { low: likely - margin, likely, high: likely + margin };
}

/** How much the use changed in the time before; undefined where the points do not reach back so far. */
export function changeOver(points: readonly CapacityPoint[], now: number, spanMs: number): number | undefined {
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last || first.at > now - spanMs) return undefined;
  const [before = 0, after = 0] = valuesAt(points, [now - spanMs, now]);
  return Math.round(after - before);
}

/** Between two points use is taken to have changed evenly. Times in their order. */
function valuesAt(points: readonly CapacityPoint[], times: readonly number[]): number[] {
  let next = 0;
  return times.map((time) => {
    while (next < points.length && (points[next]?.at ?? Infinity) < time) next += 1;
    const after = points[next] ?? points.at(-1);
    const before = points[next - 1] ?? after;
    if (!before || !after) return 0;
    const gap = after.at - before.at;
    const part = gap === 0 ? 1 : (time - before.at) / gap;
    return before.usedBytes + (after.usedBytes - before.usedBytes) * Math.min(1, Math.max(0, part));
  });
}

function inflation(deviations: readonly number[]): number {
  const all = squares(deviations);
  if (all === 0) return 1;
  const products = deviations.slice(1).map((value, index) => value * (deviations[index] ?? 0));
  const correlation = Math.min(CORRELATION_MAX, Math.max(0, sum(products) / all));
  return (1 + correlation) / (1 - correlation);
}

function squares(values: readonly number[]): number {
  return sum(values.map((value) => value ** 2));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
