import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageError } from '../../errors.ts';
import { MemoryGroup } from '../../testing/memory-group.ts';
import type { Done } from '../../units.ts';
import { CHUNK, contents, MIB, noise, prose, Scene } from './testing/scene.ts';

const KEY = Buffer.from(Array.from({ length: 64 }, (_, index) => index));
const OTHER_KEY = Buffer.from(Array.from({ length: 64 }, (_, index) => 200 - index));

test('prose takes less than half of its size when compressed, and reads as it was written', async (context) => {
  const scene = await Scene.create(context);
  const volume = await scene.volume('a', { compression: true });
  const text = prose(2 * MIB);
  await volume.write(0, text);
  const { logicalBytes, storedBytes, containerBytes } = scene.pool.reduction();
  assert.equal(logicalBytes, 2 * MIB);
  assert(storedBytes < MIB, `${storedBytes} bytes`);
  // Less than a chunk is left over at the end of each container, and the last one may be almost empty.
  assert(containerBytes < storedBytes * (64 / 57) + 256 * 1024, `${containerBytes} for ${storedBytes} bytes`);
  assert.equal(scene.pool.volumeUsage('a').ownBytes, storedBytes);
  assert(text.equals(await contents(volume, 0, text.length)));
});

test('noise takes its own size and not a block more', async (context) => {
  const scene = await Scene.create(context);
  const volume = await scene.volume('a', { compression: true, deduplication: true });
  await volume.write(0, noise(2 * MIB));
  assert.deepEqual(scene.pool.reduction(), {
    logicalBytes: 2 * MIB,
    compressedBytes: 2 * MIB,
    storedBytes: 2 * MIB,
    containerBytes: 2 * MIB,
  });
});

test('copies within a volume and between volumes take no space', async (context) => {
  const scene = await Scene.create(context);
  const one = await scene.volume('a', { deduplication: true });
  const other = await scene.volume('b', { deduplication: true });
  const bytes = noise(MIB);
  await one.write(0, bytes);
  await one.write(4 * MIB, bytes);
  await other.write(2 * MIB, bytes);
  const { compressedBytes, storedBytes } = scene.pool.reduction();
  assert.equal(compressedBytes, 3 * MIB);
  assert.equal(storedBytes, MIB);
  assert.equal((await scene.pool.volumeReduction('a')).storedBytes, MIB);
  assert(bytes.equals(await contents(other, 2 * MIB, MIB)));
});

test('equal chunks of one write are stored once', async (context) => {
  const scene = await Scene.create(context);
  const volume = await scene.volume('a', { deduplication: true });
  const chunk = noise(CHUNK);
  await volume.write(0, Buffer.concat(Array.from({ length: 64 }, () => chunk)));
  assert.equal(scene.pool.reduction().storedBytes, CHUNK);
  assert(chunk.equals(await contents(volume, 63 * CHUNK, CHUNK)));
});

test('a shared chunk stays until its last owner is gone', async (context) => {
  const scene = await Scene.create(context);
  const one = await scene.volume('a', { compression: true, deduplication: true });
  const other = await scene.volume('b', { compression: true, deduplication: true });
  const text = prose(MIB);
  await one.write(0, text);
  await other.write(0, text);
  await scene.pool.deleteVolume('a');
  await scene.settle();
  const fresh = await scene.volume('c', { compression: true });
  await fresh.write(0, prose(4 * MIB, 7));
  assert(text.equals(await contents(other, 0, MIB)));
  await other.discard(0, MIB);
  await scene.pool.deleteVolume('c');
  await scene.settle();
  assert.equal(scene.pool.usage().usedBytes, 0);
});

test('only volumes of the same key share chunks', async (context) => {
  const scene = await Scene.create(context);
  const bytes = noise(MIB);
  const keys = [undefined, KEY, KEY, OTHER_KEY, undefined];
  for (const [index, key] of keys.entries()) {
    const volume = await scene.volume(`volume-${index}`, { deduplication: true }, key);
    await volume.write(0, bytes);
  }
  assert.equal(scene.pool.reduction().storedBytes, 3 * MIB);
  for (const volume of scene.pool.volumes.list()) assert(bytes.equals(await contents(volume, 0, MIB)));
});

test('what an encrypted volume holds is nowhere in the group, compressed or not', async (context) => {
  const group = new MemoryGroup('group-1', 16 * MIB);
  const scene = await Scene.create(context, [group]);
  const volume = await scene.volume('a', { compression: true, deduplication: true }, KEY);
  const bytes = Buffer.concat([noise(CHUNK), prose(CHUNK), noise(CHUNK, 2).fill(0, CHUNK / 2)]);
  await volume.write(0, bytes);
  await scene.pool.flush();
  const stored = await contents(group, 0, MIB);
  assert.equal(stored.indexOf(bytes.subarray(0, 64)), -1);
  assert.equal(stored.indexOf(bytes.subarray(2 * CHUNK, 2 * CHUNK + 64)), -1);
  // The magic of a header and the one of zstd's frame.
  assert.equal(stored.indexOf(Buffer.from([0x47, 0x63, 1, 0])), -1);
  assert.equal(stored.indexOf(Buffer.from([0x28, 0xb5, 0x2f, 0xfd])), -1);
  assert(bytes.equals(await contents(volume, 0, bytes.length)));
});

test('zeros take no space, and hide what a snapshot holds', async (context) => {
  const scene = await Scene.create(context);
  const volume = await scene.volume('a', { compression: true });
  await volume.write(0, Buffer.alloc(MIB));
  assert.equal(scene.pool.usage().usedBytes, 0);
  const bytes = noise(MIB);
  await volume.write(0, bytes);
  await scene.pool.snapshots.take([{ volumeId: 'a', id: 's' }], new Date(0));
  await volume.write(0, Buffer.alloc(CHUNK));
  await volume.discard(CHUNK, 4096);
  await volume.discard(2 * CHUNK, CHUNK);
  const expected = Buffer.from(bytes);
  expected.fill(0, 0, CHUNK + 4096).fill(0, 2 * CHUNK, 3 * CHUNK);
  assert(expected.equals(await contents(volume, 0, MIB)));
  assert(bytes.equals(await contents(scene.pool.snapshots.open('s'), 0, MIB)));
  assert.deepEqual(volume.mapped(0, 4 * CHUNK), [
    { length: CHUNK, mapped: false },
    { length: CHUNK, mapped: true },
    { length: CHUNK, mapped: false },
    { length: CHUNK, mapped: true },
  ]);
});

test('writes to different blocks of one chunk at the same time all survive', async (context) => {
  const scene = await Scene.create(context);
  const volume = await scene.volume('a', { compression: true, deduplication: true });
  const bytes = prose(4 * CHUNK);
  const offsets = Array.from({ length: bytes.length / 4096 }, (_, index) => index * 4096);
  await Promise.all(offsets.map(async (at) => volume.write(at, bytes.subarray(at, at + 4096))));
  assert(bytes.equals(await contents(volume, 0, bytes.length)));
});

test('switching reductions concerns what is written from then on, and survives a reopen', async (context) => {
  const scene = await Scene.create(context);
  const volume = await scene.volume('a', { compression: true });
  const text = prose(MIB);
  await volume.write(0, text);
  const compressed = scene.pool.reduction().storedBytes;
  await scene.pool.volumes.setOptions('a', { compression: false, deduplication: false });
  await volume.write(MIB, text);
  assert.equal(scene.pool.reduction().storedBytes, compressed + MIB);
  await scene.pool.volumes.setOptions('a', { compression: false, deduplication: true });
  assert.deepEqual(await scene.reopen(), []);
  const again = scene.pool.volumes.get('a');
  await again.write(2 * MIB, text);
  await again.write(3 * MIB, text);
  assert.equal(scene.pool.reduction().storedBytes, compressed + 2 * MIB);
  for (let at = 0; at < 4; at++) assert(text.equals(await contents(again, at * MIB, MIB)));
});

test('a clone shares the options of its source', async (context) => {
  const scene = await Scene.create(context);
  await scene.volume('a', { compression: true, deduplication: true });
  await scene.pool.snapshots.take([{ volumeId: 'a', id: 's' }], new Date(0));
  const clone = await scene.pool.snapshots.clone('s', 'b');
  assert.deepEqual(clone.options, { compression: true, deduplication: true });
});

test('blocks given up are not written again before the next commit', async (context) => {
  const group = new MemoryGroup('group-1', 16 * MIB);
  const scene = await Scene.create(context, [group]);
  const volume = await scene.volume('a', { compression: true });
  await volume.write(0, noise(CHUNK));
  await scene.pool.flush();
  const before = await contents(group, 0, CHUNK);
  for (let round = 1; round < 20; round++) await volume.write(0, noise(CHUNK, round));
  assert(before.equals(await contents(group, 0, CHUNK)), 'the books on disk still name these blocks');
  await scene.settle();
  for (let round = 20; round < 60; round++) await volume.write(0, noise(CHUNK, round));
  assert(!before.equals(await contents(group, 0, CHUNK)), 'afterwards they are used again');
});

test('a volume overwritten again and again does not fill the pool', async (context) => {
  const scene = await Scene.create(context, [new MemoryGroup('group-1', 8 * MIB)]);
  const volume = await scene.volume('a', { compression: true, deduplication: true });
  for (let round = 0; round < 12; round++) await volume.write(0, noise(3 * MIB, round));
  assert(noise(3 * MIB, 11).equals(await contents(volume, 0, 3 * MIB)));
});

test('a pool that is full refuses, keeps what it has, and takes writes again after a discard', async (context) => {
  const scene = await Scene.create(context, [new MemoryGroup('group-1', 2 * MIB)]);
  const volume = await scene.volume('a', { compression: true });
  const bytes = noise(2 * MIB);
  await volume.write(0, bytes);
  await assert.rejects(async () => volume.write(4 * MIB, noise(MIB, 2)), { code: 'pool-full' });
  assert(bytes.equals(await contents(volume, 0, 2 * MIB)));
  await volume.discard(MIB, MIB);
  await volume.write(4 * MIB, noise(MIB, 2));
  assert(noise(MIB, 2).equals(await contents(volume, 4 * MIB, MIB)));
});

/** Refuses writes on request. */
class WeakGroup extends MemoryGroup {
  refuses = false;

  override write(offset: number, from: Buffer): Done {
    if (this.refuses) throw new StorageError('group-failed', 'The group is gone.');
    return super.write(offset, from);
  }
}

test('a write that fails leaves what was there, and no space is lost', async (context) => {
  const group = new WeakGroup('group-1', 16 * MIB);
  const scene = await Scene.create(context, [group]);
  const volume = await scene.volume('a', { compression: true, deduplication: true });
  const bytes = noise(MIB);
  await volume.write(0, bytes);
  const before = scene.pool.reduction();
  group.refuses = true;
  await assert.rejects(async () => volume.write(0, noise(MIB, 2)), { code: 'group-failed' });
  group.refuses = false;
  assert(bytes.equals(await contents(volume, 0, MIB)));
  await scene.settle();
  assert.deepEqual(scene.pool.reduction(), before);
  assert.equal(scene.pool.usage().usedBytes, before.containerBytes);
});

test('a chunk kept unpacked is not shown for other bytes at the same place', async (context) => {
  const scene = await Scene.create(context);
  const volume = await scene.volume('a', { compression: true });
  for (let round = 0; round < 50; round++) {
    const text = prose(CHUNK, round);
    await volume.write(0, text);
    assert(text.equals(await contents(volume, 0, CHUNK)));
    await scene.pool.flush();
  }
});

test('deleting everything gives every extent back', async (context) => {
  const scene = await Scene.create(context);
  for (const [index, deduplication] of [true, false, true].entries()) {
    const volume = await scene.volume(`volume-${index}`, { compression: true, deduplication });
    await volume.write(0, prose(2 * MIB, index % 2));
    await scene.pool.snapshots.take([{ volumeId: volume.id, id: `snapshot-${index}` }], new Date(index));
    await volume.write(MIB, noise(2 * MIB, index));
    await volume.discard(MIB + 4096, MIB);
  }
  assert.deepEqual(await scene.reopen(), []);
  for (const { id } of scene.pool.volumes.list()) await scene.pool.deleteVolume(id);
  await scene.settle();
  assert.equal(scene.pool.usage().usedBytes, 0);
  assert.deepEqual(await scene.reopen(), []);
});
