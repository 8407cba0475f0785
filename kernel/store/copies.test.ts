import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { LineProcess } from '../../testing/line-process.ts';
import { seededRandom } from '../../testing/random.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { createLog } from '../log.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { DatabaseCopies } from './copies.ts';
import { copiesFolderOf, listCopies, Store } from './index.ts';

const log = createLog('test', 'silent');
const PAIRS = 'CREATE TABLE left_half (n, filler); CREATE TABLE right_half (n)';
const copier = new URL('testing/copier.ts', import.meta.url);

function writePair(store: Store, n: number): Promise<unknown> {
  return store.write((tx) => {
    tx.run('INSERT INTO left_half VALUES (:n, :filler)', { n, filler: 'x'.repeat(500) });
    tx.run('INSERT INTO right_half VALUES (:n)', { n });
  });
}

/** How many pairs a copy holds; fails when it is not whole. */
function pairsIn(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    assert.equal((database.prepare('PRAGMA quick_check').get() as { quick_check: string }).quick_check, 'ok');
    const count = (table: string) => (database.prepare(`SELECT count(*) AS n FROM ${table}`).get() as { n: number }).n;
    assert.equal(count('left_half'), count('right_half'), 'a transaction is in a copy whole or not at all');
    return count('left_half');
  } finally {
    database.close();
  }
}

test('a copy made while others write holds whole transactions, and everything acknowledged before it', async (t) => {
  const store = temporaryStore(t, PAIRS);
  for (let n = 0; n < 2000; n += 100) await Promise.all(Array.from({ length: 100 }, (_, i) => writePair(store, n + i)));
  const copies = new DatabaseCopies(store, { log });
  let written = 2000;
  const done = new AbortController();
  const writing = (async () => {
    while (!done.signal.aborted) await writePair(store, written++);
  })();
  const { path } = await copies.make();
  done.abort();
  await writing;
  assert.ok(pairsIn(path) >= 2000);
  assert.ok(written > 2000, 'writers went on meanwhile');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(copiesFolderOf(store.file)), [basename(path)], 'a copy is one file');
});

test('the newest copies are kept, as many as were asked for', async (t) => {
  const store = temporaryStore(t, PAIRS);
  const folder = copiesFolderOf(store.file);
  mkdirSync(folder);
  const old = ['20200101T000000Z', '20200101T010000Z', '20200101T020000Z'].map((stamp) =>
    join(folder, `test.db.${stamp}`),
  );
  for (const path of old) writeFileSync(path, 'old');
  writeFileSync(join(folder, 'other.db.20200101T000000Z'), 'of another database');
  const { path } = await new DatabaseCopies(store, { log, kept: 3 }).make();
  assert.deepEqual(
    listCopies(store.file).map((copy) => copy.path),
    [path, old[2], old[1]],
  );
  assert.ok(existsSync(join(folder, 'other.db.20200101T000000Z')));
  assert.equal(listCopies(store.file)[1]?.madeAt, Date.UTC(2020, 0, 1, 2));
});

test('a copy that is not sound replaces no older one', async (t) => {
  const file = join(temporaryFolder(t), 'test.db');
  writeFileSync(file, 'x'.repeat(8192));
  mkdirSync(copiesFolderOf(file));
  const old = join(copiesFolderOf(file), 'test.db.20200101T000000Z');
  writeFileSync(old, 'old');
  utimesSync(old, 0, 0);
  const damaged = {
    file,
    copyTo(target: string) {
      writeFileSync(target, 'garbage'.repeat(1000));
      return Promise.resolve();
    },
  };
  const copies = new DatabaseCopies(damaged, { log, kept: 1 });
  await assert.rejects(copies.make(), /not a sound copy/);
  assert.deepEqual(readdirSync(copiesFolderOf(file)), [basename(old)]);
});

test('a copy that fails half way leaves nothing behind', async (t) => {
  const store = temporaryStore(t, PAIRS);
  const full = {
    file: store.file,
    copyTo(target: string) {
      writeFileSync(target, 'half');
      return Promise.reject(Object.assign(new Error('disk full'), { errcode: 13 }));
    },
  };
  await assert.rejects(new DatabaseCopies(full, { log }).make(), /disk full/);
  assert.deepEqual(readdirSync(copiesFolderOf(store.file)), []);
});

test('copies are made by the clock, the first soon after the start', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store = temporaryStore(t, PAIRS);
  store.keepCopies({ log });
  assert.equal(listCopies(store.file).length, 0);
  t.mock.timers.tick(5_000);
  t.mock.timers.reset();
  await until(() => listCopies(store.file).length === 1);
});

test('a store that closes while a copy is made leaves a sound file', async (t) => {
  const store = temporaryStore(t, PAIRS);
  for (let n = 0; n < 1000; n += 100) await Promise.all(Array.from({ length: 100 }, (_, i) => writePair(store, n + i)));
  const making = new DatabaseCopies(store, { log }).make().catch(() => undefined);
  store.close();
  await making;
  for (const { path } of listCopies(store.file)) pairsIn(path);
});

test('kill -9 while copies are made: each copy that is listed is whole', async (t) => {
  const random = seededRandom(t);
  const file = join(temporaryFolder(t), 'killed.db');
  for (let round = 0; round < 5; round++) {
    const process = new LineProcess(copier, file);
    await until(() => process.lines.length >= 2);
    const seen = process.lines.length;
    await until(() => process.lines.length > seen);
    await new Promise((resolve) => setTimeout(resolve, random() * 60));
    await process.kill();
    const copies = listCopies(file);
    assert.ok(copies.length > 0 && copies.length <= 4, `${copies.length} copies`);
    for (const { path } of copies) pairsIn(path);
  }
});

test('a store that stopped its copies can be opened again at once', async (t) => {
  const file = join(temporaryFolder(t), 'test.db');
  const migrations = { component: 'test', steps: [{ name: '0001', sql: 'CREATE TABLE pages (bytes BLOB)' }] };
  const store = new Store(file, migrations);
  // Enough pages that the copy is still being made when the store is closed.
  await store.write((tx) => {
    for (let page = 0; page < 2_000; page += 1) tx.run('INSERT INTO pages VALUES (zeroblob(4096))', {});
  });
  const made = store.keepCopies({ log }).make();
  await store.stopCopies();
  store.close();
  new Store(file, migrations).close();
  assert.ok((await made).bytes > 0);
});
