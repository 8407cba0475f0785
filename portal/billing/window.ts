import type { Span } from '../metering/repository.ts';
import { badParameter, badParameters } from '@granary/kernel';
import { readMinute } from '../moments.ts';

const YEARS_MAX = 5;

/** The window of a report, from its two `YYYY-MM-DD HH:MM`, UTC. */
export function readWindow(start: string, end: string): Span {
  const from = readMinute(start);
  const to = readMinute(end);
  if (from === undefined || to === undefined) {
    const bad = [...(from === undefined ? ['start_datetime'] : []), ...(to === undefined ? ['end_datetime'] : [])];
    throw badParameters(bad.map((field) => ({ field, message: 'must be a date and time that exists, in UTC' })));
  }
  if (from >= to) throw badParameter('end_datetime', 'must be after start_datetime');
  if (to > new Date(from).setUTCFullYear(new Date(from).getUTCFullYear() + YEARS_MAX)) {
    throw badParameter('end_datetime', `must be at most ${YEARS_MAX} years after start_datetime`);
  }
  return { from, to };
}
