import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lastRunAt, nextRunAt } from './times.ts';

const at = (text: string) => Date.parse(`2026-03-01T${text}Z`);
const shown = (ms: number) => new Date(ms).toISOString().slice(5, 19);

test('runs begin at a time of the day and come again every interval, until the next day begins them anew', () => {
  const sevenHourly = { startSeconds: 3_600, intervalSeconds: 7 * 3_600 };
  const runs = [];
  for (let now = at('00:59:59'), n = 0; n < 6; n += 1) runs.push(shown((now = nextRunAt(sevenHourly, now))));
  const days = ['03-01T01:00:00', '03-01T08:00:00', '03-01T15:00:00', '03-01T22:00:00'];
  assert.deepEqual(runs, [...days, '03-02T01:00:00', '03-02T08:00:00']);
  const daily = { startSeconds: 0, intervalSeconds: 86_400 };
  assert.equal(shown(lastRunAt(daily, at('00:00:00'))), '03-01T00:00:00');
  assert.equal(shown(nextRunAt(daily, at('00:00:00'))), '03-02T00:00:00');
  const weekly = { startSeconds: 7_200, intervalSeconds: 7 * 86_400 };
  assert.equal(nextRunAt(weekly, at('12:00:00')) - lastRunAt(weekly, at('12:00:00')), 7 * 86_400_000);
  assert.match(shown(nextRunAt(weekly, at('12:00:00'))), /T02:00:00$/);
});

test('the last run is not after now, the next one is, and nothing lies between', () => {
  const times = fc.record({
    startSeconds: fc.integer({ min: 0, max: 86_399 }),
    intervalSeconds: fc.integer({ min: 60, max: 31_536_000 }),
  });
  fc.assert(
    fc.property(times, fc.integer({ min: 1.7e12, max: 1.9e12 }), (each, now) => {
      const [last, next] = [lastRunAt(each, now), nextRunAt(each, now)];
      assert.ok(last <= now && next > now);
      assert.ok(next - last <= each.intervalSeconds * 1_000);
      assert.equal(nextRunAt(each, last), next);
      assert.equal(lastRunAt(each, next), next);
    }),
  );
});
