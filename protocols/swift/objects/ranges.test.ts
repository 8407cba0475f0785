import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertBrief } from '../../../kernel/edge/testing/blocking.ts';
import { parseRanges } from './ranges.ts';

test('ranges are cut to the object; what cannot be read is ignored', () => {
  assert.deepEqual(parseRanges('bytes=0-4', 10), [{ start: 0, end: 5 }]);
  assert.deepEqual(parseRanges('bytes=5-', 10), [{ start: 5, end: 10 }]);
  assert.deepEqual(parseRanges('bytes=-3', 10), [{ start: 7, end: 10 }]);
  assert.deepEqual(parseRanges('bytes=-30', 10), [{ start: 0, end: 10 }]);
  assert.deepEqual(parseRanges('bytes=0-99', 10), [{ start: 0, end: 10 }]);
  assert.deepEqual(parseRanges('bytes=10-', 10), []);
  const long = '9'.repeat(400);
  assert.deepEqual(parseRanges(`bytes=${long}-`, 10), []);
  assert.deepEqual(parseRanges(`bytes=3-${long}, -${long}`, 10), [
    { start: 3, end: 10 },
    { start: 0, end: 10 },
  ]);
  assert.deepEqual(parseRanges('bytes=-0', 10), []);
  assert.deepEqual(parseRanges('bytes=0-0', 0), []);
  assert.deepEqual(parseRanges('bytes=0-1, 20-, 4-5', 10), [
    { start: 0, end: 2 },
    { start: 4, end: 6 },
  ]);
  for (const bad of ['bytes=', 'bytes=-', 'bytes=5-4', 'lines=1-2', 'bytes=a-b', 'bytes=1-2,x']) {
    assert.equal(parseRanges(bad, 10), undefined, bad);
  }
  assert.deepEqual(parseRanges(`bytes=${Array.from({ length: 51 }, () => '0-1').join()}`, 10), []);
});

test('spaces mean nothing, and many of them take no time', async () => {
  assert.deepEqual(parseRanges(' bytes = 0 - 4 ,\t6-', 10), [
    { start: 0, end: 5 },
    { start: 6, end: 10 },
  ]);
  for (const header of [
    `bytes${' '.repeat(15_000)}x`,
    `bytes=1-${' '.repeat(15_000)}x`,
    `bytes=${' ,'.repeat(7_000)}x`,
  ])
    await assertBrief('ranges', () => assert.equal(parseRanges(header, 10), undefined));
});
