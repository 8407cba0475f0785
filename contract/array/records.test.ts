import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { TObject } from 'typebox';
import * as records from './index.ts';

/** Fields decided on beyond the specification's tables. */
const decided: Readonly<Record<string, readonly string[]>> = {
  Controller: ['file_lifecycle'],
  Pool: ['provisioned_capacity'],
};

const [, ...lines] = readFileSync(new URL('./records.tsv', import.meta.url), 'utf8')
  .trim()
  .split('\n');
const specified = Map.groupBy(
  lines.map((line) => line.split('\t')),
  ([record = '']) => record,
);

for (const [name, rows] of specified) {
  test(`the record ${name} has just the fields of the specification's table`, () => {
    const record = (records as unknown as Record<string, TObject>)[name];
    assert.ok(record, `the contract has a record ${name}`);
    const fields = [...rows.map(([, field]) => field), ...(decided[name] ?? [])];
    assert.deepEqual(Object.keys(record.properties).toSorted(), fields.toSorted());
  });
}
