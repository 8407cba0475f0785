import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atLeast, notMeasured } from './ratio.ts';

test('a ratio to something that was not measured is neither met nor a figure', () => {
  assert.deepEqual(
    atLeast('of a bare server', 3 / 0, 0.5),
    notMeasured('of a bare server', 'there is nothing to compare with'),
  );
  const { value, met, wanted } = notMeasured('of Swift', 'Swift is not there');
  assert.deepEqual([value, met, wanted], [undefined, false, 'not measured: Swift is not there']);
  assert.ok(atLeast('of a bare server', 0.5, 0.5).met);
});
