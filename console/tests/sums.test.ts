import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { shownRates, shownSum } from '../src/parts/sums.ts';

/** Goal: whoever adds up the parts that a page shows gets the total that it shows. */

test('the parts of a bill add up to its total', () => {
  assert.partialDeepStrictEqual(shownSum(['0.333333333', '0.333333333', '0.333333334'], '1.00'), {
    total: '1.00 USD',
    parts: ['0.33 USD', '0.33 USD', '0.34 USD'],
  });
  assert.partialDeepStrictEqual(shownSum([1234.5, 0], 1234.5, 'EUR'), {
    total: '1,234.50 EUR',
    parts: ['1,234.50 EUR', '0.00 EUR'],
  });
  assert.partialDeepStrictEqual(shownSum([], '0.00'), { total: '0.00 USD', parts: [] });
});

test('a part of less than a cent is not shown as nothing', () => {
  assert.partialDeepStrictEqual(shownSum(['0.020000000', '0.000100000'], '0.02').parts, ['0.02 USD', '< 0.01 USD']);
});

test('a total of less than a cent is shown with the digits it has, whatever the service rounds', () => {
  assert.partialDeepStrictEqual(shownSum(['0.000125000', '0.000250000'], '0.00'), {
    total: '0.000375 USD',
    parts: ['0.000125 USD', '0.00025 USD'],
  });
  assert.partialDeepStrictEqual(shownSum([1e-9, 2e-9], 3e-9).parts, ['0.000000001 USD', '0.000000002 USD']);
});

test('what a part is made of adds up to what is shown of the part', () => {
  const shown = shownSum(['0.005000000', '0.005000000', '0.005000000'], '0.015');
  assert.deepEqual(shown.parts, ['0.01 USD', '0.01 USD', '< 0.01 USD']);
  assert.deepEqual(shown.partsOf(0, ['0.004000000', '0.001000000']), ['0.01 USD', '< 0.01 USD']);
  assert.deepEqual(shown.partsOf(2, ['0.005000000']), ['< 0.01 USD']);
});

test('prices of an hour add up', () => {
  assert.partialDeepStrictEqual(shownRates([0.1, 0.00025, 0.00025]), {
    total: '0.1005',
    parts: ['0.10', '0.0003', '0.0002'],
  });
});

test('shown parts add up to the shown total, whatever they are', () => {
  const amount = fc.bigInt({ min: 0n, max: 10n ** 13n }).map((nanos) => (Number(nanos) / 1e9).toFixed(9));
  fc.assert(
    fc.property(fc.array(amount, { minLength: 1, maxLength: 12 }), (parts) => {
      const exact = parts.reduce((sum, part) => sum + Number(part), 0);
      const shown = shownSum(parts, exact);
      const sum = shown.parts.reduce((all, text) => all + figure(text), 0);
      assert.ok(Math.abs(sum - figure(shown.total)) < 1e-9, `${shown.parts.join(' + ')} beside ${shown.total}`);
    }),
  );
});

function figure(text: string): number {
  return text.startsWith('<') ? 0 : Number(text.replaceAll(/[^\d.]/g, ''));
}
