import assert from 'node:assert/strict';
import fs from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import fc from 'fast-check';
import { temporaryFolder } from '../../testing/folders.ts';
import { Database, GroupCommit, type Transaction } from './index.ts';

type Options = NonNullable<ConstructorParameters<typeof GroupCommit>[1]>;
const migrations = [{ component: 'test', steps: [{ name: '0001', sql: 'CREATE TABLE numbers (n INTEGER NOT NULL)' }] }];

class Bench {
  readonly database: Database;
  readonly commits: GroupCommit;

  constructor(t: TestContext, options: Options = {}) {
    const file = join(temporaryFolder(t), 'test.db');
    this.database = new Database(file, { access: 'exclusive', migrations });
    this.commits = new GroupCommit(this.database, options);
    t.after(() => {
      this.database.close();
    });
  }

  insert(n: number, options: { isRepeatable?: boolean; frees?: boolean; durable?: () => void } = {}): Promise<unknown> {
    return this.commits.submit((tx) => tx.run('INSERT INTO numbers VALUES (?)', n), options);
  }

  get numbers(): number[] {
    return this.database.all<{ n: number }>('SELECT n FROM numbers ORDER BY rowid').map(({ n }) => n);
  }
}

function full(): Error {
  return Object.assign(new Error('disk full'), { errcode: 13 });
}

test('changes that wait together share a transaction and a sync, in the order they came', async (t) => {
  const bench = new Bench(t);
  const syncs = t.mock.method(fs, 'fdatasync');
  const expected = Array.from({ length: 300 }, (_, n) => n);
  await Promise.all(expected.map((n) => bench.insert(n)));
  assert.deepEqual(bench.numbers, expected);
  assert.equal(syncs.mock.callCount(), 2);
});

test('a change is answered after its sync, and those that come meanwhile gather for the next', async (t) => {
  const bench = new Bench(t);
  const sync = Promise.withResolvers<undefined>();
  let syncs = 0;
  t.mock.method(bench.database, 'sync', () => ((syncs += 1) === 1 ? sync.promise : Promise.resolve()));
  const seen: string[] = [];
  const first = bench.insert(1, { durable: () => seen.push('durable') }).then(() => seen.push('answered'));
  while (bench.numbers.length === 0) await new Promise(setImmediate);
  const rest = [2, 3, 4].map((n) => bench.insert(n));
  await new Promise(setImmediate);
  assert.deepEqual([seen, bench.numbers], [[], [1]]);
  sync.resolve(undefined);
  await Promise.all([first, ...rest]);
  assert.deepEqual([seen, syncs], [['durable', 'answered'], 2]);
});

test('a change that fails takes no other with it, whether changes can be repeated or not', async (t) => {
  const bench = new Bench(t);
  const change = fc.record({ fails: fc.boolean(), isRepeatable: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
      await bench.commits.submit((tx) => tx.run('DELETE FROM numbers'));
      const durable: number[] = [];
      const outcomes = await Promise.allSettled(
        changes.map(({ fails, isRepeatable }, n) =>
          bench.commits.submit(
            (tx) => {
              tx.run('INSERT INTO numbers VALUES (?)', n);
              if (fails) throw new Error('as asked');
            },
            { isRepeatable, durable: () => durable.push(n) },
          ),
        ),
      );
      const kept = changes.flatMap(({ fails }, n) => (fails ? [] : [n]));
      assert.deepEqual(bench.numbers, kept);
      assert.deepEqual(durable, kept);
      assert.deepEqual(
        outcomes.map(({ status }) => status === 'rejected'),
        changes.map(({ fails }) => fails),
      );
    }),
    { numRuns: 60 },
  );
});

test('only repeatable changes run without savepoints, and after a refusal they have them for a while', async (t) => {
  const bench = new Bench(t);
  const alone: boolean[] = [];
  const submit = (isRepeatable: boolean, fails = false): Promise<void> =>
    bench.commits.submit(
      (_, isUndoneAlone) => {
        alone.push(isUndoneAlone);
        if (fails) throw new Error('as asked');
      },
      { isRepeatable },
    );
  await submit(true);
  await submit(false);
  await Promise.all([submit(true), submit(false)]);
  assert.deepEqual(alone.splice(0), [false, true, true, true]);
  await assert.rejects(submit(true, true), /as asked/);
  await submit(true);
  assert.deepEqual(alone.splice(0), [false, true, true]);
  for (let batch = 0; batch < 16; batch++) await submit(true);
  assert.equal(alone.at(-1), false);
});

test('what runs before a change stays when the change is refused', async (t) => {
  const bench = new Bench(t);
  const refused = bench.commits.submit(
    () => {
      throw new Error('as asked');
    },
    { before: (tx) => tx.run('INSERT INTO numbers VALUES (1)') },
  );
  await assert.rejects(refused, /as asked/);
  assert.deepEqual(bench.numbers, [1]);
});

test('hooks see the last of a transaction, its end and its undoing', async (t) => {
  const seen: string[] = [];
  let fails = false;
  const bench = new Bench(t, {
    beforeCommit: (tx) => {
      seen.push('before');
      if (fails) throw new Error('no commit');
      tx.run('INSERT INTO numbers VALUES (9)');
    },
    committed: () => seen.push('committed'),
    rolledBack: () => seen.push('rolled back'),
    answered: async (changes) => void seen.push(`answered ${changes}`),
  });
  await Promise.all([bench.insert(1), bench.insert(2)]);
  await bench.commits.idle();
  assert.deepEqual(bench.numbers, [1, 2, 9]);
  assert.deepEqual(seen.splice(0), ['before', 'committed', 'answered 2']);
  fails = true;
  await assert.rejects(bench.insert(3), /no commit/);
  assert.deepEqual(
    [seen.slice(0, 2), bench.numbers],
    [
      ['before', 'rolled back'],
      [1, 2, 9],
    ],
  );
});

for (const isRepeatable of [false, true]) {
  const kind = isRepeatable ? 'repeatable' : 'plain';
  test(`a ${kind} change that waits for something is refused: its later half would escape the transaction`, async (t) => {
    const bench = new Bench(t);
    const work = async (tx: Transaction): Promise<void> => {
      tx.run('INSERT INTO numbers VALUES (1)');
      await Promise.resolve();
    };
    await assert.rejects(bench.commits.submit(work, { isRepeatable }), /synchronous/);
    assert.deepEqual(bench.numbers, []);
  });
}

test('a failed sync is reported to everyone in the batch, and nothing is said to be kept from then on', async (t) => {
  const bench = new Bench(t, { translate: (error) => new RangeError((error as Error).message) });
  const broken = t.mock.method(fs, 'fdatasync', (_fd: number, done: (error: Error) => void) => {
    done(new Error('EIO'));
  });
  const outcomes = await Promise.allSettled([bench.insert(1), bench.insert(2)]);
  assert.ok(outcomes.every(({ status }) => status === 'rejected'));
  broken.mock.restore();
  await assert.rejects(bench.insert(3), RangeError);
});

test('on a full disk changes that free space run again with the reserve, as long as it lasts', async (t) => {
  let pieces = 2;
  const reserve = { isReleased: false, release: () => pieces-- > 0 };
  const bench = new Bench(t, { reserve });
  const fits = (attempts: number, frees: boolean): Promise<number> => {
    let attempt = 0;
    return bench.commits.submit(
      (tx) => {
        tx.run('INSERT INTO numbers VALUES (?)', attempts);
        if (++attempt < attempts) throw full();
        return attempt;
      },
      { frees },
    );
  };
  const outcomes = await Promise.allSettled([fits(1, false), fits(3, true), fits(2, false), fits(4, true)]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'rejected', 'rejected'],
  );
  assert.deepEqual(bench.numbers, [1, 3]);
  assert.equal(bench.commits.isReserveInUse, false);
  reserve.isReleased = true;
  assert.equal(bench.commits.isReserveInUse, true);
});

test('what waits at the close is committed on the spot', async (t) => {
  const bench = new Bench(t);
  const changes = Promise.all(Array.from({ length: 600 }, (_, n) => bench.insert(n)));
  bench.commits.drain();
  assert.equal(bench.numbers.length, 600);
  await changes;
});
