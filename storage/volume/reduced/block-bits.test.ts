import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { findGap, longestGap, maskOf } from './block-bits.ts';

const word = fc.oneof(
  fc.integer({ min: 0, max: 0xffffffff }),
  fc.constantFrom(0, 0xffffffff, 0x80000000, 1, 0x7fffffff, 0xfffffffe),
);

function gapAt(low: number, high: number, start: number): number {
  let length = 0;
  for (let block = start; block < 64; block++) {
    if ((((block < 32 ? low : high) >>> (block & 31)) & 1) === 1) break;
    length++;
  }
  return length;
}

test('gaps among 64 bits are found where a search bit by bit finds them', () => {
  fc.assert(
    fc.property(word, word, fc.integer({ min: 1, max: 8 }), (low, high, count) => {
      const gaps = Array.from({ length: 64 }, (_, start) => gapAt(low, high, start));
      assert.equal(longestGap(low, high, 8), Math.min(8, Math.max(...gaps)));
      const first = gaps.findIndex((gap) => gap >= count);
      assert.equal(findGap(low, high, count), first < 0 ? undefined : first);
    }),
    { numRuns: 2000 },
  );
});

test('masks name the blocks of a run and no others', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 63 }), fc.integer({ min: 1, max: 64 }), (first, length) => {
      const count = Math.min(length, 64 - first);
      const masks = [maskOf(first, count, 0), maskOf(first, count, 1)];
      for (let block = 0; block < 64; block++) {
        const isSet = (((masks[block >>> 5] ?? 0) >>> (block & 31)) & 1) === 1;
        assert.equal(isSet, block >= first && block < first + count);
      }
    }),
  );
});
