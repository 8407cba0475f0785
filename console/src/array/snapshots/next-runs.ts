import { Cron } from 'croner';

/** The next times of a policy after a moment, by the rules of the array; none by hand, or where it is not understood. */
export function nextRuns(expression: string, after: Date, count: number): Date[] {
  const parts = expression.trim().split(/\s+/);
  if (parts.length !== 5 || expression.includes('?')) return [];
  try {
    return new Cron(parts.join(' '), { mode: '5-part', timezone: 'UTC' }).nextRuns(count, after);
  } catch {
    return [];
  }
}
