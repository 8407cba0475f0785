import { badParameter } from '@granary/kernel';
import { Cron } from 'croner';

/** When a policy takes snapshots: a cron expression of five fields in UTC. */
export interface Schedule {
  /** The first time after that moment; none when it never comes. */
  next(afterMs: number): number | undefined;
  /** The last time up to and including that moment. */
  last(untilMs: number): number | undefined;
}

export const MANUAL = 'manual';
const SECOND = 1_000;
const KEPT_MAX = 1_000;
const fields = ['minute', 'hour', 'day', 'month', 'weekday'] as const;
const ranges = {
  minute: '0 to 59',
  hour: '0 to 23',
  day: '1 to 31',
  month: '1 to 12 or JAN to DEC',
  weekday: '0 to 7 or SUN to SAT',
};
const parsed = new Map<string, Schedule>();

/** Of an expression that was checked when it came in; nothing for `manual`. */
export function scheduleOf(expression: string): Schedule | undefined {
  if (expression === MANUAL) return undefined;
  const known = parsed.get(expression);
  if (known) return known;
  const schedule = toSchedule(parse(expression));
  if (parsed.size >= KEPT_MAX) parsed.clear();
  parsed.set(expression, schedule);
  return schedule;
}

/** The expression in its plain form; a bad one is a bad parameter. */
export function checkExpression(field: string, text: string): string {
  const parts = text.trim().split(/\s+/);
  if (parts.length === 1 && parts[0]?.toLowerCase() === MANUAL) return MANUAL;
  if (parts.length !== fields.length) {
    throw badParameter(field, 'must be five fields (minute, hour, day, month, weekday) in UTC, or manual');
  }
  for (const [index, name] of fields.entries()) {
    const part = parts[index] ?? '';
    if (part.includes('?') || !isUnderstood(fields.map((_, n) => (n === index ? part : '*')).join(' '))) {
      throw badParameter(field, `has a ${name} field that is not understood (${part}): it takes ${ranges[name]}`);
    }
  }
  const expression = parts.join(' ');
  if (scheduleOf(expression)?.next(Date.now()) === undefined) {
    throw badParameter(field, `names a time that never comes (${expression})`);
  }
  return expression;
}

function isUnderstood(expression: string): boolean {
  try {
    parse(expression);
    return true;
  } catch {
    return false;
  }
}

function parse(expression: string): Cron {
  return new Cron(expression, { mode: '5-part', timezone: 'UTC' });
}

function toSchedule(cron: Cron): Schedule {
  return {
    next: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime(),
    // It looks for times before its reference, to the second.
    last: (untilMs) => cron.previousRuns(1, new Date(Math.floor(untilMs / SECOND) * SECOND + SECOND))[0]?.getTime(),
  };
}
