import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ago, bytes, gigabytes, money, percent, shareText, timeOf, wholePercent, words } from '../src/parts/format.ts';

/** Goal: figures are written as they are, and at their edges, too. */

test('capacities are cut, never rounded up, and a decimal figure is written as it was given', () => {
  for (const [value, text] of [
    [0, '0 GiB'],
    [8.2 * 1024, '8.2 TiB'],
    [1.13, '1.13 GiB'],
    [9.999, '9.99 GiB'],
    [99.99, '99.9 GiB'],
    [1023.9, '1023 GiB'],
    [0.5, '512 MiB'],
    [-1.5, '-1.5 GiB'],
    [2 ** 30, '1 EiB'],
  ] as const)
    assert.equal(gigabytes(value), text);
});

test('bytes that are negative, or no figure at all, do not become nonsense', () => {
  assert.deepEqual(
    [0, 1023, 1024, -5, -3 * 2 ** 30, 12.7, Number.NaN, null].map((value) => bytes(value)),
    ['0 B', '1023 B', '1 KiB', '-5 B', '-3 GiB', '12 B', '–', '–'],
  );
  assert.equal(gigabytes(Number.NaN), '–');
  assert.deepEqual([shareText(12, 9), shareText(9, 9), shareText(0, 9), shareText(0, 0)], ['133%', '100%', '0%', '0%']);
  assert.deepEqual([shareText(243 * 1024, 9), shareText(3, 0)], ['27,648 times', 'no capacity']);
  assert.deepEqual([percent(5, 0), percent(3, 2), percent(1, 4)], [0, 100, 25]);
});

test('money has cents, and more digits where it is less than a cent', () => {
  assert.deepEqual(
    ['1234.5', '0', '0.000125', '-2.005', '0.01'].map((amount) => money(amount)),
    ['1,234.50 USD', '0.00 USD', '0.000125 USD', '-2.01 USD', '0.01 USD'],
  );
  assert.equal(money('none', 'EUR'), '–');
});

test('times of all interfaces are read as UTC', () => {
  const at = Date.parse('2026-11-18T20:41:29Z');
  for (const text of ['2026-11-18 20:41:29 UTC', '2026-11-18 20:41:29', '2026-11-18T20:41:29.000Z', at / 1000])
    assert.equal(timeOf(text)?.getTime(), at, String(text));
  assert.equal(timeOf('never'), undefined);
});

test('how long ago is said in the largest unit that has passed whole', () => {
  const now = Date.parse('2026-11-18T20:41:29Z');
  const back = (seconds: number) => ago(new Date(now - seconds * 1000), now);
  assert.deepEqual([30, 60, 3_599, 86_399, 86_400, 60 * 86_400].map(back), [
    'just now',
    '1 minute ago',
    '59 minutes ago',
    '23 hours ago',
    'yesterday',
    '2 months ago',
  ]);
  assert.equal(back(-7_200), 'in 2 hours');
});

test('names of fields become words, with what is an abbreviation in capitals', () => {
  assert.equal(words('s3_access_key'), 'S3 access key');
  assert.equal(words('resetAccessKey'), 'Reset access key');
});

test('a share is rounded, and is whole only when it is', () => {
  assert.deepEqual([0, 66.67, 99.9, 100].map(wholePercent), [0, 67, 99, 100]);
});
