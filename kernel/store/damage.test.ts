import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { LineProcess } from '../../testing/line-process.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { DamagedDatabaseError, Store } from './index.ts';

const migrations = {
  component: 'test',
  steps: [{ name: '0001-test.sql', sql: 'CREATE TABLE numbers (n INTEGER NOT NULL, filler TEXT) STRICT' }],
};
const writer = new URL('testing/writer.ts', import.meta.url);
const PAGE = 4096;

function open(file: string): Store {
  return new Store(file, migrations, 100);
}

async function fill(store: Store, rows = 200): Promise<void> {
  for (let n = 0; n < rows; n++)
    await store.write((tx) => tx.run('INSERT INTO numbers VALUES (:n, :filler)', { n, filler: 'x'.repeat(1000) }));
}

/** A database that was used and closed. */
async function closedDatabase(t: TestContext): Promise<string> {
  const file = join(temporaryFolder(t), 'test.db');
  const store = open(file);
  await fill(store);
  store.close();
  return file;
}

/** A database whose process was killed: its log holds what was acknowledged. */
async function killedDatabase(t: TestContext): Promise<string> {
  const file = join(temporaryFolder(t), 'test.db');
  const owner = new LineProcess(writer, file);
  await until(() => owner.lines.length > 50);
  await owner.kill();
  return file;
}

function refuses(file: string, problem: RegExp): void {
  const before = existsSync(file) ? readFileSync(file) : undefined;
  assert.throws(
    () => open(file),
    (error: unknown) => {
      assert.ok(error instanceof DamagedDatabaseError, String(error));
      assert.equal(error.file, file);
      assert.ok(error.message.startsWith(`${file} is damaged: `), error.message);
      assert.match(error.message, problem);
      assert.match(error.message, /granary restore-books/);
      return true;
    },
  );
  assert.deepEqual(existsSync(file) ? readFileSync(file) : undefined, before, 'a damaged file is left as it is');
}

const damages: Record<string, { damage: (file: string) => void; problem: RegExp }> = {
  garbage: {
    damage: (file) => writeFileSync(file, Buffer.alloc(statSync(file).size, 'garbage')),
    problem: /not a database/,
  },
  '0 bytes': { damage: (file) => truncateSync(file, 0), problem: /0 bytes/ },
  'the file is gone': { damage: (file) => rmSync(file), problem: /missing/ },
  'half of it is gone': { damage: (file) => truncateSync(file, statSync(file).size / 2), problem: /damaged/ },
  'a page of zeros': {
    damage: (file) => {
      const bytes = readFileSync(file);
      bytes.fill(0, bytes.length - 3 * PAGE, bytes.length - 2 * PAGE);
      writeFileSync(file, bytes);
    },
    problem: /damaged/,
  },
  'a first page of zeros': {
    damage: (file) => {
      const bytes = readFileSync(file);
      bytes.fill(0, 0, PAGE);
      writeFileSync(file, bytes);
    },
    problem: /damaged/,
  },
};

for (const [name, { damage, problem }] of Object.entries(damages)) {
  test(`a damaged database is refused by its name and left as it is: ${name}`, async (t) => {
    const file = await closedDatabase(t);
    damage(file);
    refuses(file, problem);
    refuses(file, problem);
  });
}

test('a database whose write-ahead log was removed after a crash is refused', async (t) => {
  const file = await killedDatabase(t);
  rmSync(`${file}-wal`);
  refuses(file, /test\.db-wal is missing/);
});

test('a write-ahead log that was emptied after a crash is refused', async (t) => {
  const file = await killedDatabase(t);
  truncateSync(`${file}-wal`, 0);
  refuses(file, /test\.db-wal is missing/);
});

test('the write-ahead log of another database is refused', async (t) => {
  const [file, other] = [await killedDatabase(t), await killedDatabase(t)];
  copyFileSync(`${other}-wal`, `${file}-wal`);
  refuses(file, /write-ahead log of another database/);
});

test('a database that was killed and is whole opens, as often as it is killed', async (t) => {
  const file = await killedDatabase(t);
  for (let round = 1; round <= 3; round++) {
    const owner = new LineProcess(writer, file, String(round * 1_000_000));
    await until(() => owner.lines.length > 20);
    await owner.kill();
  }
  open(file).close();
  open(file).close();
});

test('a database whose log has started over many times opens after a crash', async (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'test.db');
  const store = open(file);
  await fill(store, 1500);
  // As a crash leaves it: the files as they are, the mark saying that it is open.
  const copy = join(folder, 'copy.db');
  for (const ending of ['', '-wal', '.mark']) copyFileSync(`${file}${ending}`, `${copy}${ending}`);
  store.close();
  const again = open(copy);
  assert.equal(again.read((db) => db.get<{ n: number }>('SELECT count(*) AS n FROM numbers'))?.n, 1500);
  again.close();
});

test('an empty file without a mark is a new installation: SQLite makes it before the first commit', (t) => {
  const file = join(temporaryFolder(t), 'test.db');
  writeFileSync(file, '');
  open(file).close();
  open(file).close();
});

test('a database of an earlier release, without a mark, opens', async (t) => {
  const file = await closedDatabase(t);
  rmSync(`${file}.mark`);
  open(file).close();
  assert.ok(existsSync(`${file}.mark`));
});
