import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';
import type { Pool } from './pool.ts';
import { blocks, groupOf, lettersOf, MIB, rigOf } from './testing/pool-rig.ts';

function isFull(error: unknown): boolean {
  return error instanceof StorageError && error.code === 'pool-full' && /expand it, or delete/.test(error.message);
}

function usedExtents(pool: Pool): number {
  const { usedBytes, freeBytes, totalBytes } = pool.usage();
  assert.equal(usedBytes + freeBytes, totalBytes);
  return usedBytes / EXTENT_BYTES;
}

describe('the space of a pool', () => {
  it('is not touched by a thin volume before it is written to, however large it is', async (t) => {
    const { pool } = await rigOf(t);
    await pool.volumes.create({ id: 'volume', sizeBytes: 2 ** 40 });
    assert.equal(usedExtents(pool), 0);
    assert.equal(pool.usage().provisionedBytes, 2 ** 40);
    assert.equal(pool.usage().totalBytes, 32 * MIB);
  });

  it('goes by exactly the extents that are written to', async (t) => {
    const rig = await rigOf(t);
    const volume = await rig.pool.volumes.create({ id: 'volume', sizeBytes: 16 * MIB });
    await volume.write(0, blocks('a'));
    await volume.write(BLOCK_BYTES, blocks('b'));
    assert.equal(usedExtents(rig.pool), 1);
    await volume.write(EXTENT_BYTES - BLOCK_BYTES, blocks('c', 2));
    assert.equal(usedExtents(rig.pool), 2);
    await volume.write(8 * MIB, blocks('d', 64 * 3));
    assert.equal(usedExtents(rig.pool), 5);
    assert.equal(rig.pool.volumeUsage('volume').ownBytes, 5 * EXTENT_BYTES);
    assert.equal(usedExtents(await rig.reopen()), 5);
  });

  it('is no more than the limit, exactly, however much the groups have', async (t) => {
    const rig = await rigOf(t);
    rig.pool.setCapacityLimit(2 * EXTENT_BYTES + 100);
    const volume = await rig.pool.volumes.create({ id: 'volume', sizeBytes: 16 * MIB });
    await volume.write(0, blocks('a', 128));
    assert.equal(rig.pool.usage().totalBytes, 2 * EXTENT_BYTES);
    assert.equal(usedExtents(rig.pool), 2);
    await assert.rejects(Promise.resolve(volume.write(MIB, blocks('b'))), isFull);
    await volume.write(0, blocks('c'));
    rig.pool.setCapacityLimit(EXTENT_BYTES);
    assert.equal(usedExtents(rig.pool), 2, 'what is used stays');
    await volume.discard(0, EXTENT_BYTES);
    await volume.flush();
    await assert.rejects(Promise.resolve(volume.write(MIB, blocks('b'))), isFull);
    await volume.discard(EXTENT_BYTES, EXTENT_BYTES);
    await volume.flush();
    await volume.write(MIB, blocks('b'));
    assert.equal(usedExtents(rig.pool), 1);
  });

  it('can be moved off a group though the pool is full to its limit', async (t) => {
    const rig = await rigOf(t, { mode: 'stripe', groups: [groupOf('group-1', 64), groupOf('group-2', 64)] });
    rig.pool.setCapacityLimit(32 * EXTENT_BYTES);
    const volume = await rig.pool.volumes.create({ id: 'volume', sizeBytes: 16 * MIB });
    await volume.write(0, blocks('a', 32 * 64));
    await rig.pool.removeGroup('group-1');
    assert.deepEqual([rig.pool.usage().totalBytes, usedExtents(rig.pool)], [32 * EXTENT_BYTES, 32]);
    assert.equal(await lettersOf(volume, 1, 8 * MIB - BLOCK_BYTES), 'a');
    await assert.rejects(Promise.resolve(volume.write(8 * MIB, blocks('b'))), isFull);
  });

  it('of each volume is known without reading its map', async (t) => {
    const rig = await rigOf(t);
    for (const [id, compression] of [
      ['plain', false],
      ['reduced', true],
    ] as const) {
      const options = { compression, deduplication: false };
      const volume = await rig.pool.volumes.create({ id, sizeBytes: MIB, options });
      await volume.write(0, blocks('a', 128));
      await rig.pool.snapshots.take([{ volumeId: id, id: `of ${id}` }], new Date(1000));
      await volume.write(0, blocks('b', 8));
    }
    const before = ['plain', 'reduced'].map((id) => rig.pool.volumeUsage(id));
    const pool = await rig.reopen();
    assert.deepEqual(
      ['plain', 'reduced'].map((id) => pool.volumeUsage(id)),
      before,
    );
    for (const id of ['plain', 'reduced']) await lettersOf(pool.volumes.get(id), 1);
    assert.deepEqual(
      ['plain', 'reduced'].map((id) => pool.volumeUsage(id)),
      before,
    );
  });

  it('comes back after a discard once the discard is committed', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a', 256));
    await volume.flush();
    await volume.discard(0, 2 * EXTENT_BYTES);
    assert.equal(usedExtents(pool), 4, 'maps on disk still name it');
    await volume.flush();
    assert.equal(usedExtents(pool), 2);
  });

  it('comes back once the last block of an extent is discarded, piece by piece', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a', 64));
    for (let block = 0; block < 63; block++) await volume.discard(block * BLOCK_BYTES, BLOCK_BYTES);
    await volume.flush();
    assert.equal(usedExtents(pool), 1);
    await volume.discard(63 * BLOCK_BYTES, BLOCK_BYTES);
    await volume.flush();
    assert.equal(usedExtents(pool), 0);
  });

  it('comes back when a volume is deleted, and what snapshots share is counted once', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a', 256));
    await pool.snapshots.take([{ volumeId: 'volume', id: 'snapshot' }], new Date());
    await pool.snapshots.clone('snapshot', 'clone');
    assert.equal(usedExtents(pool), 4);
    await volume.write(0, blocks('b'));
    assert.equal(usedExtents(pool), 5);
    await pool.deleteVolume('volume');
    await pool.whenIdle();
    assert.equal(usedExtents(pool), 4);
    await pool.deleteVolume('clone');
    await pool.whenIdle();
    assert.equal(usedExtents(pool), 0);
  });

  it('refuses a write that does not fit and says what to do, and a later discard makes room', async (t) => {
    const { pool } = await rigOf(t, { groups: [groupOf('group-1', 4)] });
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: 4 * MIB });
    await volume.write(0, blocks('a', 256));
    await assert.rejects(async () => volume.write(2 * MIB, blocks('b')), isFull);
    assert.equal(await lettersOf(volume, 1, 2 * MIB), '.');
    await volume.write(0, blocks('c'));
    await volume.discard(EXTENT_BYTES, EXTENT_BYTES);
    await volume.write(2 * MIB, blocks('b'));
    assert.equal(await lettersOf(volume, 2, 2 * MIB), 'b.');
    assert.equal(await lettersOf(volume, 2), 'ca');
    assert.equal(usedExtents(pool), 4);
  });

  it('is not lost by a write that failed halfway', async (t) => {
    const { pool } = await rigOf(t, { groups: [groupOf('group-1', 3)] });
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: 4 * MIB });
    await assert.rejects(async () => volume.write(0, blocks('a', 256)), isFull);
    await volume.discard(0, MIB);
    await volume.flush();
    assert.equal(usedExtents(pool), 0);
  });

  it('can be emptied of snapshots when it is full', async (t) => {
    const { pool } = await rigOf(t, { groups: [groupOf('group-1', 4)] });
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a', 128));
    await pool.snapshots.take([{ volumeId: 'volume', id: 'snapshot' }], new Date());
    await volume.write(0, blocks('b'));
    await volume.write(EXTENT_BYTES, blocks('b', 60));
    await assert.rejects(async () => volume.write(2 * EXTENT_BYTES, blocks('c')), isFull);
    await pool.snapshots.delete('snapshot');
    await pool.whenIdle();
    assert.equal(usedExtents(pool), 2);
    await volume.write(2 * EXTENT_BYTES, blocks('c'));
    assert.equal(await lettersOf(volume, 3), 'baa');
    assert.equal(await lettersOf(volume, 5, EXTENT_BYTES + 58 * BLOCK_BYTES), 'bbaaa');
  });
});
