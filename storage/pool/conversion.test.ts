import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { checkPool } from '../check/check.ts';
import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';
import type { BlockDevice } from '../block-device.ts';
import { groupOf, KEY, MIB, type PoolRig, rigOf } from './testing/pool-rig.ts';
import { migrateVolume } from './migration.ts';

const REDUCED = { compression: true, deduplication: true };
const OFF = { compression: false, deduplication: false };
const ID = 'volume';

/** A plain volume of 8 MiB: the same compressible block in the first half, zeros in the second. */
async function rigWithVolume(t: TestContext, key?: Buffer): Promise<PoolRig> {
  const rig = await rigOf(t);
  const volume = await rig.pool.volumes.create({ id: ID, sizeBytes: 8 * MIB, ...(key && { key }) });
  await volume.write(0, Buffer.alloc(4 * MIB, 'a'));
  await rig.pool.flush();
  return rig;
}

async function letterAt(device: BlockDevice, offset: number): Promise<string> {
  const bytes = Buffer.alloc(BLOCK_BYTES);
  await device.read(offset, bytes);
  const [first = 0] = bytes;
  assert.ok(bytes.every((byte) => byte === first));
  return first === 0 ? '.' : String.fromCharCode(first);
}

async function findings(rig: PoolRig): Promise<readonly object[]> {
  await rig.pool.close();
  const report = await checkPool({ file: rig.file, groups: rig.groups });
  await rig.reopen();
  return report.findings;
}

test('reduction is switched on for a plain volume: new writes at once, what was there in the background', async (t) => {
  const rig = await rigWithVolume(t);
  const { pool } = rig;
  const usedBefore = pool.usage().usedBytes;
  const switched = pool.volumes.setOptions(ID, REDUCED);
  await switched;
  assert.equal(pool.volumes.get(ID).layer.format, 'reduced');
  await pool.volumes.get(ID).write(6 * MIB, Buffer.alloc(MIB, 'b'));
  await pool.whenIdle();
  await pool.flush();
  assert.equal(pool.volumeUsage(ID).unreducedBytes, 0);
  assert.ok(usedBefore === 4 * MIB && pool.usage().usedBytes <= 2 * EXTENT_BYTES, `${pool.usage().usedBytes}`);
  const { logicalBytes, storedBytes } = await pool.volumeReduction(ID);
  assert.ok(logicalBytes === 5 * MIB && storedBytes < MIB / 8);
  assert.deepEqual(await findings(rig), []);
  const volume = rig.pool.volumes.get(ID);
  const letters = [0, 4 * MIB - BLOCK_BYTES, 4 * MIB, 6 * MIB, 7 * MIB].map((at) => letterAt(volume, at));
  assert.equal((await Promise.all(letters)).join(''), 'aa.b.');
});

test('each reduction is switched on by itself', async (t) => {
  for (const [options, isWhole] of [
    [{ compression: true, deduplication: false }, false],
    [{ compression: false, deduplication: true }, true],
  ] as const) {
    const rig = await rigWithVolume(t);
    await rig.pool.volumes.setOptions(ID, options);
    await rig.pool.whenIdle();
    await rig.pool.flush();
    const { compressedBytes, storedBytes } = await rig.pool.volumeReduction(ID);
    // Compressed, each chunk takes a block; deduplicated, one chunk is stored whole.
    assert.deepEqual([compressedBytes, storedBytes], isWhole ? [4 * MIB, 32 * 1024] : [MIB / 2, MIB / 2]);
  }
});

test('snapshots stay plain until they go, and then they are converted; clones of them start with what they show', async (t) => {
  const rig = await rigWithVolume(t);
  const { pool } = rig;
  await pool.snapshots.take([{ volumeId: ID, id: 's' }], new Date(0));
  await pool.volumes.get(ID).write(0, Buffer.alloc(MIB, 'b'));
  await pool.volumes.setOptions(ID, REDUCED);
  await pool.whenIdle();
  await pool.flush();
  const plain = (): number => [...pool.state.layers.all()].filter(({ format }) => format === 'plain').length;
  assert.deepEqual([plain(), pool.volumeUsage(ID).unreducedBytes], [1, 0]);
  const clone = await pool.snapshots.clone('s', 'clone');
  await clone.write(MIB, Buffer.alloc(BLOCK_BYTES, 'c'));
  const seen = async (device: BlockDevice) => [await letterAt(device, 0), await letterAt(device, MIB)].join('');
  assert.deepEqual(
    [await seen(pool.volumes.get(ID)), await seen(pool.snapshots.open('s')), await seen(clone)],
    ['ba', 'aa', 'ac'],
  );
  await pool.deleteVolume('clone');
  await pool.snapshots.delete('s');
  await pool.whenIdle();
  await pool.flush();
  assert.equal(plain(), 0);
  assert.equal(await seen(pool.volumes.get(ID)), 'ba');
  assert.deepEqual(await findings(rig), []);
});

test('what was discarded stays discarded, whichever layer hides it', async (t) => {
  const rig = await rigWithVolume(t);
  const { pool } = rig;
  await pool.snapshots.take([{ volumeId: ID, id: 's' }], new Date(0));
  const volume = pool.volumes.get(ID);
  await volume.discard(0, EXTENT_BYTES);
  await volume.discard(EXTENT_BYTES, BLOCK_BYTES);
  await volume.write(3 * BLOCK_BYTES, Buffer.alloc(BLOCK_BYTES, 'b'));
  await pool.volumes.setOptions(ID, REDUCED);
  await volume.discard(2 * EXTENT_BYTES, EXTENT_BYTES);
  await volume.discard(MIB, BLOCK_BYTES);
  const letters = async (device: BlockDevice): Promise<string> => {
    const at = [0, 3, 4, 64, 65, 128, 256, 257, 300].map((block) => letterAt(device, block * BLOCK_BYTES));
    return (await Promise.all(at)).join('');
  };
  const mapped = (): boolean[] => [3, 65, 128].map((block) => volume.mapped(block * BLOCK_BYTES, 4096)[0]!.mapped);
  assert.equal(await letters(volume), '.b..a..aa');
  assert.deepEqual(mapped(), [true, true, false]);
  await pool.whenIdle();
  assert.equal(await letters(volume), '.b..a..aa');
  assert.equal(await letters(pool.snapshots.open('s')), 'aaaaaaaaa');
  await pool.snapshots.delete('s');
  await pool.whenIdle();
  assert.equal(await letters(volume), '.b..a..aa');
  assert.deepEqual(await findings(rig), []);
});

test('a conversion goes on when the pool is opened again, and waits for the key of a locked volume', async (t) => {
  const rig = await rigWithVolume(t, KEY);
  const switched = rig.pool.volumes.setOptions(ID, REDUCED);
  await switched;
  // At once: whatever was converted by now, the rest is found again.
  await rig.reopen();
  await rig.pool.whenIdle();
  const { unreducedBytes } = rig.pool.volumeUsage(ID);
  rig.pool.volumes.unlock(ID, KEY);
  assert.equal(await letterAt(rig.pool.volumes.get(ID), MIB), 'a');
  await rig.pool.whenIdle();
  assert.ok(unreducedBytes > 0 && rig.pool.volumeUsage(ID).unreducedBytes === 0);
  assert.equal(await letterAt(rig.pool.volumes.get(ID), MIB), 'a');
  assert.deepEqual(await findings(rig), []);
});

test('a pool that is nearly full is converted with what room there is', async (t) => {
  const rig = await rigOf(t, { groups: [groupOf('group', 40)] });
  const { pool } = rig;
  const volume = await pool.volumes.create({ id: ID, sizeBytes: 9 * MIB });
  for (let at = 0; at < 9 * MIB; at += 512) {
    const sector = Buffer.alloc(512);
    sector.writeUInt32LE(at + 1, at % 500);
    await volume.write(at, sector);
  }
  await pool.volumes.setOptions(ID, OFF);
  assert.equal(volume.layer.format, 'plain');
  await pool.volumes.setOptions(ID, { compression: false, deduplication: true });
  await pool.whenIdle();
  assert.equal(pool.volumeUsage(ID).unreducedBytes, 0);
  const bytes = Buffer.alloc(9 * MIB);
  await volume.read(0, bytes);
  for (let at = 0; at < 9 * MIB; at += 512) assert.equal(bytes.readUInt32LE(at + (at % 500)), at + 1);
});

test('reduction switched off again leaves what is reduced, and new writes are not', async (t) => {
  const rig = await rigWithVolume(t);
  const { pool } = rig;
  await pool.volumes.setOptions(ID, REDUCED);
  await pool.volumes.setOptions(ID, OFF);
  await pool.whenIdle();
  await pool.volumes.get(ID).write(4 * MIB, Buffer.alloc(MIB, 'a'));
  await pool.flush();
  const { logicalBytes, storedBytes } = await pool.volumeReduction(ID);
  assert.ok(logicalBytes === 5 * MIB && storedBytes >= MIB, `${storedBytes}`);
  assert.equal(await letterAt(pool.volumes.get(ID), 4 * MIB), 'a');
});

test('a volume moves to another pool while it is converted', async (t) => {
  const rig = await rigWithVolume(t);
  const other = await rigOf(t);
  await rig.pool.snapshots.take([{ volumeId: ID, id: 's' }], new Date(0));
  await rig.pool.volumes.get(ID).write(0, Buffer.alloc(MIB, 'b'));
  await rig.pool.volumes.setOptions(ID, REDUCED);
  await migrateVolume(rig.pool, other.pool, ID);
  assert.equal(await letterAt(other.pool.volumes.get(ID), 0), 'b');
  assert.equal(await letterAt(other.pool.volumes.get(ID), 2 * MIB), 'a');
  assert.equal(await letterAt(other.pool.snapshots.open('s'), 0), 'a');
  await rig.pool.whenIdle();
  await rig.pool.flush();
  assert.equal(rig.pool.usage().usedBytes, 0);
});
