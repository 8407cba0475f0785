import { addFigures, noFigures, type Figures } from './figures.ts';
import type { Measured } from './slots.ts';

export interface Period {
  /** Seconds that a point covers. */
  readonly interval: number;
  readonly count: number;
}

export interface Point {
  /** End of the interval, seconds since 1970. */
  readonly time: number;
  readonly interval: number;
  readonly figures: Readonly<Figures>;
}

/** Intervals lie on multiples of their length, so that points asked for twice are the same; the newest is under way. */
export function startOf({ interval, count }: Period, now: number): number {
  return (Math.floor(now / interval) + 1 - count) * interval;
}

/**
 * Sums up what was measured by intervals. What was measured over a time that several intervals share is taken to have
 * happened evenly, and never in the future: so each of it is in some interval, and none of it in two.
 */
export function pointsOf(measured: readonly Measured[], period: Period, now: number): Point[] {
  const { interval, count } = period;
  const start = startOf(period, now);
  const sums = Array.from({ length: count }, noFigures);
  for (const { slot, step, figures } of measured) {
    const end = Math.max(slot, Math.min(slot + step, now));
    const first = Math.floor((slot - start) / interval);
    const last = end === slot ? first : Math.ceil((end - start) / interval) - 1;
    for (let position = Math.max(0, first); position <= Math.min(last, count - 1); position += 1) {
      const sum = sums[position];
      if (!sum) continue;
      const from = Math.max(slot, start + position * interval);
      const to = Math.min(end, start + (position + 1) * interval);
      addFigures(sum, figures, first === last ? 1 : (to - from) / (end - slot));
    }
  }
  return sums.map((figures, position) => ({ time: start + (position + 1) * interval, interval, figures }));
}

export function iopsPoint({ time, interval, figures }: Point) {
  return {
    time,
    iops_put: shown(figures.puts / interval),
    iops_delete: shown(figures.deletes / interval),
    iops_get: shown(figures.gets / interval),
  };
}

export function latencyPoint({ time, figures }: Point) {
  return {
    time,
    latency_put: shown(figures.put_ms / figures.puts),
    latency_delete: shown(figures.delete_ms / figures.deletes),
    latency_get: shown(figures.get_ms / figures.gets),
  };
}

export function throughputPoint({ time, interval, figures }: Point) {
  return {
    time,
    throughput_put: shown(figures.put_bytes / interval),
    throughput_delete: shown(figures.delete_bytes / interval),
    throughput_get: shown(figures.get_bytes / interval),
  };
}

/** A value outside the accepted range is 0: where nothing was done there is no average, either. */
function shown(value: number): number {
  return value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : 0;
}
