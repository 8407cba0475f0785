import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareNames, pageOf } from './page.ts';

test('names are compared by their UTF-8 bytes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
      fc.pre(a.isWellFormed() && b.isWellFormed());
      assert.equal(Math.sign(compareNames(a, b)), Buffer.compare(Buffer.from(a), Buffer.from(b)));
    }),
  );
});

test('limits beyond what is listed at once are refused; what is no number limits nothing', () => {
  assert.equal(pageOf(new Map()).limit, 10_000);
  assert.equal(pageOf(new Map([['limit', '10000']])).limit, 10_000);
  assert.throws(() => pageOf(new Map([['limit', '10001']])), { status: 412 });
  for (const limit of ['-1', 'x', '1.5', '']) assert.equal(pageOf(new Map([['limit', limit]])).limit, 10_000, limit);
});
