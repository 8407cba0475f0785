import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduleOf } from '../../array/snapshot-policies/schedule.ts';
import { cronWords } from '../src/array/snapshots/cron.ts';
import { nextRuns } from '../src/array/snapshots/next-runs.ts';
import { below, pick, seededRandom } from '../../testing/random.ts';

/** Goal: what a person reads of a policy is when the array takes its snapshots. */

const after = new Date('2026-03-01T12:00:00Z');

test('the next runs are those of the array', () => {
  for (const expression of ['0 * * * *', '*/5 8-17 * * MON-FRI', '0 0 1,15 * *', '30 2 29 2 *', '0 0 13 * 5']) {
    const runs = nextRuns(expression, after, 5);
    let last = after.getTime();
    for (const run of runs) {
      assert.equal(run.getTime(), scheduleOf(expression)?.next(last), expression);
      last = run.getTime();
    }
    assert.equal(runs.length, 5);
  }
});

test('what is not understood, and what is done by hand, has no next run', () => {
  for (const expression of ['manual', '', '* * *', '61 * * * *', '? * * * *', '0 0 30 2 *', '* * * * * *'])
    assert.deepEqual(nextRuns(expression, after, 5), [], expression);
});

test('an expression is said in words where words are shorter, and is shown as it is elsewhere', () => {
  const said: Readonly<Record<string, string>> = {
    '0 * * * *': 'every hour, on the hour, every day',
    '15 */6 * * *': 'every 6 hours, 15 minutes past the hour, every day',
    '0 0 * * 0': 'at 00:00 UTC, every Sunday',
    '30 7,19 * * 1-5': 'at 07:30 and 19:30 UTC, from Monday to Friday',
    '0 4 1 1,7 *': 'at 04:00 UTC, on day 1 of January and July',
    '*/5 * * * *': 'every 5 minutes, every day',
    '*/45 * * * *': '*/45 * * * *',
    '0 */5 * * *': '0 */5 * * *',
    '0 0 * * 0,7': 'at 00:00 UTC, every Sunday',
    '*/5 8-17 * * MON-FRI': '*/5 8-17 * * MON-FRI',
    '0 0 13 * 5': '0 0 13 * 5',
    manual: 'only by hand',
  };
  for (const [expression, words] of Object.entries(said)) assert.equal(cronWords(expression), words);
});

test('the next runs of any expression are those of the array', (t) => {
  const random = seededRandom(t);
  const field = (low: number, high: number) => {
    const one = () => low + below(random, high - low + 1);
    const [a, b] = [one(), one()];
    const range = `${Math.min(a, b)}-${Math.max(a, b)}`;
    return pick(random, ['*', '*', String(a), `${a},${b}`, range, `*/${1 + below(random, high)}`, `${range}/2`]);
  };
  for (let round = 0; round < 300; round += 1) {
    const expression = [field(0, 59), field(0, 23), field(1, 31), field(1, 12), field(0, 7)].join(' ');
    const start = new Date(after.getTime() + below(random, 400 * 24 * 60) * 60_000);
    const wanted: number[] = [];
    let last: number | undefined = start.getTime();
    while (wanted.length < 5 && (last = runAfter(expression, last)) !== undefined) wanted.push(last);
    assert.deepEqual(
      nextRuns(expression, start, 5).map((run) => run.getTime()),
      wanted,
      `${expression} after ${start.toISOString()}`,
    );
  }
});

test('what is said to be so and so often is that often, over the end of an hour and of a day', () => {
  const isEven = (expression: string, minutes: number) => {
    const runs = nextRuns(expression, after, 60).map((run) => run.getTime());
    return runs.every((run, index) => index === 0 || run - (runs[index - 1] ?? 0) === minutes * 60_000);
  };
  for (let step = 1; step < 60; step += 1) {
    const [minutes, hours] = [`*/${step} * * * *`, `0 */${step} * * *`];
    const isSaid = (expression: string) => cronWords(expression).startsWith('every ');
    assert.equal(isSaid(minutes), isEven(minutes, step), minutes);
    if (step < 24) assert.equal(isSaid(hours), isEven(hours, step * 60), hours);
  }
});

/** As the array has it; none where it refuses the expression. */
function runAfter(expression: string, moment: number): number | undefined {
  try {
    return scheduleOf(expression)?.next(moment);
  } catch {
    return undefined;
  }
}
