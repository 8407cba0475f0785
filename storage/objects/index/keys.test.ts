import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compareKeys, pastPrefix } from './keys.ts';
import { packPlaces, unpackPlaces } from './places.ts';

const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('a', '\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{10ffff}'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
});

function byBytes(one: string, other: string): number {
  return Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

test('keys are in the order of their bytes, whatever the plane', () => {
  fc.assert(
    fc.property(text, text, (one, other) => assert.equal(Math.sign(compareKeys(one, other)), byBytes(one, other))),
  );
});

test('what comes past a prefix is exactly what is greater and does not begin with it', () => {
  fc.assert(
    fc.property(text, text, (prefix, key) => {
      const past = pastPrefix(prefix);
      const isPast = past !== null && byBytes(key, past) >= 0;
      assert.equal(isPast, byBytes(key, prefix) > 0 && !key.startsWith(prefix));
      const below = prefix + key;
      assert.ok(past === null || byBytes(below, past) < 0, 'nothing that begins with the prefix is past it');
    }),
  );
});

test('places survive packing, large offsets and missing pieces included', () => {
  const number = fc.maxSafeNat();
  const place = fc.record(
    { drive: fc.integer({ min: 1, max: 2 ** 32 }), segment: number, offset: number },
    { noNullPrototype: true },
  );
  fc.assert(
    fc.property(fc.array(fc.option(place), { maxLength: 20 }), (places) => {
      assert.deepEqual(unpackPlaces(packPlaces(places)), places);
    }),
  );
});
