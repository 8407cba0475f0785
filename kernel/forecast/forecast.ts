import { counted } from '@granary/contract';
import { changeOver, DAY_MS, fitRate, type CapacityPoint, type Rate } from './fit.ts';

/** What points say of a thing, whatever it can hold. */
export interface Growth {
  /** Since when its use is on record. */
  readonly since: number;
  /** None where the history is too short. */
  readonly rate: Rate | undefined;
  readonly day: number | undefined;
  readonly week: number | undefined;
  readonly month: number | undefined;
}

/** A thing that fills up. */
export interface Filled {
  readonly id: string;
  readonly usedBytes: number;
  readonly capacityBytes: number;
}

export interface Days {
  /** At the highest rate that the points allow. */
  readonly low: number;
  readonly likely: number;
  /** At the lowest rate; none where use may as well stand still. */
  readonly high: number | undefined;
}

export interface Forecast {
  readonly state: 'full' | 'growing' | 'steady' | 'shrinking' | 'no_history';
  /** None where it does not fill up, or that is not known. */
  readonly days: Days | undefined;
  readonly growth: Growth;
  /** Why there are no days where they could be expected. */
  readonly note: string | undefined;
}

const HISTORY_MS_MIN = DAY_MS;
const HOUR_MS = DAY_MS / 24;
/** A byte a day is standing still. */
const STEADY_BYTES = 1;

export function growthOf(points: readonly CapacityPoint[], now: number): Growth {
  const since = points[0]?.at ?? now;
  return {
    since,
    rate: now - since < HISTORY_MS_MIN ? undefined : fitRate(points, now),
    day: changeOver(points, now, DAY_MS),
    week: changeOver(points, now, 7 * DAY_MS),
    month: changeOver(points, now, 30 * DAY_MS),
  };
}

export function forecastOf({ usedBytes, capacityBytes }: Omit<Filled, 'id'>, growth: Growth, now: number): Forecast {
  const { rate, since } = growth;
  const free = Math.max(0, capacityBytes - usedBytes);
  if (free === 0) return { state: 'full', days: { low: 0, likely: 0, high: 0 }, growth, note: undefined };
  if (!rate) return { state: 'no_history', days: undefined, growth, note: shortHistory(now - since) };
  if (Math.abs(rate.likely) < STEADY_BYTES) return { state: 'steady', days: undefined, growth, note: undefined };
  if (rate.likely < 0) return { state: 'shrinking', days: undefined, growth, note: undefined };
  const days = {
    low: free / rate.high,
    likely: free / rate.likely,
    high: rate.low < STEADY_BYTES ? undefined : free / rate.low,
  };
  return { state: 'growing', days, growth, note: undefined };
}

/** What fills up first stands first; then the fullest. */
export function compareForecasts(one: Forecast & Filled, other: Forecast & Filled): number {
  return (one.days?.likely ?? Infinity) - (other.days?.likely ?? Infinity) || fullness(other) - fullness(one) || 0;
}

function fullness({ usedBytes, capacityBytes }: Filled): number {
  return capacityBytes === 0 ? 0 : usedBytes / capacityBytes;
}

function shortHistory(ms: number): string {
  const hours = Math.floor(Math.max(0, ms) / HOUR_MS);
  return `Not enough history: ${counted(hours, 'hours')} of 1 day.`;
}
