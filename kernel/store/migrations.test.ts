import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../testing.ts';
import { readMigrations, Store, type Migrations } from './index.ts';

const people = { name: '0001-people.sql', sql: 'CREATE TABLE people (name TEXT)' };
const ages = {
  name: '0002-ages.sql',
  sql: 'ALTER TABLE people ADD COLUMN age INTEGER; CREATE TABLE years (n INTEGER)',
};
const broken = { name: '0003-broken.sql', sql: 'CREATE TABLE half (n INTEGER); INSERT INTO nowhere VALUES (1)' };

function migrations(...steps: Migrations['steps']): Migrations {
  return { component: 'test', steps };
}

function tablesOf(file: string, known: Migrations): string[] {
  const store = new Store(file, known);
  const rows = store.read((db) => db.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`));
  store.close();
  return rows.map(({ name }) => name);
}

function folderOf(t: TestContext, ...names: string[]): URL {
  const folder = join(temporaryFolder(t), 'migrations');
  mkdirSync(folder);
  for (const name of names) writeFileSync(join(folder, name), `-- ${name}`);
  return pathToFileURL(`${folder}/`);
}

test('each migration runs once, in order', (t) => {
  const file = join(temporaryFolder(t), 'test.db');
  new Store(file, migrations(people)).close();
  new Store(file, migrations(people)).close();
  const tables = tablesOf(file, migrations(people, ages));
  assert.ok(tables.includes('people') && tables.includes('years'));
});

test('a file written by a newer release is refused', (t) => {
  const file = join(temporaryFolder(t), 'test.db');
  new Store(file, migrations(people, ages)).close();
  assert.throws(() => new Store(file, migrations(people)), /at version 2, newer than this release knows \(1\)/);
});

test('a migration that fails leaves nothing of itself and everything before it', (t) => {
  const file = join(temporaryFolder(t), 'test.db');
  assert.throws(() => new Store(file, migrations(people, ages, broken)), /0003-broken.sql of test failed/);
  const tables = tablesOf(file, migrations(people, ages));
  assert.ok(tables.includes('years') && !tables.includes('half'));
});

test('migrations are read in the order of their numbers', (t) => {
  const { steps } = readMigrations('test', folderOf(t, '0002-b.sql', '0001-a.sql', 'notes.md'));
  assert.deepEqual(steps, [
    { name: '0001-a.sql', sql: '-- 0001-a.sql' },
    { name: '0002-b.sql', sql: '-- 0002-b.sql' },
  ]);
});

test('a gap or a repeat in the numbers is refused', (t) => {
  assert.throws(() => readMigrations('test', folderOf(t, '0001-a.sql', '0003-c.sql')), /0003-c.sql should be number 2/);
  assert.throws(() => readMigrations('test', folderOf(t, '0001-a.sql', '0001-b.sql')), /0001-b.sql should be number 2/);
});
