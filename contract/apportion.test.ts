import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { apportioned, roundedSum } from './apportion.ts';

/** Goal: parts that are shown add up to the total that is shown. */

const unit = 1000n;
const parts = fc.array(fc.bigInt({ min: 0n, max: 5000n }), { minLength: 1, maxLength: 20 });

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n);
}

test('three thirds of a dollar are shown as a dollar', () => {
  assert.deepEqual(apportioned([333_333n, 333_333n, 333_334n], 10_000n), [33n, 33n, 34n]);
  assert.deepEqual(apportioned([], unit), []);
});

test('amounts add up to the rounded sum, and each is less than a unit from its part', () => {
  fc.assert(
    fc.property(parts, (exact) => {
      const amounts = apportioned(exact, unit);
      assert.equal(sumOf(amounts), roundedSum(exact, unit));
      for (const [index, part] of exact.entries()) {
        const distance = (amounts[index] as bigint) * unit - part;
        assert.ok(distance > -unit && distance < unit, `${part} became ${amounts[index]}`);
      }
    }),
  );
});

test('a larger part never has the smaller amount, and nothing stays nothing', () => {
  fc.assert(
    fc.property(parts, (exact) => {
      const amounts = apportioned([0n, ...exact], unit).slice(1);
      assert.deepEqual(amounts, apportioned(exact, unit));
      const ranked = [...exact.entries()].sort(([, one], [, other]) => Number(one - other));
      for (const [place, [index, part]] of ranked.entries()) {
        const [next, larger] = ranked[place + 1] ?? [index, part];
        if (larger > part) assert.ok((amounts[index] as bigint) <= (amounts[next] as bigint));
      }
    }),
  );
});

test('parts of parts add up to the amount of the part they belong to', () => {
  fc.assert(
    fc.property(fc.array(parts, { minLength: 1, maxLength: 5 }), (groups) => {
      const totals = apportioned(groups.map(sumOf), unit);
      for (const [index, group] of groups.entries())
        assert.equal(sumOf(apportioned(group, unit, totals[index])), totals[index]);
    }),
  );
});

test('amounts add up to a total that is given, also where it is further from the exact sum than rounding goes', () => {
  // What two users are asked for, each rounded: one kind of item is all that they used.
  assert.deepEqual(apportioned([1010n], unit, 3n), [3n]);
  assert.deepEqual(apportioned([2900n, 0n, 1900n], unit, 1n), [1n, 0n, 0n]);
  assert.deepEqual(apportioned([0n], unit, 1n), [0n], 'nothing stays nothing');
  fc.assert(
    fc.property(parts, fc.bigInt({ min: 0n, max: 200n }), (exact, total) => {
      fc.pre(exact.some((part) => part > 0n));
      const amounts = apportioned(exact, unit, total);
      assert.equal(sumOf(amounts), total);
      assert.ok(amounts.every((amount, index) => amount >= 0n && (exact[index] !== 0n || amount === 0n)));
    }),
  );
});
