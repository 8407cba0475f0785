import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatIso, formatSeconds, formatUtc, ManualClock } from './clock.ts';

test('times are shown in UTC, to the second', () => {
  const ms = Date.UTC(2026, 1, 3, 4, 5, 6, 789);
  assert.equal(formatSeconds(ms), '2026-02-03 04:05:06');
  assert.equal(formatUtc(ms), '2026-02-03 04:05:06 UTC');
  assert.equal(formatIso(ms), '2026-02-03T04:05:06+0000');
});

test('a manual clock stands still until it is moved', () => {
  const clock = new ManualClock('2026-01-01T00:00:00Z');
  assert.equal(clock.now(), Date.UTC(2026, 0, 1));
  clock.advance(1000);
  assert.equal(formatUtc(clock.now()), '2026-01-01 00:00:01 UTC');
  clock.set('2027-01-01T00:00:00Z');
  assert.equal(clock.now(), Date.UTC(2027, 0, 1));
});
