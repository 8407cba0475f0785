/** Days of bills, `2026-01-31`, in UTC. */

const DAY_MS = 86_400_000;
const DAILY_MAX_DAYS = 62;

function dayText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

export function today(now = Date.now()): string {
  return dayText(now);
}

export function monthStart(now = Date.now()): string {
  return `${today(now).slice(0, 7)}-01`;
}

/** The day that an address names, if it is one that bills have. */
export function dayOr(named: string, otherwise: string): string {
  return /^2\d{3}-\d\d-\d\d$/.test(named) && !Number.isNaN(Date.parse(named)) ? named : otherwise;
}

export function dayAfter(day: string): string {
  return dayText(Date.parse(day) + DAY_MS);
}

interface Preset {
  readonly label: string;
  readonly from: string;
  readonly to: string;
}

export function presets(now = Date.now()): Preset[] {
  const date = new Date(now);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  const first = (offset: number) => dayText(Date.UTC(year, month + offset, 1));
  return [
    { label: 'This month', from: first(0), to: today(now) },
    { label: 'Last month', from: first(-1), to: dayText(Date.UTC(year, month, 0)) },
    { label: 'Twelve months', from: first(-11), to: today(now) },
  ];
}

/** Bars that can be told apart: days of two months, months of more. */
export function perOf(from: string, to: string): 'day' | 'month' {
  return (Date.parse(to) - Date.parse(from)) / DAY_MS > DAILY_MAX_DAYS ? 'month' : 'day';
}

/** As the service has it. */
const YEARS_MAX = 5;

/** Why there is no bill of these days, in words. */
export function windowProblem(from: string, to: string): string | undefined {
  if (from > to) return 'The last day must not be before the first.';
  const latest = new Date(Date.parse(from)).setUTCFullYear(Number(from.slice(0, 4)) + YEARS_MAX);
  return Date.parse(dayAfter(to)) > latest ? `Choose at most ${YEARS_MAX} years.` : undefined;
}
