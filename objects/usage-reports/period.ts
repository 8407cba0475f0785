import { badParameter } from '@granary/kernel';

const DAY_MS = 86_400_000;
const DAYS_MAX = 3_660;

/** Whole days (UTC), except that the present one is reported so far. Milliseconds since 1970; the end is not part of it. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** The part of a period that lies in one month. */
export interface MonthPart extends Period {
  readonly daysOfMonth: number;
}

export interface Asked {
  readonly report_time: 'monthly' | 'custom';
  readonly month?: string | undefined;
  readonly fromdate?: string | undefined;
  readonly todate?: string | undefined;
}

export function periodOf(asked: Asked, now: number): Period {
  const period = asked.report_time === 'monthly' ? monthly(asked.month, now) : custom(asked);
  const field = asked.report_time === 'monthly' ? 'month' : 'fromdate';
  if (period.from > now) throw badParameter(field, 'must not lie in the future');
  return { from: period.from, to: Math.min(period.to, now) };
}

/** What is stored is paid for by the month, and months differ: a period is looked at month by month. */
export function monthsOf({ from, to }: Period): MonthPart[] {
  const parts: MonthPart[] = [];
  for (let at = from; at < to;) {
    const date = new Date(at);
    const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
    const next = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
    parts.push({ from: at, to: Math.min(next, to), daysOfMonth: (next - first) / DAY_MS });
    at = next;
  }
  return parts;
}

/** `YYYY-MM`, or the number of a month of this year; the present one when there is none. */
function monthly(month: string | undefined, now: number): Period {
  const today = new Date(now);
  const parts = month?.split('-').map(Number) ?? [today.getUTCMonth() + 1];
  const [year = 0, number = 1] = parts.length === 2 ? parts : [today.getUTCFullYear(), parts[0]];
  return { from: Date.UTC(year, number - 1, 1), to: Date.UTC(year, number, 1) };
}

function custom({ fromdate, todate }: Asked): Period {
  const from = midnight('fromdate', fromdate);
  const last = midnight('todate', todate);
  if (last < from) throw badParameter('todate', 'must not lie before fromdate');
  const to = last + DAY_MS;
  if (to - from > DAYS_MAX * DAY_MS) throw badParameter('todate', `must lie within ${DAYS_MAX} days of fromdate`);
  return { from, to };
}

function midnight(field: string, date: string | undefined): number {
  if (date === undefined) throw badParameter(field, 'is required for a custom report');
  const at = Date.parse(`${date}T00:00:00Z`);
  if (Number.isNaN(at) || at < 0 || new Date(at).toISOString().slice(0, 10) !== date)
    throw badParameter(field, 'must be a day of the calendar since 1970, as YYYY-MM-DD');
  return at;
}
