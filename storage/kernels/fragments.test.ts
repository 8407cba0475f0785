import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeFragments, rebuildFragments } from './fragments.ts';
import { anyPlace, anySeed, bytesFrom, placed } from './testing/buffers.ts';
import { times } from './testing/field.ts';

function encoded(seed: number, k: number, m: number, length: number): Buffer[] {
  const data = Array.from({ length: k }, (_, index) => bytesFrom(seed + index * 7919, length));
  const parity = Array.from({ length: m }, () => Buffer.alloc(length, 0xa5));
  encodeFragments(data, parity);
  return [...data, ...parity];
}

function rebuilt(fragments: readonly Buffer[], k: number, lost: readonly number[]): void {
  const left = fragments.map((fragment, index) => (lost.includes(index) ? undefined : fragment));
  const into = lost.map((index) => Buffer.alloc(fragments[index]!.length, 0x5a));
  rebuildFragments(left, k, lost, into);
  lost.forEach((index, at) =>
    assert.ok(into[at]!.equals(fragments[index]!), `${k}: fragment ${index} of ${lost.join()}`),
  );
}

/** Every choice of up to `most` of the numbers below `count`. */
function choices(count: number, most: number): number[][] {
  const all: number[][] = [];
  for (let set = 1; set < 2 ** count; set += 1) {
    const chosen = Array.from({ length: count }, (_, index) => index).filter((index) => (set >> index) & 1);
    if (chosen.length <= most) all.push(chosen);
  }
  return all;
}

test('parities are sums of the data times the inverse of (32 + parity) + index, by the plain description', () => {
  const [k, m, length] = [5, 3, 131];
  const fragments = encoded(3, k, m, length);
  const inverse = (value: number) => Array.from({ length: 256 }, (_, at) => at).find((at) => times(at, value) === 1)!;
  for (let row = 0; row < m; row += 1) {
    for (let at = 0; at < length; at += 1) {
      const sum = fragments
        .slice(0, k)
        .reduce((left, data, index) => left ^ times(inverse((32 + row) ^ index), data[at]!), 0);
      assert.equal(fragments[k + row]![at], sum);
    }
  }
});

test('every loss of up to m fragments is made good, for all small k and m', () => {
  for (let k = 1; k <= 6; k += 1) {
    for (let m = 1; m <= 4; m += 1) {
      const fragments = encoded(k * 31 + m, k, m, 70);
      for (const lost of choices(k + m, m)) rebuilt(fragments, k, lost);
    }
  }
});

test('any loss of up to m of up to 32 + 8 fragments is made good, whatever their length and wherever they are', () => {
  const scene = fc.record({
    seed: anySeed,
    k: fc.integer({ min: 1, max: 32 }),
    m: fc.integer({ min: 1, max: 8 }),
    length: fc.oneof(fc.nat(300), fc.constantFrom(4096, 16_385, 65_536)),
    places: fc.array(anyPlace, { minLength: 40, maxLength: 40 }),
    order: fc.shuffledSubarray(
      Array.from({ length: 40 }, (_, index) => index),
      { minLength: 40 },
    ),
  });
  fc.assert(
    fc.property(scene, ({ seed, k, m, length, places, order }) => {
      const plain = encoded(seed, k, m, length);
      const moved = plain.map((fragment, index) => placed(places[index]!, fragment));
      const parity = moved.slice(k);
      parity.forEach((fragment) => fragment.fill(1));
      encodeFragments(moved.slice(0, k), parity);
      parity.forEach((fragment, index) => assert.ok(fragment.equals(plain[k + index]!)));
      rebuilt(moved, k, order.filter((index) => index < k + m).slice(0, m));
    }),
    { numRuns: 60 },
  );
});

test('without parities there is nothing to compute, and with nothing lost nothing to rebuild', () => {
  const data = [Buffer.from('ab'), Buffer.from('cd')];
  encodeFragments(data, []);
  rebuildFragments(data, 2, [], []);
  const copies = [Buffer.alloc(2), Buffer.alloc(2)];
  rebuildFragments(data, 2, [1, 0], copies);
  assert.equal(Buffer.concat(copies).toString(), 'cdab');
});

test('fragments that make no sense are refused', () => {
  const data = [Buffer.alloc(4), Buffer.alloc(4)];
  assert.throws(() => encodeFragments([], [Buffer.alloc(4)]), /1 to 32/);
  assert.throws(() => encodeFragments(data, [Buffer.alloc(5)]), /one length/);
  assert.throws(
    () =>
      encodeFragments(
        data,
        Array.from({ length: 9 }, () => Buffer.alloc(4)),
      ),
    /0 to 8/,
  );
  assert.throws(() => rebuildFragments([data[0], undefined, undefined], 2, [1], [Buffer.alloc(4)]), /2 are needed/);
});
