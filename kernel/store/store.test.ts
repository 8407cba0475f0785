import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { LineProcess } from '../../testing/line-process.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { DiskFullError, Store } from './index.ts';

const NUMBERS = 'CREATE TABLE numbers (n INTEGER NOT NULL) STRICT';
const writer = new URL('../sqlite/testing/writer.ts', import.meta.url);

function insert(store: Store, n: number): Promise<unknown> {
  return store.write((tx) => tx.run('INSERT INTO numbers VALUES (:n)', { n }));
}

function numbersIn(store: Store): number[] {
  return store.read((db) => db.all<{ n: number }>('SELECT n FROM numbers ORDER BY n')).map(({ n }) => n);
}

function pragma(store: Store, name: string): unknown {
  return Object.values(store.read((db) => db.get<object>(`PRAGMA ${name}`)) ?? {})[0];
}

/** Timers stand still in some tests. */
async function turnsUntil(isDone: () => boolean): Promise<void> {
  while (!isDone()) await new Promise(setImmediate);
}

test('changes that wait together share a commit, in the order they came', async (t) => {
  const store = temporaryStore(t, NUMBERS);
  const seen: string[] = [];
  await Promise.all(
    Array.from({ length: 300 }, (_, n) =>
      store.write((tx) => {
        seen.push('work');
        tx.run('INSERT INTO numbers VALUES (:n)', { n });
        tx.afterCommit(() => seen.push('commit'));
      }),
    ),
  );
  assert.equal(seen.indexOf('commit'), 256);
  assert.equal(seen.lastIndexOf('work'), 2 * 256 + 43);
  const inserted = store.read((db) => db.all<{ n: number }>('SELECT n FROM numbers ORDER BY rowid'));
  assert.deepEqual(
    inserted.map(({ n }) => n),
    Array.from({ length: 300 }, (_, n) => n),
  );
});

test('a change that fails takes no other with it and leaves nothing behind', async (t) => {
  const store = temporaryStore(t, NUMBERS);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { maxLength: 40 }), async (fails) => {
      await store.write((tx) => tx.run('DELETE FROM numbers'));
      const committed: number[] = [];
      const outcomes = await Promise.allSettled(
        fails.map((failing, n) =>
          store.write((tx) => {
            tx.run('INSERT INTO numbers VALUES (:n)', { n });
            tx.afterCommit(() => committed.push(n));
            if (failing) throw new Error('as asked');
            return n;
          }),
        ),
      );
      const expected = fails.flatMap((failing, n) => (failing ? [] : [n]));
      assert.deepEqual(numbersIn(store), expected);
      assert.deepEqual(committed, expected);
      assert.deepEqual(
        outcomes.map(({ status }) => status === 'rejected'),
        fails,
      );
    }),
    { numRuns: 50 },
  );
});

test('what waits for the commit runs before the caller hears of it', async (t) => {
  const store = temporaryStore(t, NUMBERS);
  const seen: string[] = [];
  const change = store.write((tx) => {
    tx.afterCommit(() => seen.push('after commit'));
    seen.push('work');
  });
  await change.then(() => seen.push('answer'));
  assert.deepEqual(seen, ['work', 'after commit', 'answer']);
});

test('a full disk fails the changes that did not fit, keeps those acknowledged, and ends when there is room', async (t) => {
  const store = temporaryStore(t, 'CREATE TABLE numbers (n INTEGER, filler TEXT)');
  const pages = Number(pragma(store, 'page_count'));
  pragma(store, `max_page_count = ${pages + 20}`);
  const fill = (n: number) =>
    store.write((tx) => tx.run('INSERT INTO numbers VALUES (:n, :filler)', { n, filler: 'x'.repeat(2000) }));
  const acknowledged: number[] = [];
  let refused = 0;
  for (let round = 0; round < 20; round++) {
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, (_, n) => fill(round * 10 + n)));
    outcomes.forEach((outcome, n) => {
      if (outcome.status === 'fulfilled') acknowledged.push(round * 10 + n);
      else if (outcome.reason instanceof DiskFullError) refused += 1;
    });
  }
  assert.ok(acknowledged.length > 0);
  assert.equal(refused, 200 - acknowledged.length);
  assert.ok(store.isDiskFull);
  assert.deepEqual(numbersIn(store), acknowledged);
  pragma(store, 'max_page_count = 100000');
  await fill(1000);
  assert.deepEqual(numbersIn(store), [...acknowledged, 1000]);
  assert.ok(!store.isDiskFull);
});

test('a store whose disk was full notices by itself that there is room again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store = temporaryStore(t, NUMBERS);
  const failsWith = (facts: object) =>
    store.write(() => {
      throw Object.assign(new Error('as the disk says'), facts);
    });
  await assert.rejects(failsWith({ errcode: 19 }), /as the disk says/);
  assert.ok(!store.isDiskFull);
  for (const facts of [
    { errcode: 13 },
    { errcode: 778 },
    { errno: -constants.errno.ENOSPC },
    { errno: -constants.errno.EDQUOT },
  ]) {
    await assert.rejects(failsWith(facts), DiskFullError);
    assert.ok(store.isDiskFull);
    t.mock.timers.tick(5_000);
    await turnsUntil(() => !store.isDiskFull);
  }
});

test('a commit that fails is reported to all its callers, and leaves nothing', async (t) => {
  const store = temporaryStore(
    t,
    'CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a DEFERRABLE INITIALLY DEFERRED)',
  );
  let acknowledged = 0;
  const change = (sql: string) =>
    store.write((tx) => {
      tx.afterCommit(() => (acknowledged += 1));
      tx.run(sql);
    });
  const outcomes = await Promise.allSettled([change('INSERT INTO a VALUES (1)'), change('INSERT INTO b VALUES (7)')]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['rejected', 'rejected'],
  );
  assert.deepEqual([acknowledged, store.read((db) => db.all('SELECT * FROM a'))], [0, []]);
  await change('INSERT INTO a VALUES (2)');
  assert.equal(acknowledged, 1);
});

test('the references of a file are enforced', async (t) => {
  const store = temporaryStore(t, 'CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a)');
  await assert.rejects(
    store.write((tx) => tx.run('INSERT INTO b VALUES (7)')),
    /FOREIGN KEY/,
  );
});

test('a read inside a change goes through its transaction, and no longer when the change has failed', async (t) => {
  const store = temporaryStore(t, NUMBERS);
  const handles: unknown[] = [];
  const change = (fails: boolean) =>
    store.write((tx) => {
      tx.run('INSERT INTO numbers VALUES (1)');
      handles.push(store.read((db) => db) === tx);
      if (fails) throw new Error('as asked');
      return numbersIn(store).length;
    });
  assert.equal(await change(false), 1);
  await assert.rejects(change(true), /as asked/);
  assert.deepEqual([handles, numbersIn(store)], [[true, true], [1]]);
});

test('a store that closes commits what waits and then takes nothing more', async (t) => {
  const file = join(temporaryFolder(t), 'closing.db');
  const migrations = { component: 'test', steps: [{ name: '0001-test.sql', sql: NUMBERS }] };
  const store = new Store(file, migrations);
  const changes = Promise.all(Array.from({ length: 600 }, (_, n) => insert(store, n)));
  store.close();
  await changes;
  await assert.rejects(insert(store, 1), /closed/);
  const again = new Store(file, migrations);
  assert.equal(numbersIn(again).length, 600);
  again.close();
});

test('a second process on the same file is refused', async (t) => {
  const file = join(temporaryFolder(t), 'shared.db');
  const owner = new LineProcess(writer, file);
  await until(() => owner.lines.includes('open'));
  assert.throws(() => new Store(file, { component: 'pairs', steps: [] }, 100), /open in another process/);
  const before = owner.lines.length;
  await until(() => owner.lines.length > before);
  await owner.kill();
});
