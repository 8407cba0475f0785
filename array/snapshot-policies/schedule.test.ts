import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkExpression, scheduleOf } from './schedule.ts';

const at = (text: string) => Date.parse(text);

test('times are those of five cron fields in UTC', () => {
  const hourly = scheduleOf('0 * * * *')!;
  assert.equal(hourly.next(at('2026-03-01T12:00:00Z')), at('2026-03-01T13:00:00Z'));
  assert.equal(hourly.last(at('2026-03-01T12:00:00Z')), at('2026-03-01T12:00:00Z'));
  assert.equal(hourly.last(at('2026-03-01T12:00:00.012Z')), at('2026-03-01T12:00:00Z'));
  assert.equal(hourly.last(at('2026-03-01T11:59:59.999Z')), at('2026-03-01T11:00:00Z'));
  const weekly = scheduleOf('0 0 * * 0')!;
  assert.equal(weekly.next(at('2026-03-01T00:00:00Z')), at('2026-03-08T00:00:00Z'));
  assert.equal(scheduleOf('manual'), undefined);
});

test('what is understood comes back in its plain form', () => {
  assert.equal(checkExpression('create_policy', '  */5  8-17 * *   MON-FRI '), '*/5 8-17 * * MON-FRI');
  assert.equal(checkExpression('create_policy', '* * * * *'), '* * * * *');
  assert.equal(checkExpression('create_policy', 'Manual'), 'manual');
});

test('what is not understood says which field, and what it takes', () => {
  const problems = {
    '61 * * * *': /minute field.*\(61\).*0 to 59/,
    '* 24 * * *': /hour field/,
    '* * 0 * *': /day field/,
    '* * * 13 *': /month field/,
    '* * * * 8': /weekday field/,
    '*/0 * * * *': /minute field/,
    '5-1 * * * *': /minute field/,
    '? * * * *': /minute field/,
    'a * * * *': /minute field/,
    '* * *': /five fields/,
    '* * * * * *': /five fields/,
    '@daily': /five fields/,
    '0 0 30 2 *': /never comes/,
  };
  for (const [expression, message] of Object.entries(problems)) {
    assert.throws(() => checkExpression('create_policy', expression), { entry: 'bad_parameter', message }, expression);
  }
});
