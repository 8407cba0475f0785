import assert from 'node:assert/strict';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fillDisk, smallFileSystem, temporaryFolder } from '../../testing/folders.ts';
import { until } from '../../testing/waiting.ts';
import { DiskFullError, runFreeing, Store } from './index.ts';
import { Reserve } from './reserve.ts';

const KB = 1024;
const RESERVE_BYTES = 8 * 2 ** 20;
const DISK_MB = 64;
const MIGRATIONS = {
  component: 'test',
  steps: [{ name: '0001-test.sql', sql: 'CREATE TABLE things (id INTEGER PRIMARY KEY, filler BLOB)' }],
};

test('a reserve gives its room a piece at a time, and knows after a restart that it did', async (t) => {
  const file = join(temporaryFolder(t), 'reserve');
  const reserve = new Reserve(file, 600 * KB);
  assert.deepEqual([reserve.isReleased, reserve.release()], [false, false], 'there is none yet');
  assert.equal(await reserve.fill(), true);
  assert.equal(statSync(file).size, 600 * KB);
  assert.equal(reserve.release(), true);
  assert.equal(statSync(file).size, 344 * KB);
  const again = new Reserve(file, 600 * KB);
  assert.equal(again.isReleased, true);
  assert.deepEqual([again.release(), again.release(), again.release()], [true, true, false]);
  assert.equal(await again.fill(), true);
  assert.deepEqual([again.isReleased, new Reserve(file, 600 * KB).isReleased], [false, false]);
});

/** A store whose reserve is there, as after some time. */
function storeIn(t: TestContext, folder: string): Store {
  const file = join(folder, 'test.db');
  if (!existsSync(`${file}-reserve`)) writeFileSync(`${file}-reserve`, Buffer.alloc(RESERVE_BYTES, 1));
  const store = new Store(file, MIGRATIONS);
  t.after(() => store.close());
  return store;
}

test('only changes that make room use the reserve; until it is filled again, all others are refused', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store = storeIn(t, temporaryFolder(t));
  let left = 3;
  const failing = () => {
    if (left-- > 0) throw Object.assign(new Error('full'), { errcode: 13 });
    return 'done';
  };
  await assert.rejects(store.write(failing), DiskFullError);
  assert.equal(left, 2, 'it was not tried again');
  assert.equal(await runFreeing(true, () => store.write(failing)), 'done');
  assert.ok(store.isDiskFull);
  let wasRun = false;
  await assert.rejects(
    store.write(() => (wasRun = true)),
    DiskFullError,
  );
  assert.equal(wasRun, false);
  assert.equal(await store.writeUnlessFull(() => 1), undefined);
  assert.equal(await runFreeing(true, async () => store.write(() => 2)), 2);
  assert.ok(store.isDiskFull, 'that a deletion fitted does not make room for others');
  t.mock.timers.tick(5_000);
  t.mock.timers.reset();
  await until(() => !store.isDiskFull);
  assert.equal(await store.write(() => 3), 3);
});

test('a change that frees space and fails for another reason gets that error and does not touch the reserve', async (t) => {
  const folder = temporaryFolder(t);
  const store = storeIn(t, folder);
  const failing = () => {
    throw new Error('not allowed');
  };
  await assert.rejects(
    runFreeing(true, () => store.write(failing)),
    /not allowed/,
  );
  assert.equal(statSync(join(folder, 'test.db-reserve')).size, RESERVE_BYTES);
});

test('a really full disk: what is there can be deleted, also after a restart, and then there is room again', async (t) => {
  const folder = smallFileSystem(t, DISK_MB);
  if (folder === undefined) {
    t.skip('only root may mount a small file system');
    return;
  }
  let store = storeIn(t, folder);
  const add = (id: number) =>
    store.write((tx) => tx.run('INSERT INTO things VALUES (:id, :filler)', { id, filler: Buffer.alloc(4_000, id) }));
  const remove = (id: number) =>
    runFreeing(true, () => store.write((tx) => tx.run('DELETE FROM things WHERE id = :id', { id })));
  const ids = () => store.read((db) => db.all<{ id: number }>('SELECT id FROM things ORDER BY id')).map(({ id }) => id);
  const kept = new Set<number>();
  for (let id = 1; id <= 500; id += 1) {
    await add(id);
    kept.add(id);
  }
  fillDisk(join(folder, 'filler'));
  // What fits into the log as it is may still be written.
  for (let id = 501; ; id += 1) {
    const added = await add(id).then(
      () => true,
      (error: unknown) => !(error instanceof DiskFullError),
    );
    if (!added) break;
    kept.add(id);
  }
  const all = [...kept];
  for (const id of all.slice(0, 200)) {
    await remove(id);
    kept.delete(id);
    // Other writers to this disk take the space that is left.
    if (id % 20 === 0) fillDisk(join(folder, 'thief'));
  }
  await assert.rejects(add(10_000), DiskFullError);
  assert.deepEqual(ids(), [...kept]);
  store.close();
  store = storeIn(t, folder);
  await assert.rejects(add(10_000), DiskFullError, 'what is left of the reserve is not theirs after a restart either');
  for (const id of all.slice(200, 400)) {
    await remove(id);
    kept.delete(id);
  }
  assert.deepEqual(ids(), [...kept]);
  for (const name of ['filler', 'thief']) rmSync(join(folder, name));
  await until(() => !store.isDiskFull);
  await add(10_000);
  assert.deepEqual(ids(), [...kept, 10_000]);
  assert.equal(statSync(join(folder, 'test.db-reserve')).size, RESERVE_BYTES);
});
