/** What criteria are refused for, in words that follow the name of their parameter. */
export class CriteriaProblem extends Error {
  constructor(problem: string) {
    super(problem);
    this.name = 'CriteriaProblem';
  }
}

const SECOND_MS = 1_000;
const DAY_MS = 86_400 * SECOND_MS;
const SIZE = /^(\d{1,15}(?:\.\d{1,6})?)\s?([KMGTP]?)(?:i?B)?$/i;
const DURATION = /^(\d{1,7})\s?(s|min|h|d|w|mo|y)$/;
const TIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(Z|[+-]\d{2}:?\d{2})?)?$/;
const UNIT_MS: Readonly<Record<string, number>> = {
  s: SECOND_MS,
  min: 60 * SECOND_MS,
  h: 3_600 * SECOND_MS,
  d: DAY_MS,
  w: 7 * DAY_MS,
  mo: 30 * DAY_MS,
  y: 365 * DAY_MS,
};
/** From here on a number is taken for milliseconds by mistake: as seconds it is beyond the year 5000. */
const SECONDS_MAX = 1e11;
const ID_MAX = 2 ** 32 - 1;

export function sizeOf(field: string, value: unknown): number {
  const [, digits, unit = ''] = SIZE.exec(typeof value === 'number' ? String(value) : textOf(value)) ?? [];
  if (digits === undefined || (unit === '' && digits.includes('.'))) {
    throw new CriteriaProblem(`needs a size for ${field}: bytes, or a text such as "10M" or "1.5G"`);
  }
  return Math.ceil(Number(digits) * 1024 ** ' KMGTP'.indexOf(unit.toUpperCase() || ' '));
}

/** Milliseconds. */
export function durationOf(field: string, value: unknown): number {
  const [, count, unit = ''] = DURATION.exec(textOf(value)) ?? [];
  if (count !== undefined) return Number(count) * (UNIT_MS[unit] ?? 0);
  throw new CriteriaProblem(`needs an age for ${field}: a text such as "90d", in s, min, h, d, w, mo (30 days) or y`);
}

/** Milliseconds since 1970. Text without a zone is in UTC. */
export function timeOf(field: string, value: unknown): number {
  const given = dateIn(value);
  if (typeof given === 'number' && given >= 0 && given < SECONDS_MAX) return given * SECOND_MS;
  const match = TIME.exec(textOf(given));
  if (match) {
    const [text, zone] = match;
    const hasTime = text.length > 10;
    const time = Date.parse(hasTime && zone === undefined ? `${text.replace(' ', 'T')}Z` : text.replace(' ', 'T'));
    if (!Number.isNaN(time)) return time;
  }
  throw new CriteriaProblem(
    `needs a time for ${field}: a text such as "2026-01-31" or "2026-01-31T12:00:00Z", or seconds since 1970`,
  );
}

/** Also as document databases write it: `{"$date": "…"}`. */
function dateIn(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const keys = Object.keys(value);
  return keys.length === 1 && keys[0] === '$date' ? (value as { $date: unknown }).$date : value;
}

export function idOf(field: string, value: unknown): number {
  const id = typeof value === 'number' ? value : /^\d{1,10}$/.test(textOf(value)) ? Number(value) : -1;
  if (Number.isInteger(id) && id >= 0 && id <= ID_MAX) return id;
  throw new CriteriaProblem(`needs a number from 0 to ${ID_MAX} for ${field}`);
}

export function flagOf(field: string, value: unknown): boolean {
  if (value === true || value === 'true' || value === 'YES') return true;
  if (value === false || value === 'false' || value === 'NO') return false;
  throw new CriteriaProblem(`needs true or false for ${field}`);
}

const TEXT_LENGTH_MAX = 4096;

export function wordsOf(field: string, value: unknown): string {
  if (typeof value === 'string' && value.length <= TEXT_LENGTH_MAX) return value;
  throw new CriteriaProblem(`needs a text of at most ${TEXT_LENGTH_MAX} characters for ${field}`);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}
