import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertBrief } from '../../../../kernel/edge/testing/blocking.ts';
import { copyRangeOf, rangeOf } from './range.ts';

test('a range is cut to the size of the object', () => {
  assert.deepEqual(rangeOf('bytes=0-0', 10), { start: 0, end: 1 });
  assert.deepEqual(rangeOf('bytes=3-', 10), { start: 3, end: 10 });
  assert.deepEqual(rangeOf('bytes=3-99', 10), { start: 3, end: 10 });
  assert.deepEqual(rangeOf('bytes=-4', 10), { start: 6, end: 10 });
  assert.deepEqual(rangeOf('bytes=-40', 10), { start: 0, end: 10 });
  const long = '9'.repeat(400);
  assert.deepEqual(rangeOf(`bytes=3-${long}`, 10), { start: 3, end: 10 });
  assert.deepEqual(rangeOf(`bytes=-${long}`, 10), { start: 0, end: 10 });
  assert.equal(rangeOf(`bytes=${long}-`, 10), 'unsatisfiable');
});

test('a range that begins behind the end, or asks for the last none, cannot be satisfied', () => {
  for (const header of ['bytes=10-', 'bytes=10-12', 'bytes=-0']) assert.equal(rangeOf(header, 10), 'unsatisfiable');
  assert.equal(rangeOf('bytes=0-', 0), 'unsatisfiable');
  assert.equal(rangeOf('bytes=-1', 0), 'unsatisfiable');
});

test('several ranges, other units and nonsense mean the whole object', () => {
  for (const header of [undefined, 'bytes=0-1,3-4', 'items=0-1', 'bytes=5-3', 'bytes=-', 'bytes=x-y', '']) {
    assert.equal(rangeOf(header, 10), null);
  }
});

test('the range of a copied part has both ends inside its source', () => {
  assert.deepEqual(copyRangeOf('bytes=0-9', 10), { start: 0, end: 10 });
  for (const header of ['bytes=0-10', 'bytes=0-', 'bytes=-5', '0-9', 'bytes=4-3'])
    assert.equal(copyRangeOf(header, 10), null);
});

test('spaces mean nothing, and many of them take no time', async () => {
  assert.deepEqual(rangeOf(' bytes = 0 -\t4 ', 10), { start: 0, end: 5 });
  for (const header of [`bytes${' '.repeat(15_000)}x`, `bytes=${' '.repeat(15_000)}-x`, `${'\t'.repeat(15_000)}bytes`])
    await assertBrief('a range', () => assert.equal(rangeOf(header, 10), null));
});
