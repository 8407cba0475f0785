import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { temporaryFolder } from '../../testing/folders.ts';
import { Database, readMigrations, type Migrations, type Transaction } from './index.ts';

const people = { name: '0001-people.sql', sql: 'CREATE TABLE people (name TEXT)' };
const ages = {
  name: '0002-ages.sql',
  sql: 'ALTER TABLE people ADD COLUMN age INTEGER; CREATE TABLE years (n INTEGER)',
};
const broken = { name: '0003-broken.sql', sql: 'CREATE TABLE half (n INTEGER); INSERT INTO nowhere VALUES (1)' };

function migrations(...steps: Migrations['steps']): Migrations {
  return { component: 'test', steps };
}

function open(file: string, known: Migrations): Database {
  return new Database(file, { access: 'exclusive', migrations: [known] });
}

function tablesOf(file: string, known: Migrations): string[] {
  const database = open(file, known);
  const rows = database.all<{ name: string }>(`SELECT name FROM sqlite_schema WHERE type = 'table'`);
  database.close();
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
  open(file, migrations(people)).close();
  open(file, migrations(people)).close();
  const tables = tablesOf(file, migrations(people, ages));
  assert.ok(tables.includes('people') && tables.includes('years'));
});

test('a file written by a newer release is refused', (t) => {
  const file = join(temporaryFolder(t), 'test.db');
  open(file, migrations(people, ages)).close();
  assert.throws(() => open(file, migrations(people)), /at version 2, newer than this release knows \(1\)/);
});

test('a migration that fails leaves nothing of itself and everything before it', (t) => {
  const file = join(temporaryFolder(t), 'test.db');
  assert.throws(() => open(file, migrations(people, ages, broken)), /0003-broken.sql of test failed/);
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

test('a file from before there were versions is at version 1, a new one is not', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'old.db');
  const old = open(file, migrations());
  old.transaction((tx) => tx.exec(people.sql));
  old.close();
  const known = { ...migrations(people, ages), unversionedTable: 'people' };
  for (const each of [file, file, join(folder, 'new.db')]) assert.ok(tablesOf(each, known).includes('years'));
});

test('a step that looks at the file is part of the same transaction as its version', (t) => {
  const file = join(temporaryFolder(t), 'test.db');
  let runs = 0;
  const fill = {
    name: '0002-fill',
    apply(tx: Transaction) {
      runs += 1;
      tx.run('INSERT INTO people VALUES (?)', 'Ada');
      if (runs === 1) throw new Error('the first attempt');
    },
  };
  assert.throws(() => open(file, migrations(people, fill)), /0002-fill of test failed/);
  for (let turn = 0; turn < 2; turn++) {
    const database = open(file, migrations(people, fill));
    assert.deepEqual(database.arrays('SELECT name FROM people'), [['Ada']]);
    database.close();
  }
  assert.equal(runs, 2);
});
