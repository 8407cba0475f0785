import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pricePeriods, type PriceChange } from './history.ts';
import { isPrice, priceNanos, samePrice } from './price.ts';

const changes: PriceChange[] = [
  { effectiveFrom: 10, price: '1', nanos: 1n },
  { effectiveFrom: 20, price: '2', nanos: 2n },
  { effectiveFrom: 30, price: '3', nanos: 3n },
];

function periods(from: number, to: number): [number, number, string][] {
  return [...pricePeriods(changes, from, to)].map((period) => [period.from, period.to, period.price]);
}

test('a span is split exactly where the price changed', () => {
  assert.deepEqual(periods(15, 35), [
    [15, 20, '1'],
    [20, 30, '2'],
    [30, 35, '3'],
  ]);
});

test('a change at the edge of a span splits nothing', () => {
  assert.deepEqual(periods(20, 30), [[20, 30, '2']]);
  assert.deepEqual(periods(29, 30), [[29, 30, '2']]);
  assert.deepEqual(periods(30, 31), [[30, 31, '3']]);
});

test('what has no price yet is free', () => {
  assert.deepEqual(periods(5, 15), [
    [5, 10, '0'],
    [10, 15, '1'],
  ]);
  assert.deepEqual(periods(1, 2), [[1, 2, '0']]);
});

test('an empty span has no periods', () => {
  assert.deepEqual(periods(20, 20), []);
  assert.deepEqual(periods(25, 15), []);
});

test('a price is a plain decimal of at most nine digits on either side', () => {
  for (const good of ['0', '0.5', '0.50', '999999999.999999999', '007']) assert.ok(isPrice(good), good);
  for (const bad of ['', '-1', '+1', '1.', '.5', '1e3', '1,5', ' 1', '1.0000000001', '1234567890', 'NaN', '٣']) {
    assert.ok(!isPrice(bad), bad);
    assert.throws(() => priceNanos(bad));
  }
});

test('prices are compared as numbers, exactly', () => {
  assert.equal(priceNanos('999999999.999999999'), 999_999_999_999_999_999n);
  assert.equal(priceNanos('0.1'), 100_000_000n);
  assert.ok(samePrice('0.50', '0.5'));
  assert.ok(!samePrice('0.5', '0.500000001'));
});
