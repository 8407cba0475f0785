import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GranaryError } from '@granary/kernel';
import fc from 'fast-check';
import { priceKinds } from '@granary/contract/portal';
import { readPriceFile } from './price-file.ts';

const HEADER = 'kind,key,hourly_price_usd';

function read(text: string) {
  return readPriceFile(Buffer.from(text));
}

function refused(text: string | Uint8Array, message: RegExp): void {
  assert.throws(
    () => readPriceFile(Buffer.from(text as string)),
    (error: unknown) => {
      assert.ok(error instanceof GranaryError, String(error));
      assert.equal(error.entry, 'price_file');
      assert.match(error.message, message);
      return true;
    },
  );
}

test('rows are read with the line they stand on, prices as they are written', () => {
  assert.deepEqual(read(`${HEADER}\nengine,small,0.50\n\ndrive,SSD_10GB,3\n`), [
    { row: 2, kind: 'engine', key: 'small', price: '0.50' },
    { row: 4, kind: 'drive', key: 'SSD_10GB', price: '3' },
  ]);
});

test('a byte order mark, CRLF, quotes, blanks around cells and a missing last newline are fine', () => {
  const text = `\uFEFF"kind","key",hourly_price_usd\r\n\r\n "engine" , "a ""big"", one" , "1.5"\r\n   \r\ncache_gb,cache_gb,0`;
  assert.deepEqual(read(text), [
    { row: 3, kind: 'engine', key: 'a "big", one', price: '1.5' },
    { row: 5, kind: 'cache_gb', key: 'cache_gb', price: '0' },
  ]);
});

test('a bad row is refused by its number and what is wrong with it', () => {
  const good = `${HEADER}\nengine,small,1\n`;
  refused(`${good}engines,small,1\n`, /^Row 3: kind is "engines"; it must be one of engine, drive, /);
  refused(`${good}engine,,1\n`, /^Row 3: key is ""/);
  refused(`${good}\n\nengine,large,-1\n`, /^Row 5: hourly_price_usd is "-1"/);
  for (const price of ['', 'abc', '1e3', '0.0000000001', '1.', '$1', 'NaN', 'Infinity', '1234567890', '0x10']) {
    refused(`${good}engine,large,${price}\n`, /^Row 3: hourly_price_usd is /);
  }
  refused(`${good}engine,large,"1,5"\n`, /^Row 3: hourly_price_usd is "1,5"/);
  refused(`${good}engine,large\n`, /^Row 3: has 2 cells/);
  refused(`${good}engine,large,1,\n`, /^Row 3: has 4 cells/);
  refused(`${good},,\n`, /^Row 3: kind is ""/);
  refused(`${good}drive,a,1\nengine,small,2\n`, /^Row 4: engine:small has a price in row 2 already/);
  refused(`${good}drive,"a,1\nx,y,2\n`, /^Row \d+: quote not closed/);
  refused(`${good}drive,a"b,1\n`, /^Row 3: invalid opening quote/);
  refused(`${good}drive,${'x'.repeat(5000)},1\n`, /^Row 3: max record size/);
  refused(`${good}${'x'.repeat(500)},a,1\n`, /^Row 3: kind is "x{79}…; /);
});

test('a file that is no price file is refused', () => {
  refused('', /header must be kind,key,hourly_price_usd/);
  refused('\n\n', /header must be/);
  refused('key,kind,hourly_price_usd\nsmall,engine,1\n', /^Row 1: the header must be/);
  refused('engine,small,1\n', /^Row 1: the header must be/);
  refused(`${HEADER}\n`, /holds no prices/);
  refused('[]', /holds no prices/);
  refused('{"kind":"engine"}', /must be a list/);
  refused('[{"kind":', /not valid JSON/);
  refused(`${'['.repeat(100_000)}${']'.repeat(100_000)}`, /not valid JSON|must be an object/);
  refused(new Uint8Array([0xff, 0xfe, 0x6b, 0x00]), /not UTF-8/);
});

test('at most 10,000 rows are taken', () => {
  const rows = Array.from({ length: 10_000 }, (_, index) => `drive,d${index},1`);
  assert.equal(read([HEADER, ...rows].join('\n')).length, 10_000);
  refused([HEADER, ...rows, 'drive,more,1'].join('\n'), /more than 10000 rows/);
  const list = Array.from({ length: 10_001 }, (_, index) => ({
    kind: 'drive',
    key: `d${index}`,
    hourly_price_usd: '1',
  }));
  refused(JSON.stringify(list), /more than 10000 rows/);
});

test('JSON numbers are taken exactly as they are written', () => {
  const price = (number: string) => read(`[{"kind":"engine","key":"a","hourly_price_usd":${number}}]`)[0]?.price;
  assert.equal(price('0.50'), '0.50');
  assert.equal(price('5e-7'), '0.0000005');
  assert.equal(price('1.5E2'), '150');
  // More digits than a double holds.
  assert.equal(price('123456789.123456789'), '123456789.123456789');
  for (const bad of ['-1', '1e10', '1e999', '1e-999999999', '0.12345678901', '0.30000000000000000001', '-0', '1e-10']) {
    refused(`[{"kind":"engine","key":"a","hourly_price_usd":${bad}}]`, /^Row 1: hourly_price_usd is /);
  }
});

test('a bad item of a JSON list is refused by its position', () => {
  const good = { kind: 'engine', key: 'a', hourly_price_usd: '1' };
  const list = (item: unknown) => JSON.stringify([good, item]);
  for (const item of [null, 1, 'engine,a,1', ['engine', 'b', '1']]) refused(list(item), /^Row 2: must be an object/);
  refused(list({ ...good, kind: 'toString' }), /^Row 2: kind is "toString"/);
  refused(list({ ...good, key: undefined }), /^Row 2: key is nothing/);
  refused(list({ ...good, key: 'b', hourly_price_usd: null }), /^Row 2: hourly_price_usd is null/);
  refused(list({ ...good, key: 'b', hourly_price_usd: true }), /^Row 2: hourly_price_usd is true/);
  refused(list(good), /^Row 2: engine:a has a price in row 1 already/);
});

test('the same prices as CSV and as JSON are the same', () => {
  const key = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' }).filter((text) => text === text.trim());
  const price = fc
    .tuple(fc.nat({ max: 999_999_999 }), fc.option(fc.stringMatching(/^[0-9]{1,9}$/)))
    .map(([whole, fraction]) => (fraction === null ? `${whole}` : `${whole}.${fraction}`));
  const row = fc.record({ kind: fc.constantFrom(...priceKinds), key, hourly_price_usd: price });
  const rows = fc.uniqueArray(row, { minLength: 1, selector: (one) => `${one.kind}:${one.key}` });
  fc.assert(
    fc.property(rows, fc.constantFrom('\n', '\r\n'), (list, newline) => {
      const lines = list.map((one) => [one.kind, `"${one.key.replaceAll('"', '""')}"`, one.hourly_price_usd].join());
      const fromCsv = read([HEADER, ...lines].join(newline));
      const texts = read(JSON.stringify(list));
      const numbers = read(
        `[${list.map((one) => `{"kind":"${one.kind}","key":${JSON.stringify(one.key)},"hourly_price_usd":${one.hourly_price_usd}}`).join()}]`,
      );
      assert.deepEqual(
        fromCsv.map((one) => ({ ...one, row: one.row - 1 })),
        texts,
      );
      assert.deepEqual(numbers, texts);
    }),
  );
});
