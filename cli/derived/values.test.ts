import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import Type from 'typebox';
import { anyone, endpoint, success } from '@granary/contract';
import { temporaryFolder } from '../../testing/folders.ts';
import { boolean, capacity, choice, decimal, file, integer, json, list, text } from '../../contract/params.ts';
import { sizeNotes } from './sizes.ts';
import { readList, readValue, type Reading } from './values.ts';

const drives = json(Type.Record(Type.String(), Type.Integer()), 'Drives');

function problemOf(reading: Reading): string | undefined {
  return 'problem' in reading ? reading.problem : undefined;
}

test('text is sent as it was typed; a choice must be one of its values', () => {
  fc.assert(fc.property(fc.string(), (typed) => assert.deepEqual(readValue(typed, text('A text')), { value: typed })));
  const role = choice(['admin', 'user'], 'Role');
  assert.deepEqual(readValue('user', role), { value: 'user' });
  assert.equal(problemOf(readValue('root', role)), 'must be one of admin, user');
});

test('whole numbers and decimals are read exactly, anything else is refused', () => {
  fc.assert(
    fc.property(fc.integer(), (number) =>
      assert.deepEqual(readValue(String(number), integer('A number')), { value: number }),
    ),
  );
  assert.deepEqual(readValue('0.25', decimal('A number')), { value: 0.25 });
  for (const typed of ['', 'x', '1.5', '1e3', '0x10', '12 GB', 'NaN'])
    assert.equal(problemOf(readValue(typed, integer('A number'))), 'must be a whole number', typed);
  assert.equal(problemOf(readValue('1,5', decimal('A number'))), 'must be a number');
});

test('booleans are read in the words people use', () => {
  for (const typed of ['true', 'YES', 'on', '1']) assert.deepEqual(readValue(typed, boolean('B')), { value: true });
  for (const typed of ['false', 'No', 'off', '0']) assert.deepEqual(readValue(typed, boolean('B')), { value: false });
  assert.equal(problemOf(readValue('maybe', boolean('B'))), 'must be true or false');
});

test('a list is commas, repetition or JSON, and each item is read as its kind', () => {
  const ids = list(integer('An id'), 'Ids');
  assert.deepEqual(readList(['1, 2', '3'], ids), { value: [1, 2, 3] });
  assert.deepEqual(readList(['[4,5]'], ids), { value: [4, 5] });
  assert.deepEqual(readList(['["a,b","c"]'], list(text('A name'), 'Names')), { value: ['a,b', 'c'] });
  assert.equal(problemOf(readList(['1,x'], ids)), "holds 'x', which must be a whole number");
});

test('an empty text is an empty list', () => {
  assert.deepEqual(readList([''], list(choice(['pool', 'volume'], 'Kind'), 'Kinds')), { value: [] });
});

test('pairs are short for a list of one JSON object where a list is wanted', () => {
  const kinds = json(Type.Array(Type.Object({ type: Type.String(), quantity: Type.Integer() })), 'Drives');
  assert.deepEqual(readValue('type=SSD_10GB,quantity=2', kinds), { value: [{ type: 'SSD_10GB', quantity: 2 }] });
  assert.deepEqual(readValue('[{"type":"SSD_10GB"}]', kinds), { value: [{ type: 'SSD_10GB' }] });
});

test('pairs are short for a JSON object', () => {
  assert.deepEqual(readValue('SSD_10GB=2,SSD_100GB=1', drives), { value: { SSD_10GB: 2, SSD_100GB: 1 } });
  assert.deepEqual(readValue('{"SSD_10GB": 2}', drives), { value: { SSD_10GB: 2 } });
  const key = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,20}$/).filter((name) => name !== '__proto__');
  const wanted = fc.dictionary(key, fc.nat(), { minKeys: 1, noNullPrototype: true });
  fc.assert(
    fc.property(wanted, (value) => {
      const typed = Object.entries(value).map(([name, count]) => `${name}=${count}`);
      assert.deepEqual(readValue(typed.join(','), drives), { value });
      assert.deepEqual(readValue(JSON.stringify(value), drives), { value });
    }),
  );
});

test('what is neither pairs nor JSON is refused', () => {
  for (const typed of ['', 'SSD_10GB', '=2', 'a=1,,b=2'])
    assert.equal(problemOf(readValue(typed, drives)), 'must be key=value,key=value or JSON', typed);
  assert.equal(problemOf(readValue('{"a": 1', drives)), 'is not valid JSON');
  assert.equal(problemOf(readValue('a=1,a=2', drives)), 'names a twice');
});

test('a capacity keeps its unit, which the service reads', () => {
  for (const typed of ['10', '10G', '2tb', '2TiB', '512 M', '1.5G'])
    assert.deepEqual(readValue(typed, capacity('Size')), { value: typed });
  assert.equal(problemOf(readValue('ten', capacity('Size'))), 'must be a capacity such as 10G, 2T or 512M');
});

test('a size is taken as what the command says: units of 1024, and GB where none is given', () => {
  const create = endpoint('POST', '/volumes', {
    summary: 'Create',
    access: anyone,
    params: { capacity: capacity('Size') },
    reply: success({}),
  });
  const note = (typed: string) => sizeNotes(create, { capacity: typed })[0];
  for (const typed of ['5', '5G', '5GB', '5 gb', '5120M'])
    assert.equal(note(typed), `--capacity ${typed} is taken as 5 GiB (5,368,709,120 bytes).`);
  assert.equal(note('1.5T'), '--capacity 1.5T is taken as 1.5 TiB (1,649,267,441,664 bytes).');
  assert.equal(note('5GiB'), undefined);
});

test('a number of GB may be given as a size', () => {
  const cache = integer('GB of cache');
  for (const typed of ['200', '200G', '200 GiB', '204800M']) assert.deepEqual(readValue(typed, cache), { value: 200 });
  assert.deepEqual(readValue('1T', cache), { value: 1024 });
  assert.equal(problemOf(readValue('1.5G', cache)), 'must be a whole number of GB');
  assert.equal(problemOf(readValue('5G', integer('A number'))), 'must be a whole number');
});

test('a file is read from its path', (t) => {
  const path = join(temporaryFolder(t), 'prices.csv');
  writeFileSync(path, 'kind,key,hourly_price_usd\n');
  assert.deepEqual(readValue(path, file('Prices')), {
    value: { filename: 'prices.csv', bytes: Buffer.from('kind,key,hourly_price_usd\n') },
  });
  assert.match(problemOf(readValue(`${path}.no`, file('Prices'))) ?? '', /which does not exist/);
});
