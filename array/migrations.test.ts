import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Store } from '@granary/kernel';
import { temporaryFolder } from '../testing/folders.ts';
import { migrations } from './migrations.ts';

test('a file of any earlier version opens, and has the tables of a new one', (t) => {
  const folder = temporaryFolder(t);
  const tablesOf = (file: string): unknown => {
    const store = new Store(join(folder, file), migrations);
    const found = store.read((db) => db.all<object>('SELECT name, sql FROM sqlite_schema ORDER BY name'));
    store.close();
    return found.map((row) => ({ ...row }));
  };
  const fresh = tablesOf('new.db');
  for (let count = 1; count < migrations.steps.length; count += 1) {
    const file = `${count}.db`;
    new Store(join(folder, file), { ...migrations, steps: migrations.steps.slice(0, count) }).close();
    assert.deepEqual(tablesOf(file), fresh, `after ${migrations.steps[count - 1]?.name}`);
  }
});
