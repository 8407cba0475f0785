import assert from 'node:assert/strict';
import { test } from 'node:test';
import Big from 'big.js';
import fc from 'fast-check';
import { priceNanos } from '../pricing/price.ts';
import { centsOf, chargeOf, hoursText, nanosText, wholeCentsText } from './amount.ts';

const HOUR_MS = 3_600_000;

test('amounts are rounded half up where they are printed', () => {
  const oneHour = (price: string) => chargeOf(1, HOUR_MS, priceNanos(price));
  assert.equal(wholeCentsText(centsOf(oneHour('0.005'))), '0.01');
  assert.equal(wholeCentsText(centsOf(oneHour('0.004999999'))), '0.00');
  assert.equal(wholeCentsText(centsOf(oneHour('0.995'))), '1.00');
  assert.equal(wholeCentsText(centsOf(oneHour('1.005'))), '1.01');
  assert.equal(wholeCentsText(centsOf(oneHour('0'))), '0.00');
  assert.equal(wholeCentsText(centsOf(oneHour('0.005') - 1n)), '0.00');
  assert.equal(nanosText(oneHour('0.000000001')), '0.000000001');
  assert.equal(nanosText(oneHour('0.000000001') / 2n), '0.000000001');
  assert.equal(nanosText(oneHour('0.000000001') / 2n - 1n), '0.000000000');
});

test('hours are written to the billionth', () => {
  assert.equal(hoursText(HOUR_MS), '1.000000000');
  assert.equal(hoursText(1), '0.000000278');
  assert.equal(hoursText(0), '0.000000000');
});

test('a charge is what decimal arithmetic makes of it', () => {
  const price = fc.tuple(fc.nat({ max: 999_999_999 }), fc.nat({ max: 999_999_999 }));
  fc.assert(
    fc.property(fc.nat(), fc.nat({ max: 2 ** 40 }), price, (quantity, ms, [whole, fraction]) => {
      const text = `${whole}.${String(fraction).padStart(9, '0')}`;
      const exact = new Big(quantity).times(ms).times(text);
      const ours = new Big(nanosText(chargeOf(quantity, ms, priceNanos(text))));
      // Within half of the last digit: |ours × 3,600,000 − exact| ≤ 1,800,000 billionths.
      assert.ok(ours.times(HOUR_MS).minus(exact).abs().lte('0.0018'));
    }),
  );
});
