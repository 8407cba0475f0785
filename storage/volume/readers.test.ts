import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';
import { Readers } from './readers.ts';
import { blocks, HeldGroup, lettersOf, MIB, rigOf } from '../pool/testing/pool-rig.ts';

describe('readers', () => {
  it('release an extent at once when no read is in flight', () => {
    const released: number[] = [];
    const readers = new Readers((extent) => void released.push(extent));
    readers.retire([1, 2]);
    assert.deepEqual(released, [1, 2]);
    assert.equal(readers.waiting, 0);
  });

  it('hold an extent back until every read that began before it was given up has ended', async () => {
    const released: number[] = [];
    const readers = new Readers((extent) => void released.push(extent));
    const older: PromiseWithResolvers<void> = Promise.withResolvers();
    const newer: PromiseWithResolvers<void> = Promise.withResolvers();
    const reading = readers.during(older.promise);
    readers.retire([1]);
    const readingLater = readers.during(newer.promise);
    readers.retire([2]);
    newer.resolve();
    await readingLater;
    assert.deepEqual(released, [], 'the older read may still look at both');
    older.resolve();
    await reading;
    assert.deepEqual(released, [1, 2]);
  });

  it('do not wait for reads that began after an extent was given up', () => {
    const released: number[] = [];
    const readers = new Readers((extent) => void released.push(extent));
    readers.retire([1]);
    void readers.during(new Promise(() => undefined));
    assert.deepEqual(released, [1]);
  });

  it('let go of an extent also when the read fails, and idle waits for that', async () => {
    const released: number[] = [];
    const readers = new Readers((extent) => void released.push(extent));
    const { promise, reject }: PromiseWithResolvers<void> = Promise.withResolvers();
    const reading = assert.rejects(readers.during(promise), /unreadable/);
    readers.retire([1]);
    const idle = readers.idle();
    reject(new Error('unreadable'));
    await Promise.all([reading, idle]);
    assert.deepEqual(released, [1]);
  });

  it('keep a read that is under way from seeing the bytes of the next owner', async (t) => {
    const group = new HeldGroup('group-1', 2 * EXTENT_BYTES);
    const { pool } = await rigOf(t, { groups: [group] });
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a', 64));
    await volume.write(EXTENT_BYTES, blocks('b', 64));
    group.holdReads();
    const reading = lettersOf(volume, 1);
    await setImmediate();
    await volume.discard(0, EXTENT_BYTES);
    await volume.flush();
    const writing = volume.write(2 * EXTENT_BYTES, blocks('c', 64));
    await setImmediate();
    assert.equal(pool.usage().freeBytes, 0, 'the extent is not free while it is being read');
    group.letGo();
    assert.equal(await reading, 'a');
    await writing;
    assert.equal(await lettersOf(volume, 1, 2 * EXTENT_BYTES), 'c');
    assert.equal(await lettersOf(volume, 1), '.');
    assert.equal(pool.volumeUsage('volume').ownBytes, 128 * BLOCK_BYTES);
  });
});
