import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduleOf } from '../../array/snapshot-policies/schedule.ts';
import { cronWords } from '../src/array/snapshots/cron.ts';
import { nextRuns } from '../src/array/snapshots/next-runs.ts';

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
    '*/5 8-17 * * MON-FRI': '*/5 8-17 * * MON-FRI',
    '0 0 13 * 5': '0 0 13 * 5',
    manual: 'only by hand',
  };
  for (const [expression, words] of Object.entries(said)) assert.equal(cronWords(expression), words);
});
