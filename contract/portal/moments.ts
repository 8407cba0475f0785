import { text } from '../params.ts';

/** A time to the minute, as bills have it. */
export const moment = (what: string, example: string) =>
  text(`${what}, UTC: YYYY-MM-DD HH:MM`, {
    max: 16,
    pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}$',
    form: 'a time such as 2026-01-31 23:59',
    example,
  });
