import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BLOCK_BYTES } from '../units.ts';
import { ReadCache } from './read-cache.ts';
import { blocks, HeldGroup, lettersOf, MIB, readOf, rigOf } from './testing/pool-rig.ts';

function counts(cache: ReadCache): { hits: number; misses: number } {
  const { hits, misses } = cache.statistics();
  return { hits, misses };
}

function keep(cache: ReadCache, block: number, from: Buffer): void {
  cache.fill(block, from, cache.stamp(block, from.length / BLOCK_BYTES));
}

describe('a read cache', () => {
  it('serves a block only after it was filled, and counts both honestly', () => {
    const cache = new ReadCache(MIB);
    const into = Buffer.alloc(BLOCK_BYTES);
    assert.equal(cache.read(7, into), false);
    keep(cache, 7, blocks('a'));
    assert.equal(cache.read(7, into), true);
    assert(into.equals(blocks('a')));
    assert.deepEqual(counts(cache), { hits: 1, misses: 1 });
  });

  it('counts a read of which one block is missing as misses altogether', () => {
    const cache = new ReadCache(MIB);
    keep(cache, 0, blocks('a', 3));
    assert.equal(cache.read(0, Buffer.alloc(4 * BLOCK_BYTES)), false);
    assert.deepEqual(counts(cache), { hits: 0, misses: 4 });
  });

  it('drops what was not read for so many rounds', () => {
    const cache = new ReadCache(MIB);
    keep(cache, 0, blocks('a', 2));
    cache.cool(2);
    cache.cool(2);
    cache.read(0, Buffer.alloc(BLOCK_BYTES));
    cache.cool(2);
    assert.equal(cache.statistics().usedBytes, BLOCK_BYTES);
    keep(cache, 5, blocks('b'));
    cache.cool(2);
    cache.cool(2);
    assert.equal(cache.statistics().usedBytes, BLOCK_BYTES);
    assert.equal(cache.read(5, Buffer.alloc(BLOCK_BYTES)), true);
  });

  it('does not keep a fill that a write overtook', () => {
    const cache = new ReadCache(MIB);
    const stamp = cache.stamp(3, 2);
    cache.invalidate(4, 1);
    cache.fill(3, blocks('a', 2), stamp);
    assert.equal(cache.statistics().usedBytes, 0);
  });

  it('never holds more than its capacity, and keeps what is read again', () => {
    const cache = new ReadCache(8 * BLOCK_BYTES);
    const into = Buffer.alloc(BLOCK_BYTES);
    keep(cache, 1000, blocks('h'));
    for (let block = 0; block < 100; block++) {
      assert.equal(cache.read(1000, into), true, `the hot block is gone at block ${block}`);
      keep(cache, block, blocks('a'));
      assert(cache.statistics().usedBytes <= 8 * BLOCK_BYTES);
    }
    assert.equal(cache.statistics().usedBytes, 8 * BLOCK_BYTES);
    assert(into.equals(blocks('h')));
  });

  it('takes no more than its capacity from one large fill, and a capacity below a block keeps nothing', () => {
    const cache = new ReadCache(2 * BLOCK_BYTES);
    keep(cache, 0, blocks('a', 16));
    assert.equal(cache.statistics().usedBytes, 2 * BLOCK_BYTES);
    const none = new ReadCache(100);
    keep(none, 0, blocks('a'));
    assert.deepEqual(none.statistics(), {
      capacityBytes: 0,
      usedBytes: 0,
      hits: 0,
      misses: 0,
      writeHits: 0,
      writeMisses: 0,
    });
  });
});

describe("a pool's read cache", () => {
  it('counts one miss and one hit for a block read twice', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a'));
    pool.setCacheBytes(MIB);
    for (let turn = 0; turn < 2; turn++) assert.equal(await lettersOf(volume, 1), 'a');
    const { hits, misses, usedBytes } = pool.cacheStatistics();
    assert.deepEqual({ hits, misses, usedBytes }, { hits: 1, misses: 1, usedBytes: BLOCK_BYTES });
  });

  it('counts large reads as misses and does not keep them', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a', 64));
    pool.setCacheBytes(MIB);
    for (let turn = 0; turn < 2; turn++) await readOf(volume, 0, 64 * BLOCK_BYTES);
    const { hits, misses, usedBytes } = pool.cacheStatistics();
    assert.deepEqual({ hits, misses, usedBytes }, { hits: 0, misses: 128, usedBytes: 0 });
  });

  it('forgets what is written and returns the new bytes', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    pool.setCacheBytes(MIB);
    for (const letter of 'abcdef') {
      await volume.write(0, blocks(letter));
      for (let turn = 0; turn < 2; turn++) assert.equal(await lettersOf(volume, 1), letter);
    }
    const { hits, misses } = pool.cacheStatistics();
    assert.deepEqual({ hits, misses }, { hits: 6, misses: 6 });
  });

  it('is shared by a snapshot and its clones', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a', 4));
    await pool.snapshots.take([{ volumeId: 'volume', id: 'snapshot' }], new Date());
    const clones = [
      await pool.snapshots.clone('snapshot', 'clone-1'),
      await pool.snapshots.clone('snapshot', 'clone-2'),
    ];
    pool.setCacheBytes(MIB);
    for (const device of [volume, ...clones, pool.snapshots.open('snapshot')]) {
      assert.equal(await lettersOf(device, 4), 'aaaa');
    }
    const { hits, misses, usedBytes } = pool.cacheStatistics();
    assert.deepEqual({ hits, misses, usedBytes }, { hits: 12, misses: 4, usedBytes: 4 * BLOCK_BYTES });
  });

  it('adds up: hits and misses are the blocks that were read', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a', 256));
    pool.setCacheBytes(32 * BLOCK_BYTES);
    let read = 0;
    for (let turn = 0; turn < 200; turn++) {
      const count = [1, 4, 16, 17][turn % 4] ?? 1;
      await readOf(volume, ((turn * 5) % 40) * BLOCK_BYTES, count * BLOCK_BYTES);
      read += count;
    }
    const { hits, misses, usedBytes, capacityBytes } = pool.cacheStatistics();
    assert.equal(hits + misses, read);
    assert(hits > 0 && usedBytes <= capacityBytes);
  });

  it('counts the blocks written that it held, and those that it did not', async (t) => {
    const { pool } = await rigOf(t, { groups: [new HeldGroup('group-1', 8 * MIB)] });
    pool.setCacheBytes(MIB);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    const written = () => {
      const { writeHits, writeMisses } = pool.cacheStatistics();
      return [writeHits, writeMisses];
    };
    await volume.write(0, blocks('a', 2));
    assert.deepEqual(written(), [0, 2]);
    await lettersOf(volume, 1);
    await volume.write(0, blocks('b', 2));
    assert.deepEqual(written(), [1, 3]);
    pool.setCacheBytes(0);
    assert.deepEqual(written(), [1, 3]);
  });

  for (const already of [true, false]) {
    const when = already ? 'was on' : 'is switched on';
    it(`never keeps the bytes of a read that a write overtook while the cache ${when}`, async (t) => {
      const group = new HeldGroup('group-1', 8 * MIB);
      const { pool } = await rigOf(t, { groups: [group] });
      const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
      await volume.write(0, blocks('a'));
      if (already) pool.setCacheBytes(MIB);
      group.holdWrites();
      const writing = volume.write(0, blocks('b'));
      if (!already) pool.setCacheBytes(MIB);
      assert.equal(await lettersOf(volume, 1), 'a');
      group.letGo();
      await writing;
      assert.equal(await lettersOf(volume, 1), 'b');
    });
  }
});
