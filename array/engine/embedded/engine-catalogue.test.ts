import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../../testing/folders.ts';
import { readCatalogue } from './engine-catalogue.ts';

test('a record that is missing beside pools, or is no JSON, is refused by its name', (t) => {
  const folder = temporaryFolder(t);
  assert.deepEqual(readCatalogue(folder).pools, []);
  mkdirSync(join(folder, 'pools'));
  assert.deepEqual(readCatalogue(folder).pools, []);
  writeFileSync(join(folder, 'pools', 'pool-00000001.db'), '');
  assert.throws(() => readCatalogue(folder), /engine\.json is missing, but .* holds 1 pools/);
  writeFileSync(join(folder, 'engine.json'), '');
  assert.throws(() => readCatalogue(folder), /engine\.json is damaged/);
});
