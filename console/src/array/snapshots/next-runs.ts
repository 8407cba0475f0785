import { Cron } from 'croner';

/** Why an expression is no schedule, in words: it is not understood, or its time never comes, such as 31 February. */
export function scheduleProblem(expression: string): string | undefined {
  if (expression.trim().toLowerCase() === 'manual' || nextRuns(expression, new Date(), 1).length > 0) return undefined;
  if (isUnderstood(expression)) return 'This never comes: no month that is named has such a day.';
  const parts = expression.trim().split(/\s+/);
  if (parts.length !== FIELDS.length) return 'Must be five fields such as 0 2 * * *, or the word manual.';
  const wrong = FIELDS.findIndex(
    (_, at) => !isUnderstood(FIELDS.map((__, n) => (n === at ? parts[at] : '*')).join(' ')),
  );
  const [name, range] = FIELDS[wrong] ?? [];
  return `The ${name} is not understood (${parts[wrong]}): it takes ${range}.`;
}

const FIELDS = [
  ['minute', '0 to 59'],
  ['hour', '0 to 23'],
  ['day of the month', '1 to 31'],
  ['month', '1 to 12 or JAN to DEC'],
  ['day of the week', '0 to 7 or SUN to SAT'],
] as const;

function isUnderstood(expression: string): boolean {
  const parts = expression.trim().split(/\s+/);
  if (parts.length !== 5 || expression.includes('?')) return false;
  try {
    return new Cron(parts.join(' '), { mode: '5-part', timezone: 'UTC' }) instanceof Cron;
  } catch {
    return false;
  }
}

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
