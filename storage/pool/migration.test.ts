import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { StorageError } from '../errors.ts';
import type { MemoryGroup } from '../testing/memory-group.ts';
import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';
import { migrateVolume, type MigrationProgress, reconcileMigrations } from './migration.ts';
import type { Pool } from './pool.ts';
import { blocks, groupOf, KEY, lettersOf, MIB, readOf, type PoolRig, rigOf } from './testing/pool-rig.ts';

function refuses(code: string): (error: unknown) => boolean {
  return (error) => error instanceof StorageError && error.code === code;
}

async function twoPools(t: TestContext, extents = 128): Promise<{ from: PoolRig; to: PoolRig; group: MemoryGroup }> {
  const group = groupOf('group-9', extents);
  return { from: await rigOf(t), to: await rigOf(t, { groups: [group] }), group };
}

/** Two snapshots, the second of a larger volume with a hole where the first had data. */
async function prepare(pool: Pool, key?: Buffer): Promise<void> {
  const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB, ...(key && { key }) });
  await volume.write(0, blocks('a', 128));
  await pool.snapshots.take([{ volumeId: 'volume', id: 'first' }], new Date(1000));
  await pool.volumes.expand('volume', 2 * MIB);
  await volume.discard(EXTENT_BYTES, EXTENT_BYTES);
  await volume.write(BLOCK_BYTES, blocks('b'));
  await volume.write(2 * MIB - BLOCK_BYTES, blocks('z'));
  await pool.snapshots.take([{ volumeId: 'volume', id: 'second' }], new Date(2000));
  await volume.write(2 * BLOCK_BYTES, blocks('c'));
}

async function verify(pool: Pool): Promise<void> {
  const snapshots = pool.snapshots.list('volume');
  assert.deepEqual(
    snapshots.map(({ id, sizeBytes, takenAt }) => [id, sizeBytes, takenAt.getTime()]),
    [
      ['first', MIB, 1000],
      ['second', 2 * MIB, 2000],
    ],
  );
  const [first, second] = [pool.snapshots.open('first'), pool.snapshots.open('second')];
  assert.deepEqual([await lettersOf(first, 4), await lettersOf(first, 1, EXTENT_BYTES)], ['aaaa', 'a']);
  assert.deepEqual([await lettersOf(second, 4), await lettersOf(second, 1, EXTENT_BYTES)], ['abaa', '.']);
  assert.equal(await lettersOf(second, 1, 2 * MIB - BLOCK_BYTES), 'z');
  const volume = pool.volumes.get('volume');
  assert.deepEqual([await lettersOf(volume, 4), volume.sizeBytes], ['abca', 2 * MIB]);
}

describe('migrating a volume', () => {
  it('takes its snapshots along and leaves nothing behind', async (t) => {
    const { from, to } = await twoPools(t);
    await prepare(from.pool);
    const progress: MigrationProgress[] = [];
    const onProgress = (each: MigrationProgress): void => void progress.push(each);
    const target = await migrateVolume(from.pool, to.pool, 'volume', { onProgress });
    assert.equal(target, to.pool.volumes.get('volume'));
    await verify(to.pool);
    await verify(await to.reopen());
    await from.pool.whenIdle();
    await from.pool.flush();
    assert.deepEqual([from.pool.volumes.list(), from.pool.usage().usedBytes], [[], 0]);
    assert(progress.every(({ copiedBytes, totalBytes }) => copiedBytes >= 0 && copiedBytes <= totalBytes));
    assert.deepEqual([...new Set(progress.map(({ snapshot }) => snapshot))], ['first', 'second', undefined]);
  });

  it('takes no pause while writes are held back', async (t) => {
    const { from, to } = await twoPools(t);
    await prepare(from.pool);
    const source = from.pool.volumes.get('volume');
    const held: boolean[] = [];
    const turn = async (): Promise<void> => {
      held.push(!source.gate.isOpen);
      // So that there is something left to copy at the end.
      await source.write(0, blocks('n', 512));
    };
    await migrateVolume(from.pool, to.pool, 'volume', { turn });
    assert(held.length > 0 && !held.includes(true));
    assert.equal(await lettersOf(to.pool.volumes.get('volume'), 3), 'nnn');
  });

  it('keeps the original, out of use, until it is on disk that the copy is the volume', async (t) => {
    const { from, to } = await twoPools(t);
    await prepare(from.pool);
    t.mock.method(to.pool.volumes, 'setState', () => Promise.reject(new StorageError('no-space', 'no room')));
    const target = await migrateVolume(from.pool, to.pool, 'volume');
    await target.write(0, blocks('n'));
    await target.flush();
    t.mock.restoreAll();
    const pools = [await from.reopen(), await to.reopen()] as const;
    await reconcileMigrations(pools);
    assert.equal(await lettersOf(pools[1].volumes.get('volume'), 2), 'nb');
    assert.deepEqual(pools[0].volumes.list(), []);
  });

  it('leaves snapshots behind on request, and copying does not count as use', async (t) => {
    const { from, to } = await twoPools(t);
    await prepare(from.pool);
    const expected = await readOf(from.pool.volumes.get('volume'), 0, 2 * MIB);
    let turns = 0;
    const turn = (): undefined => {
      turns++;
    };
    const target = await migrateVolume(from.pool, to.pool, 'volume', { withSnapshots: false, turn });
    assert.deepEqual(to.pool.snapshots.list('volume'), []);
    assert.deepEqual(from.pool.snapshots.list('volume'), []);
    assert.equal(target.statistics().writes.count, 0);
    assert(turns > 0);
    assert((await readOf(target, 0, 2 * MIB)).equals(expected));
  });

  it('loses no write that goes on meanwhile through the volume as it was', async (t) => {
    const { from, to } = await twoPools(t);
    await prepare(from.pool);
    const volume = from.pool.volumes.get('volume');
    const state = { moving: true };
    let writes = 0;
    const expected = await readOf(volume, 0, 2 * MIB);
    const migration = migrateVolume(from.pool, to.pool, 'volume').finally(() => (state.moving = false));
    for (let after = 0; after < 20; state.moving ? writes++ : after++) {
      const offset = ((writes + after) * 37 * 512) % (2 * MIB);
      const bytes = Buffer.alloc(512, 1 + ((writes + after) % 250));
      await volume.write(offset, bytes);
      bytes.copy(expected, offset);
      assert((await readOf(volume, offset, 512)).equals(bytes), 'what was written is read through either');
      await setImmediate();
    }
    await migration;
    assert(writes > 0);
    assert((await readOf(to.pool.volumes.get('volume'), 0, 2 * MIB)).equals(expected));
    assert((await readOf(volume, 0, 2 * MIB)).equals(expected));
  });

  it('answers a read that waited for its cap from where the volume is now', async (t) => {
    const { from, to } = await twoPools(t);
    await prepare(from.pool);
    const volume = from.pool.volumes.get('volume');
    volume.setCaps({ operationsPerSecond: 4 }, {});
    const reading = [lettersOf(volume, 4), lettersOf(volume, 4)];
    await migrateVolume(from.pool, to.pool, 'volume');
    await from.pool.whenIdle();
    const other = await from.pool.volumes.create({ id: 'other', sizeBytes: 4 * MIB });
    await other.write(0, Buffer.alloc(4 * MIB, 'x'));
    assert.deepEqual(await Promise.all(reading), ['abca', 'abca']);
  });

  for (const when of ['cancelled', 'out of room']) {
    it(`leaves the source as it was and nothing on the target when it is ${when}`, async (t) => {
      const { from, to } = await twoPools(t, when === 'cancelled' ? 128 : 3);
      await prepare(from.pool);
      const before = from.pool.usage();
      const controller = new AbortController();
      const onProgress = (): void => {
        if (when === 'cancelled') controller.abort();
      };
      const migration = migrateVolume(from.pool, to.pool, 'volume', { signal: controller.signal, onProgress });
      await assert.rejects(migration, refuses(when === 'cancelled' ? 'cancelled' : 'pool-full'));
      for (const { pool } of [from, to]) {
        await pool.whenIdle();
        await pool.flush();
      }
      await verify(from.pool);
      assert.deepEqual(from.pool.usage(), before);
      assert.deepEqual([to.pool.volumes.list(), to.pool.usage().usedBytes], [[], 0]);
      await from.pool.volumes.get('volume').write(3 * BLOCK_BYTES, blocks('d'));
      assert.equal(await lettersOf(from.pool.volumes.get('volume'), 4), 'abcd');
    });
  }

  it('is refused when the other pool has a volume of that name, which stays', async (t) => {
    const { from, to } = await twoPools(t);
    await prepare(from.pool);
    await (await to.pool.volumes.create({ id: 'volume', sizeBytes: MIB })).write(0, blocks('o'));
    await assert.rejects(migrateVolume(from.pool, to.pool, 'volume'), refuses('conflict'));
    assert.equal(await lettersOf(to.pool.volumes.get('volume'), 1), 'o');
    await verify(from.pool);
  });

  it('keeps an encrypted volume encrypted with the same key', async (t) => {
    const { from, to, group } = await twoPools(t);
    await prepare(from.pool, KEY);
    await migrateVolume(from.pool, to.pool, 'volume');
    await verify(to.pool);
    const raw = Buffer.alloc(group.capacityBytes);
    await group.read(0, raw);
    for (const letter of 'abcz') assert.equal(raw.includes(letter.repeat(16)), false, `${letter} lies there plainly`);
    const pool = await to.reopen();
    assert.equal(pool.volumes.get('volume').isLocked, true);
    assert.throws(() => pool.volumes.unlock('volume', Buffer.alloc(64, 1)), refuses('invalid'));
    pool.volumes.unlock('volume', KEY);
    await verify(pool);
    await assert.rejects(migrateVolume(pool, from.pool, 'nobody'), refuses('not-found'));
  });

  it('is refused for a volume whose key was not given', async (t) => {
    const { from, to } = await twoPools(t);
    await prepare(from.pool, KEY);
    const pool = await from.reopen();
    await assert.rejects(migrateVolume(pool, to.pool, 'volume'), refuses('locked'));
    assert.deepEqual(to.pool.volumes.list(), []);
  });
});
