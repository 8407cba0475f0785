import type { ForecastRecord } from '@granary/contract';
import { DAY_MS } from './fit.ts';
import type { Filled, Forecast } from './forecast.ts';

interface Named extends Filled {
  readonly kind: string;
  readonly name: string;
}

export function forecastView(forecast: Forecast & Named, now: number): ForecastRecord {
  const { kind, id, name, usedBytes, capacityBytes, state, days, growth, note } = forecast;
  return {
    kind,
    id,
    name,
    capacity_bytes: capacityBytes,
    used_bytes: usedBytes,
    state,
    days_low: shown(days?.low),
    days_likely: shown(days?.likely),
    days_high: shown(days?.high),
    growth_day: growth.day ?? null,
    growth_week: growth.week ?? null,
    growth_month: growth.month ?? null,
    history_days: hundredths(Math.max(0, now - growth.since) / DAY_MS),
    note: note ?? null,
  };
}

function shown(days: number | undefined): number | null {
  return days === undefined ? null : hundredths(days);
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}
