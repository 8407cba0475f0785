import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { Database, DatabaseError, type DatabaseOptions, type Transaction } from './index.ts';

const migrations = [
  { component: 'test', steps: [{ name: '0001-things', sql: 'CREATE TABLE things (id INTEGER PRIMARY KEY) STRICT' }] },
];

function open(t: TestContext, file: string, more: Partial<DatabaseOptions> = {}): Database {
  const database = new Database(file, { access: 'exclusive', migrations, lockWaitMs: 50, ...more });
  t.after(() => {
    database.close();
  });
  return database;
}

function fileOf(t: TestContext): string {
  return join(temporaryFolder(t), 'things.db');
}

function add(database: Database, id: number): void {
  database.transaction((tx) => tx.run('INSERT INTO things VALUES (?)', id));
}

function idsIn(database: Database): number[] {
  return database.all<{ id: number }>('SELECT id FROM things ORDER BY id').map(({ id }) => id);
}

test('nothing is kept of a transaction that throws, and the next one works', (t) => {
  const database = open(t, fileOf(t));
  assert.throws(() => {
    database.transaction((tx) => {
      tx.run('INSERT INTO things VALUES (1)');
      throw new Error('halfway');
    });
  }, /halfway/);
  add(database, 2);
  assert.deepEqual(idsIn(database), [2]);
});

test('what was committed is there when the file is opened again', async (t) => {
  const file = fileOf(t);
  const database = open(t, file);
  add(database, 7);
  await database.sync();
  await database.sync();
  database.close();
  assert.deepEqual(idsIn(open(t, file)), [7]);
});

test('inside a transaction the database itself neither reads nor begins another', (t) => {
  const database = open(t, fileOf(t));
  const inside: ((tx: Transaction) => unknown)[] = [
    () => database.get('SELECT 1'),
    () => database.all('SELECT 1'),
    () => database.iterate('SELECT 1'),
    () => database.arrays('SELECT 1'),
    () => database.snapshot(() => 1),
    () => database.transaction(() => 1),
  ];
  for (const work of inside) assert.throws(() => database.transaction(work), /read and write through it/);
  const seen = database.transaction((tx) => {
    tx.run('INSERT INTO things VALUES (1)');
    return tx.snapshot(() => [
      tx.get('SELECT 1 AS n'),
      [...tx.iterate('SELECT id FROM things')],
      tx.arrays('SELECT 2'),
    ]);
  });
  assert.deepEqual(JSON.stringify(seen), '[{"n":1},[{"id":1}],[[2]]]');
});

test('a transaction that has ended is of no use', (t) => {
  const database = open(t, fileOf(t));
  const tx = database.transaction((handle) => handle);
  assert.throws(() => tx.run('INSERT INTO things VALUES (1)'), /has ended/);
  assert.throws(() => tx.get('SELECT 1'), /has ended/);
  assert.throws(() => tx.exec('SELECT 1'), /has ended/);
});

test('reads of a snapshot see one state, whatever the writer commits meanwhile', (t) => {
  const file = fileOf(t);
  const writer = open(t, file, { access: 'shared' });
  const reader = open(t, file, { access: 'read-only' });
  reader.snapshot(() => {
    assert.deepEqual(idsIn(reader), []);
    add(writer, 1);
    assert.deepEqual(
      reader.snapshot(() => idsIn(reader)),
      [],
    );
  });
  assert.deepEqual(idsIn(reader), [1]);
  assert.throws(() => add(reader, 2), /readonly/);
});

test('a file that is missing, empty, foreign or in use is refused with a code and its name', (t) => {
  const file = fileOf(t);
  const refused = (code: string, more: Partial<DatabaseOptions> = {}): void =>
    assert.throws(
      () => open(t, file, more),
      (error) => error instanceof DatabaseError && error.code === code && error.message.includes(file),
    );
  refused('missing', { mustExist: true });
  refused('missing', { access: 'read-only' });
  fs.writeFileSync(file, '');
  refused('damaged', { mustExist: true });
  fs.writeFileSync(file, 'garbage'.repeat(2000));
  refused('damaged');
  fs.rmSync(file);
  // The second time nothing is written to the file.
  for (let turn = 0; turn < 2; turn++) {
    const owner = open(t, file);
    refused('in-use');
    owner.close();
  }
});

test('damage inside the file is found at the start', (t) => {
  const file = fileOf(t);
  const database = open(t, file);
  database.transaction((tx) => {
    for (let id = 0; id < 5000; id++) tx.run('INSERT INTO things VALUES (?)', id);
  });
  database.close();
  const bytes = fs.readFileSync(file);
  bytes.fill(0xff, 3 * 4096, 4 * 4096);
  fs.writeFileSync(file, bytes);
  assert.throws(() => open(t, file, { isChecked: true }), { code: 'damaged' });
});

test('errors are those of the user of the database', async (t) => {
  const file = fileOf(t);
  const translate = (error: unknown): Error => new RangeError((error as DatabaseError).code);
  assert.throws(() => open(t, file, { mustExist: true, translate }), RangeError);
  const database = open(t, file, { translate });
  database.close();
  assert.throws(() => add(database, 1), { name: 'RangeError', message: 'closed' });
});

test('after a sync that failed everything is refused, because a later one would report success', async (t) => {
  const database = open(t, fileOf(t));
  const broken = t.mock.method(fs, 'fdatasync', (_fd: number, done: (error: Error) => void) => {
    done(new Error('EIO'));
  });
  add(database, 1);
  await assert.rejects(database.sync(), /could not be made durable \(EIO\).*start again/);
  broken.mock.restore();
  await assert.rejects(database.sync(), { code: 'not-durable' });
  assert.throws(() => database.syncNow(), { code: 'not-durable' });
  assert.throws(() => add(database, 2), { code: 'not-durable' });
});

test('a sync that is under way outlives the database', async (t) => {
  const database = open(t, fileOf(t));
  add(database, 1);
  const syncing = database.sync();
  database.close();
  await syncing;
});
