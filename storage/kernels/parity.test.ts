import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { computeParity, recover, updateParity, xorInto } from './parity.ts';
import { anyPlace, anySeed, bytesFrom, placed, type Place } from './testing/buffers.ts';
import { referenceParity } from './testing/field.ts';

const anyLength = fc.oneof(
  fc.integer({ min: 0, max: 100 }).map((columns) => columns * 64),
  fc.constantFrom(4096, 16_384, 16_448, 40_960),
);
const manyPlaces = fc.array(anyPlace, { minLength: 10, maxLength: 10 });

/** A stripe whose parity the reference computed; shard i is in places[i], or the first place when they run out. */
function stripe(seed: number, dataCount: number, length: number, places: readonly Place[]): Buffer[] {
  const data = Array.from({ length: dataCount }, (_, index) => bytesFrom(seed + index * 7919, length));
  const { p, q } = referenceParity(data);
  return [...data, p, q].map((shard, index) => placed(places[index] ?? places[0]!, shard));
}

function copyOf(shards: readonly Buffer[]): Buffer[] {
  return shards.map((shard) => Buffer.from(shard));
}

function assertEqual(actual: readonly Buffer[], expected: readonly Buffer[]): void {
  actual.forEach((shard, index) => assert.ok(shard.equals(expected[index]!), `shard ${index} differs`));
}

test('P and Q are those of the reference, wherever the shards are', () => {
  fc.assert(
    fc.property(anySeed, fc.integer({ min: 1, max: 8 }), anyLength, manyPlaces, (seed, dataCount, length, places) => {
      const shards = stripe(seed, dataCount, length, places);
      const expected = copyOf(shards);
      shards.slice(-2).forEach((shard) => shard.fill(0xa5));
      computeParity(shards);
      assertEqual(shards, expected);
    }),
    { numRuns: 60 },
  );
});

for (let dataCount = 1; dataCount <= 8; dataCount += 1) {
  test(`any one or two missing shards of ${dataCount} + 2 are recovered, wherever the shards are`, () => {
    const mixed: Place[] = [
      'arena',
      'ordinary',
      'arena, unaligned',
      'arena',
      'ordinary, unaligned',
      'arena',
      'ordinary',
    ];
    for (const places of [['arena'], ['ordinary'], mixed] as const) {
      const shards = stripe(dataCount, dataCount, 4096 + 192, places);
      const expected = copyOf(shards);
      for (let first = 0; first < shards.length; first += 1) {
        for (let second = first; second < shards.length; second += 1) {
          shards[first]!.fill(0x5a);
          shards[second]!.fill(0xc3);
          recover(shards, first === second ? [first] : [second, first]);
          assertEqual(shards, expected);
        }
      }
    }
  });
}

test('shards longer than a strip of scratch are recovered', () => {
  for (const missing of [[0, 2], [1, 3], [2, 4], [3, 4], [1]]) {
    const shards = stripe(3, 3, 16_384 * 3 + 64, ['ordinary', 'arena', 'ordinary']);
    const expected = copyOf(shards);
    for (const index of missing) shards[index]!.fill(1);
    recover(shards, missing);
    assertEqual(shards, expected);
  }
});

test('253 data shards are the most, and recover like any other number', () => {
  const shards = stripe(5, 253, 8192, ['ordinary']);
  const expected = copyOf(shards);
  for (const missing of [[0, 252], [251, 252], [7, 253], [252, 254], [253, 254], []]) {
    for (const index of missing) shards[index]!.fill(2);
    recover(shards, missing);
    assertEqual(shards, expected);
  }
  assert.throws(() => computeParity([...shards, Buffer.alloc(8192)]), /not 254/);
});

test('shards that are not missing are left as they are, even when they are wrong', () => {
  const shards = stripe(6, 4, 4096, ['arena']);
  shards[4]![9]! ^= 1;
  const expected = copyOf(shards);
  shards[5]!.fill(0);
  recover(shards, [5]);
  assertEqual(shards, expected);
});

test('a change of one data shard taken over into P and Q gives those of the new data', () => {
  fc.assert(
    fc.property(anySeed, fc.nat(7), anyLength, manyPlaces, (seed, index, length, places) => {
      const shards = stripe(seed, 8, length, places);
      const fresh = bytesFrom(seed ^ 0x5555, length);
      const change = placed(places[index]!, shards[index]!);
      xorInto(change, fresh);
      updateParity(index, change, shards[8]!, shards[9]!);
      shards[index]!.set(fresh);
      const { p, q } = referenceParity(shards.slice(0, 8));
      assertEqual(shards.slice(8), [p, q]);
    }),
    { numRuns: 60 },
  );
});

test('xorInto adds the source byte by byte and leaves it alone', () => {
  fc.assert(
    fc.property(anySeed, anyLength, anyPlace, anyPlace, (seed, length, here, there) => {
      const [left, right] = [bytesFrom(seed, length), bytesFrom(seed + 9, length)];
      const [target, source] = [placed(here, left), placed(there, right)];
      xorInto(target, source);
      assert.deepEqual([...target], [...left.map((byte, at) => byte ^ right[at]!)]);
      assert.ok(source.equals(right));
    }),
    { numRuns: 40 },
  );
});

test('stripes that make no sense are refused', () => {
  const shards = stripe(8, 3, 128, ['arena']);
  const short = [...shards.slice(0, 4), Buffer.alloc(64)];
  assert.throws(() => computeParity(shards.map((shard) => shard.subarray(0, 100))), /multiples of 64/);
  assert.throws(() => computeParity(short), /one length/);
  assert.throws(() => computeParity(shards.slice(0, 2)), /1 to 253 data shards, not 0/);
  assert.throws(() => recover(shards, [0, 1, 2]), /two at most/);
  assert.throws(() => recover(shards, [5]), /no shard 5/);
  assert.throws(() => recover(shards, [-1]), /no shard -1/);
  assert.throws(() => updateParity(253, shards[0]!, shards[3]!, shards[4]!), /no index/);
  assert.throws(() => updateParity(0, shards[0]!, shards[3]!, Buffer.alloc(64)), /one length/);
  assert.throws(() => xorInto(Buffer.alloc(65), Buffer.alloc(65)), /multiples of 64/);
});
