import assert from 'node:assert/strict';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { PoolCommits } from '../../metadata/pool-commits.ts';
import type { Database } from '@granary/kernel/sqlite';
import { openPoolDatabase } from '../../metadata/pool-database.ts';
import { FIRST_ADDRESS } from './address.ts';
import { ChunkIndex } from './chunk-index.ts';

async function open(context: TestContext, flush: () => Promise<void> = async () => undefined) {
  const folder = await fs.mkdtemp(path.join(os.tmpdir(), 'granary-index-'));
  const database = openPoolDatabase(path.join(folder, 'pool.db'), { create: true });
  const commits = new PoolCommits(database, flush, () => undefined);
  context.after(async () => {
    database.close();
    await fs.rm(folder, { recursive: true });
  });
  return { database, commits, index: new ChunkIndex(database, commits) };
}

function digest(number: number): string {
  return String(number).padStart(32, '0');
}

function rowsOf(database: Database): { address: number; owners: number }[] {
  return database
    .all<{ address: number; owners: number }>('SELECT address, owners FROM shared_chunks ORDER BY address')
    .map(({ address, owners }) => ({ address: address - FIRST_ADDRESS, owners }));
}

test('a chunk is found before and after it is committed, as long as it has owners', async (context) => {
  const { database, commits, index } = await open(context);
  index.add(digest(1), FIRST_ADDRESS + 1);
  assert.equal(index.share(digest(1)), FIRST_ADDRESS + 1);
  await commits.commit();
  assert.deepEqual(rowsOf(database), [{ address: 1, owners: 2 }]);
  assert.equal(index.share(digest(1)), FIRST_ADDRESS + 1);
  assert.equal(index.leave(FIRST_ADDRESS + 1), false);
  assert.equal(index.leave(FIRST_ADDRESS + 1), false);
  assert.equal(index.leave(FIRST_ADDRESS + 1), true);
  assert.equal(index.share(digest(1)), undefined);
  await commits.commit();
  assert.deepEqual(rowsOf(database), []);
  assert.equal(index.share(digest(1)), undefined);
});

test('a chunk given up and stored again elsewhere is found at its new place', async (context) => {
  const { database, commits, index } = await open(context);
  index.add(digest(1), FIRST_ADDRESS + 1);
  await commits.commit();
  assert.equal(index.leave(FIRST_ADDRESS + 1), true);
  index.add(digest(1), FIRST_ADDRESS + 3);
  assert.equal(index.share(digest(1)), FIRST_ADDRESS + 3);
  await commits.commit();
  assert.deepEqual(rowsOf(database), [{ address: 3, owners: 2 }]);
});

test('what changes while a commit is under way is not part of it, and not lost', async (context) => {
  let meanwhile: (() => void) | undefined;
  const { database, commits, index } = await open(context, async () => {
    meanwhile?.();
    meanwhile = undefined;
  });
  index.add(digest(1), FIRST_ADDRESS + 1);
  meanwhile = () => {
    assert.equal(index.share(digest(1)), FIRST_ADDRESS + 1);
    index.add(digest(2), FIRST_ADDRESS + 3);
  };
  await commits.commit();
  assert.deepEqual(rowsOf(database), [{ address: 1, owners: 1 }]);
  assert.equal(index.share(digest(2)), FIRST_ADDRESS + 3);
  await commits.commit();
  assert.deepEqual(rowsOf(database), [
    { address: 1, owners: 2 },
    { address: 3, owners: 2 },
  ]);
});

test('a commit that fails is made good by the next', async (context) => {
  let fails = true;
  const { database, commits, index } = await open(context, async () => {
    if (fails) throw new Error('no power');
  });
  index.add(digest(1), FIRST_ADDRESS + 1);
  await assert.rejects(commits.commit(), /no power/);
  assert.equal(index.share(digest(1)), FIRST_ADDRESS + 1);
  fails = false;
  await commits.commit();
  assert.deepEqual(rowsOf(database), [{ address: 1, owners: 2 }]);
});

test('more chunks than memory keeps are all found again', async (context) => {
  const { commits, index } = await open(context);
  const count = 40_000;
  for (let number = 0; number < count; number++) index.add(digest(number), FIRST_ADDRESS + 2 * number + 1);
  await commits.commit();
  for (let number = 0; number < count; number += 7) {
    assert.equal(index.share(digest(number)), FIRST_ADDRESS + 2 * number + 1);
    assert.equal(index.leave(FIRST_ADDRESS + 2 * number + 1), false);
    assert.equal(index.leave(FIRST_ADDRESS + 2 * number + 1), true);
    assert.equal(index.share(digest(number)), undefined);
  }
});

test('a chunk that the index should know and does not is an error that says what to do', async (context) => {
  const { index } = await open(context);
  assert.throws(() => index.leave(FIRST_ADDRESS + 1), /run the check/);
});
