import assert from 'node:assert/strict';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { BLOCK, engineRig, type EngineRig, MIB } from './testing/rig.ts';

const EXTENT = 256 * 1024;

async function poolOf(rig: EngineRig, id = 'p') {
  const pool = (await rig.report()).pools.find((each) => each.id === id);
  assert.ok(pool);
  return pool;
}

test('a pool is made once, is there after a restart, and leaves nothing behind when it is deleted', async (t) => {
  const rig = await engineRig(t);
  const capacityBytes = await rig.pool('p', 0, 1);
  await rig.engine.createPool({ id: 'p', mode: 'simple', groups: ['group-of-p'], capacityBytes });
  await rig.reopen();
  assert.deepEqual((await poolOf(rig)).groups, ['group-of-p']);
  await rig.volume('v', 'p');
  await assert.rejects(rig.engine.deletePool('p'), { name: 'EngineError', code: 'conflict' });
  await rig.engine.deleteVolume('v');
  await rig.engine.deletePool('p');
  await rig.engine.deletePool('p');
  assert.deepEqual((await rig.report()).pools, []);
  assert.equal(existsSync(join(rig.folder, 'pools', 'p.db')), false);
  await rig.reopen();
  assert.deepEqual((await rig.report()).pools, []);
});

test('a pool that was being made when the engine died is undone', async (t) => {
  const rig = await engineRig(t);
  await rig.pool('p', 0, 1);
  await rig.engine.close();
  rig.rewriteBook((text) => text.replace(/("pools": \[\s*\{\s*"id": "p",\s*"state": )"ready"/, '$1"creating"'));
  await rig.start();
  assert.deepEqual((await rig.report()).pools, []);
  await rig.engine.createPool({ id: 'p', mode: 'stripe', groups: ['group-of-p'], capacityBytes: 32 * MIB });
  assert.equal((await poolOf(rig)).totalBytes, 32 * MIB);
});

test('a pool uses no more than its capacity, exactly, also after a restart, and more once it may', async (t) => {
  const rig = await engineRig(t);
  await rig.mirror('g', 0, 1);
  await rig.engine.createPool({ id: 'p', mode: 'simple', groups: ['g'], capacityBytes: 8 * MIB });
  await rig.volume('v', 'p', 32 * MIB);
  await rig.write('v', 0, 'x', 8 * MIB);
  const { totalBytes, usedBytes } = await poolOf(rig);
  assert.deepEqual([totalBytes, usedBytes], [8 * MIB, 8 * MIB]);
  await assert.rejects(rig.write('v', 8 * MIB, 'y'), { name: 'EngineError', code: 'full' });
  await rig.write('v', 0, 'z');
  await rig.reopen();
  await assert.rejects(rig.write('v', 8 * MIB, 'y'), { code: 'full' });
  await rig.engine.expandPool('p', [], 8 * MIB + EXTENT);
  await rig.write('v', 8 * MIB, 'y');
  await assert.rejects(rig.write('v', 9 * MIB, 'y'), { code: 'full' });
  await assert.rejects(rig.engine.expandPool('p', [], 1000 * MIB), { code: 'invalid' });
});

test('a pool grows by a group and gives it back with everything that lay on it, full to the brim', async (t) => {
  const rig = await engineRig(t);
  const one = await rig.mirror('one', 0, 1);
  await rig.mirror('two', 2, 3);
  await rig.engine.createPool({ id: 'p', mode: 'stripe', groups: ['one'], capacityBytes: one });
  await rig.engine.expandPool('p', ['two'], 40 * MIB);
  await rig.engine.expandPool('p', ['two'], 40 * MIB);
  await rig.volume('v', 'p', 48 * MIB);
  await rig.write('v', 0, 'x', 16 * MIB);
  await rig.write('v', 16 * MIB, 'y', 16 * MIB);
  await rig.write('v', 32 * MIB, 'z', 8 * MIB);
  const seen: number[] = [];
  const stop = new AbortController();
  const halfway = (fraction: number) => {
    if (fraction > 0.5) stop.abort();
  };
  const first = rig.engine.shrinkPool('p', 'two', 40 * MIB, { signal: stop.signal, onProgress: halfway });
  await assert.rejects(first, { name: 'EngineError', code: 'cancelled' });
  assert.deepEqual((await poolOf(rig)).groups, ['one', 'two']);
  await assert.rejects(rig.engine.shrinkPool('p', 'two', 39 * MIB, {}), { code: 'full' });
  await rig.engine.shrinkPool('p', 'two', 40 * MIB, { onProgress: (fraction) => void seen.push(fraction) });
  assert.ok(seen.length > 0 && seen.every((fraction) => fraction >= 0 && fraction <= 1));
  const { groups, totalBytes, usedBytes } = await poolOf(rig);
  assert.deepEqual([groups, totalBytes, usedBytes], [['one'], 40 * MIB, 40 * MIB]);
  await rig.engine.shrinkPool('p', 'two', 40 * MIB, {});
  await rig.engine.deleteGroup('two');
  assert.equal(await rig.read('v', 16 * MIB - BLOCK, 2), 'xy');
  assert.equal(await rig.read('v', 40 * MIB - BLOCK), 'z');
});

test('the cache tells honestly what it served, and is cooled and switched off', async (t) => {
  const rig = await engineRig(t);
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  await rig.write('v', 0, 'x', 16 * BLOCK);
  await rig.engine.setPoolCache('p', { bytes: MIB, keepsSnapshots: true, coolOffMs: 0 });
  await rig.read('v', 0, 16);
  await rig.read('v', 0, 16);
  assert.deepEqual((await poolOf(rig)).cache, {
    capacityBytes: MIB,
    usedBytes: 16 * BLOCK,
    hits: 16,
    misses: 16,
    writeHits: 0,
    writeMisses: 0,
  });
  await rig.engine.setPoolCache('p', { bytes: MIB, keepsSnapshots: true, coolOffMs: 80 });
  assert.equal((await poolOf(rig)).cache.usedBytes, 16 * BLOCK, 'what is kept stays');
  for (let look = 0; look < 1000 && (await poolOf(rig)).cache.usedBytes > 0; look++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const { usedBytes, hits } = (await poolOf(rig)).cache;
  assert.deepEqual([usedBytes, hits], [0, 16]);
  await rig.engine.setPoolCache('p', { bytes: 0, keepsSnapshots: true, coolOffMs: 0 });
  await rig.read('v', 0, 16);
  assert.deepEqual((await poolOf(rig)).cache, {
    capacityBytes: 0,
    usedBytes: 0,
    hits: 16,
    misses: 16,
    writeHits: 0,
    writeMisses: 0,
  });
});

for (const compression of [false, true]) {
  test(`what is read through snapshots and clones is kept only if so set (compression ${compression})`, async (t) => {
    const rig = await engineRig(t);
    await rig.pool('p', 0, 1);
    const reduction = { compression, deduplication: false };
    await rig.engine.createVolume({ id: 'v', pool: 'p', sizeBytes: 4 * MIB, ...reduction });
    for (let block = 0; block < 8; block++) await rig.write('v', block * 32768, 'abcdefgh'[block] ?? '', 32768);
    await rig.engine.takeSnapshots([{ volume: 'v', snapshot: 's' }], 1000);
    await rig.engine.cloneSnapshot('s', 'c');
    await rig.engine.setPoolCache('p', { bytes: MIB, keepsSnapshots: false, coolOffMs: 0 });
    await rig.readSnapshot('s', 0);
    await rig.read('c', 32768);
    assert.equal((await poolOf(rig)).cache.usedBytes, 0);
    await rig.read('v', 2 * 32768);
    assert.ok((await poolOf(rig)).cache.usedBytes > 0, 'the volume reads what it wrote itself');
    await rig.engine.setPoolCache('p', { bytes: MIB, keepsSnapshots: true, coolOffMs: 0 });
    const before = (await poolOf(rig)).cache.usedBytes;
    await rig.readSnapshot('s', 3 * 32768);
    await rig.read('c', 4 * 32768);
    assert.ok((await poolOf(rig)).cache.usedBytes > before);
  });
}

test('what compression and deduplication spare is reported', async (t) => {
  const rig = await engineRig(t);
  await rig.pool('p', 0, 1);
  await rig.engine.createVolume({ id: 'v', pool: 'p', sizeBytes: 16 * MIB, compression: true, deduplication: true });
  await rig.write('v', 0, 'x', 4 * MIB);
  await rig.engine.flushVolume('v');
  const { savedBytes, usedBytes } = await poolOf(rig);
  assert.ok(savedBytes > 3 * MIB && savedBytes < 4 * MIB && usedBytes < MIB);
  await rig.engine.setReduction('v', { compression: false, deduplication: false });
});

test('what a pool did does not go backwards when volumes leave it', async (t) => {
  const rig = await engineRig(t);
  await rig.pool('p', 0, 1);
  await rig.pool('q', 2, 3);
  for (const id of ['v', 'w']) {
    await rig.volume(id, 'p');
    await rig.write(id, 0, 'x', MIB);
    await rig.read(id, 0);
  }
  assert.equal((await poolOf(rig)).io.writes.bytes, 2 * MIB);
  await rig.write('v', 0, 'y', MIB);
  await rig.engine.deleteVolume('v');
  await rig.engine.moveVolume('w', 'q', true, {});
  await rig.write('w', 0, 'z', MIB);
  const { io } = await poolOf(rig);
  assert.deepEqual([io.writes.bytes, io.reads.count], [3 * MIB, 2]);
  assert.equal((await poolOf(rig, 'q')).io.writes.bytes, MIB, 'copying is not what servers wrote');
  assert.equal((await rig.engine.volume('w')).io.writes.bytes, 2 * MIB);
});

test('a group whose emptying a crash cut off is used again when it cannot leave after all', async (t) => {
  const rig = await engineRig(t);
  const [one, two] = [await rig.mirror('g', 0, 1), await rig.mirror('h', 2, 3)];
  await rig.engine.createPool({ id: 'p', mode: 'stripe', groups: ['g', 'h'], capacityBytes: one + two });
  await rig.volume('v', 'p', one + two);
  await rig.write('v', 0, 'a', 16 * MIB);
  await rig.engine.close();
  const books = new DatabaseSync(join(rig.folder, 'pools', 'p.db'));
  books.exec(`UPDATE groups SET leaving = 1 WHERE id = 'h'`);
  books.close();
  await rig.start();
  await rig.write('v', 16 * MIB, 'b', 8 * MIB);
  await assert.rejects(rig.engine.shrinkPool('p', 'h', 16 * MIB, {}), { code: 'full' });
  await rig.write('v', 32 * MIB, 'c', 16 * MIB);
  await rig.write('v', 48 * MIB, 'd', 16 * MIB);
  await rig.write('v', 64 * MIB, 'e', 16 * MIB);
  assert.equal((await poolOf(rig)).usedBytes, 72 * MIB);
});

test('an engine with a pool whose books are damaged serves the others', async (t) => {
  const rig = await engineRig(t);
  await rig.pool('p', 0, 1);
  await rig.pool('q', 2, 3);
  await rig.volume('v', 'q');
  await rig.write('v', 0, 'a');
  await rig.engine.close();
  const file = join(rig.folder, 'pools', 'p.db');
  renameSync(file, `${file}.good`);
  writeFileSync(file, 'no books at all');
  await rig.start();
  await rig.engine.setPoolCache('p', { bytes: MIB, keepsSnapshots: true, coolOffMs: 0 });
  assert.equal(await rig.read('v', 0), 'a');
  assert.equal((await poolOf(rig)).isOpen, false);
  await rig.engine.close();
  renameSync(`${file}.good`, file);
  await rig.start();
  assert.equal((await poolOf(rig)).isOpen, true);
});

test('a deletion that could not be written is refused and changes nothing, and is done once it can be', async (t) => {
  const rig = await engineRig(t);
  await rig.pool('p', 0, 1);
  await rig.volume('v', 'p');
  await rig.volume('w', 'p');
  await rig.write('v', 0, 'a');
  await rig.engine.takeSnapshots([{ volume: 'w', snapshot: 's' }], 1000);
  for (const number of [0, 1]) await rig.engine.takeDriveOffline(rig.drive(number));
  await assert.rejects(rig.engine.deleteVolume('v'), { code: 'conflict' });
  await assert.rejects(rig.engine.deleteSnapshot('s'), { code: 'conflict' });
  assert.deepEqual(
    (await rig.report()).volumes.map(({ id }) => id),
    ['v', 'w'],
  );
  for (const number of [0, 1]) await rig.engine.bringDriveOnline(rig.drive(number));
  await rig.groupIs('group-of-p', 'normal');
  await rig.engine.deleteVolume('v');
  await rig.engine.deleteSnapshot('s');
  await rig.reopen();
  assert.deepEqual(
    (await rig.report()).volumes.map(({ id }) => id),
    ['w'],
  );
  await assert.rejects(rig.engine.cloneSnapshot('s', 'c'), { code: 'not-found' });
});
