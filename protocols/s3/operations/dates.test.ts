import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isoDate } from './dates.ts';

test('dates are those of the platform, in whole seconds', () => {
  const times = fc.integer({ min: 0, max: Date.UTC(9999, 11, 31, 23, 59, 59, 999) });
  fc.assert(
    fc.property(times, (time) => {
      assert.equal(isoDate(time), new Date(Math.floor(time / 1000) * 1000).toISOString());
    }),
  );
});
