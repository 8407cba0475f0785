import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';
import type { Volume } from '../volume/volume.ts';
import type { Pool } from './pool.ts';
import { blocks, HeldGroup, lettersOf, MIB, readOf, rigOf, ticks } from './testing/pool-rig.ts';

const AT = new Date('2026-01-01T00:00:00Z');

function refuses(code: string): (error: unknown) => boolean {
  return (error) => error instanceof StorageError && error.code === code;
}

function take(pool: Pool, volumeId: string, id: string): Promise<void> {
  return pool.snapshots.take([{ volumeId, id }], AT);
}

/** Four snapshots, each after another letter went to the first block and one of its own to a later one. */
async function history(pool: Pool): Promise<Volume> {
  const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
  for (const [index, letter] of Array.from('abcd').entries()) {
    await volume.write(0, blocks(letter));
    await volume.write((1 + index) * BLOCK_BYTES, blocks(letter.toUpperCase()));
    await take(pool, 'volume', `snapshot-${letter}`);
  }
  await volume.write(0, blocks('e'));
  return volume;
}

const SHOWN: Readonly<Record<string, string>> = { a: 'aA...', b: 'bAB..', c: 'cABC.', d: 'dABCD' };

async function verifyHistory(pool: Pool, kept: string): Promise<void> {
  assert.equal(await lettersOf(pool.volumes.get('volume'), 5), 'eABCD');
  assert.deepEqual(
    pool.snapshots.list('volume').map(({ id }) => id),
    Array.from(kept).map((letter) => `snapshot-${letter}`),
  );
  for (const letter of kept) {
    assert.equal(await lettersOf(pool.snapshots.open(`snapshot-${letter}`), 5), SHOWN[letter]);
  }
}

describe('a snapshot', () => {
  it('copies nothing when it is taken, whatever the size of the volume', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: 8 * MIB });
    for (let at = 0; at < 8 * MIB; at += MIB) await volume.write(at, Buffer.alloc(MIB, 'x'));
    const before = pool.usage();
    for (let count = 0; count < 10; count++) await take(pool, 'volume', `snapshot-${count}`);
    assert.deepEqual(pool.usage(), before);
    assert.deepEqual(pool.volumeUsage('volume'), {
      sizeBytes: 8 * MIB,
      ownBytes: 0,
      snapshotBytes: 8 * MIB,
      sharedBytes: 0,
      unreducedBytes: 0,
      held: {
        own: { plainBytes: 0, chunkBytes: 0 },
        snapshots: { plainBytes: 8 * MIB, chunkBytes: 0 },
      },
    });
  });

  it('does not make a volume show more, however often it is written over', async (t) => {
    const { pool } = await rigOf(t);
    const shown = async (id: string): Promise<number> => (await pool.shownBytes(id)) / MIB;
    for (const compression of [false, true]) {
      const id = `volume-${compression}`;
      const volume = await pool.volumes.create({
        id,
        sizeBytes: 80 * MIB,
        options: { compression, deduplication: false },
      });
      for (let round = 0; round < 4; round++) {
        await volume.write(0, randomBytes(2 * MIB));
        await take(pool, id, `${id}-${round}`);
      }
      await volume.write(70 * MIB, randomBytes(MIB));
      await volume.flush();
      assert.equal(await shown(id), 3);
      await volume.discard(0, MIB);
      assert.equal(await shown(id), 2);
      await pool.snapshots.clone(`${id}-1`, `clone-${id}`);
      assert.equal(await shown(`clone-${id}`), 2);
    }
  });

  it('cannot be written to', async (t) => {
    const { pool } = await rigOf(t);
    await history(pool);
    const device = pool.snapshots.open('snapshot-a');
    assert.equal(device.readOnly, true);
    assert.throws(() => device.write(0, blocks('x')), refuses('read-only'));
    assert.throws(() => device.discard(0, BLOCK_BYTES), refuses('read-only'));
  });

  it('keeps its size and its bytes when the volume grows or is written to', async (t) => {
    const rig = await rigOf(t);
    const volume = await history(rig.pool);
    await rig.pool.volumes.expand('volume', 2 * MIB);
    await volume.write(MIB, blocks('n'));
    const pool = await rig.reopen();
    assert.equal(pool.snapshots.open('snapshot-d').sizeBytes, MIB);
    await verifyHistory(pool, 'abcd');
  });

  const orders = ['a', 'd', 'b', 'bc', 'ad', 'da', 'abcd', 'dcba', 'bdac', 'cabd'];
  for (const order of orders) {
    it(`leaves all others as they are when ${Array.from(order).join(', then ')} of a, b, c, d is deleted`, async (t) => {
      const rig = await rigOf(t);
      await history(rig.pool);
      let kept = 'abcd';
      for (const letter of order) {
        await rig.pool.snapshots.delete(`snapshot-${letter}`);
        kept = kept.replace(letter, '');
        await verifyHistory(rig.pool, kept);
        await rig.pool.whenIdle();
        await verifyHistory(rig.pool, kept);
      }
      const pool = await rig.reopen();
      await verifyHistory(pool, kept);
      await pool.flush();
      if (kept === '') assert.equal(pool.usage().usedBytes, EXTENT_BYTES, 'all space of the snapshots came back');
    });
  }

  it('is there after the pool is opened again in the middle of folding others away', async (t) => {
    const rig = await rigOf(t);
    await history(rig.pool);
    await rig.pool.snapshots.delete('snapshot-b');
    const pool = await rig.reopen();
    await verifyHistory(pool, 'acd');
    await pool.whenIdle();
    await verifyHistory(pool, 'acd');
  });

  it('is refused when its name is taken, and nothing is taken of the others', async (t) => {
    const { pool } = await rigOf(t);
    await history(pool);
    const wanted = [
      { volumeId: 'volume', id: 'new' },
      { volumeId: 'volume', id: 'snapshot-a' },
    ];
    await assert.rejects(pool.snapshots.take(wanted, AT), refuses('conflict'));
    await assert.rejects(pool.snapshots.take([wanted[0]!, wanted[0]!], AT), refuses('conflict'));
    await assert.rejects(async () => take(pool, 'nobody', 'new'), refuses('not-found'));
    await verifyHistory(pool, 'abcd');
  });

  it('is taken once when two ask for the same name at once, and the pool goes on', async (t) => {
    const { pool } = await rigOf(t);
    await history(pool);
    const results = await Promise.allSettled([take(pool, 'volume', 'same'), take(pool, 'volume', 'same')]);
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    await pool.flush();
    assert.equal(pool.snapshots.list('volume').length, 5);
    assert.equal(await lettersOf(pool.snapshots.open('same'), 1), 'e');
  });

  it('refuses its name once it is deleted, also to a device opened before', async (t) => {
    const { pool } = await rigOf(t);
    await history(pool);
    const device = pool.snapshots.open('snapshot-a');
    await pool.snapshots.delete('snapshot-a');
    assert.throws(() => device.read(0, Buffer.alloc(BLOCK_BYTES)), refuses('not-found'));
    await assert.rejects(pool.snapshots.delete('snapshot-a'), refuses('not-found'));
  });
});

describe('a clone', () => {
  it('starts as the snapshot, goes its own way, and survives the volume it came from', async (t) => {
    const rig = await rigOf(t);
    const volume = await history(rig.pool);
    const clone = await rig.pool.snapshots.clone('snapshot-b', 'clone');
    assert.equal(await lettersOf(clone, 5), 'bAB..');
    await clone.write(4 * BLOCK_BYTES, blocks('k'));
    assert.equal(await lettersOf(volume, 5), 'eABCD');
    await rig.pool.deleteVolume('volume');
    await rig.pool.whenIdle();
    assert.equal(await lettersOf(clone, 5), 'bAB.k');
    const pool = await rig.reopen();
    assert.equal(await lettersOf(pool.volumes.get('clone'), 5), 'bAB.k');
    assert.deepEqual(
      pool.volumes.list().map(({ id }) => id),
      ['clone'],
    );
    await pool.whenIdle();
    await pool.deleteVolume('clone');
    await pool.whenIdle();
    await pool.flush();
    assert.equal(pool.usage().usedBytes, 0);
  });
});

describe('reverting', () => {
  it('makes the volume what the snapshot shows, and leaves all snapshots', async (t) => {
    const rig = await rigOf(t);
    const volume = await history(rig.pool);
    await rig.pool.snapshots.revert('snapshot-b');
    assert.equal(await lettersOf(volume, 5), 'bAB..');
    await volume.write(3 * BLOCK_BYTES, blocks('r'));
    const pool = await rig.reopen();
    assert.equal(await lettersOf(pool.volumes.get('volume'), 5), 'bABr.');
    for (const letter of 'abcd') {
      assert.equal(await lettersOf(pool.snapshots.open(`snapshot-${letter}`), 5), SHOWN[letter]);
    }
  });

  it('leaves no unreferenced layer behind, at whatever time a snapshot is taken meanwhile', async (t) => {
    const { pool } = await rigOf(t);
    for (let count = 0; count < 8; count++) {
      const volume = await pool.volumes.create({ id: `volume-${count}`, sizeBytes: MIB });
      await take(pool, volume.id, `empty-${count}`);
      await volume.write(0, blocks('a'));
      const taking = take(pool, volume.id, `meanwhile-${count}`);
      await ticks(count);
      await Promise.all([taking, pool.snapshots.revert(`empty-${count}`)]);
      assert.equal(await lettersOf(volume, 1), '.');
      await pool.whenIdle();
      assert.equal([...pool.state.layers.all()].length, 3 * (count + 1), 'two snapshots and a volume each');
    }
  });
});

describe('the difference of two snapshots', () => {
  it('lists exactly the ranges that changed, and whether they hold data', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, Buffer.alloc(MIB, 'x'));
    await take(pool, 'volume', 'before');
    await volume.write(3 * BLOCK_BYTES, blocks('a', 2));
    await volume.write(63 * BLOCK_BYTES, blocks('b', 2));
    await take(pool, 'volume', 'between');
    await volume.discard(2 * EXTENT_BYTES, EXTENT_BYTES);
    await take(pool, 'volume', 'after');
    await volume.write(0, blocks('later'));
    assert.deepEqual(
      [...pool.snapshots.difference('before', 'after')],
      [
        { offset: 3 * BLOCK_BYTES, length: 2 * BLOCK_BYTES, mapped: true },
        { offset: 63 * BLOCK_BYTES, length: 2 * BLOCK_BYTES, mapped: true },
        { offset: 2 * EXTENT_BYTES, length: EXTENT_BYTES, mapped: false },
      ],
    );
    assert.deepEqual([...pool.snapshots.difference('after', 'after')], []);
    assert.deepEqual([...pool.snapshots.difference(undefined, 'before')], [{ offset: 0, length: MIB, mapped: true }]);
  });

  it('is the same after the snapshots between were deleted', async (t) => {
    const { pool } = await rigOf(t);
    await history(pool);
    const before = [...pool.snapshots.difference('snapshot-a', 'snapshot-d')];
    await pool.snapshots.delete('snapshot-b');
    await pool.snapshots.delete('snapshot-c');
    await pool.whenIdle();
    assert.deepEqual([...pool.snapshots.difference('snapshot-a', 'snapshot-d')], before);
    assert.deepEqual(before, [
      { offset: 0, length: BLOCK_BYTES, mapped: true },
      { offset: 2 * BLOCK_BYTES, length: 3 * BLOCK_BYTES, mapped: true },
    ]);
  });
});

describe('snapshots of several volumes', () => {
  it('are of one moment: a write that followed another is never in without it', async (t) => {
    const { pool } = await rigOf(t, { groups: [new HeldGroup('group-1', 64 * MIB)] });
    const first = await pool.volumes.create({ id: 'first', sizeBytes: MIB });
    const second = await pool.volumes.create({ id: 'second', sizeBytes: MIB });
    const writer = { stopped: false };
    const counter = (count: number): Buffer => {
      const bytes = Buffer.alloc(BLOCK_BYTES);
      bytes.writeUInt32LE(count);
      return bytes;
    };
    const writing = (async () => {
      for (let count = 1; !writer.stopped; count++) {
        await first.write(0, counter(count));
        await second.write(0, counter(count));
        if (count % 5 === 0) await setImmediate();
      }
    })();
    for (let turn = 0; turn < 50; turn++) {
      const wanted = ['first', 'second'].map((volumeId) => ({ volumeId, id: `${volumeId}-${turn}` }));
      await pool.snapshots.take(turn % 2 === 0 ? wanted : wanted.reverse(), AT);
    }
    writer.stopped = true;
    await writing;
    let last = -1;
    for (let turn = 0; turn < 50; turn++) {
      const ahead = (await readOf(pool.snapshots.open(`first-${turn}`), 0, BLOCK_BYTES)).readUInt32LE();
      const behind = (await readOf(pool.snapshots.open(`second-${turn}`), 0, BLOCK_BYTES)).readUInt32LE();
      assert(ahead === behind || ahead === behind + 1, `${ahead} in one and ${behind} in the other`);
      assert(behind >= last);
      last = behind;
    }
    assert(last > 0, 'nothing was written between');
  });

  it('wait for the writes under way and hold back those that come', async (t) => {
    const group = new HeldGroup('group-1', 16 * MIB);
    const { pool } = await rigOf(t, { groups: [group] });
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a', 2));
    group.holdWrites();
    const underWay = (async () => volume.write(0, blocks('b')))();
    const taking = take(pool, 'volume', 'snapshot');
    const later = (async () => volume.write(BLOCK_BYTES, blocks('c')))();
    await setImmediate();
    assert.equal(pool.snapshots.list('volume').length, 0);
    group.letGo();
    await Promise.all([underWay, taking, later]);
    assert.equal(await lettersOf(pool.snapshots.open('snapshot'), 2), 'ba');
    assert.equal(await lettersOf(volume, 2), 'bc');
  });
});
