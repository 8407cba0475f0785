import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { randomFrom } from '../../testing/random.ts';
import { StorageError } from '../errors.ts';
import { blocks, groupOf, HeldGroup, KEY, lettersOf, MIB, readOf, rigOf } from '../pool/testing/pool-rig.ts';
import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';

const SECTOR_BYTES = 512;

function refuses(code: string, pattern: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof StorageError && error.code === code && pattern.test(error.message);
}

describe('a volume', () => {
  it('reads zeros where nothing was written', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    assert.equal(await lettersOf(volume, 256), '.'.repeat(256));
  });

  it('reads and writes any sectors, whatever their place in a block', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    const expected = Buffer.alloc(MIB);
    const random = randomFrom(5);
    for (let turn = 1; turn <= 300; turn++) {
      const count = 1 + Math.floor(random() * 40);
      const offset = Math.floor(random() * (MIB / SECTOR_BYTES - count)) * SECTOR_BYTES;
      const bytes = Buffer.alloc(count * SECTOR_BYTES, turn % 255);
      await volume.write(offset, bytes);
      bytes.copy(expected, offset);
      const seen = await readOf(volume, offset, Math.min(bytes.length + SECTOR_BYTES, MIB - offset));
      assert(seen.equals(expected.subarray(offset, offset + seen.length)), `write ${turn} at ${offset}`);
    }
    assert((await readOf(volume, 0, MIB)).equals(expected));
  });

  it('keeps both of two writes at once to neighbouring sectors of one block', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    for (let turn = 0; turn < 20; turn++) {
      const sectors = Array.from({ length: 8 }, (_, index) => Buffer.alloc(SECTOR_BYTES, 1 + turn * 8 + index));
      await Promise.all(sectors.map(async (sector, index) => volume.write(index * SECTOR_BYTES, sector)));
      assert((await readOf(volume, 0, BLOCK_BYTES)).equals(Buffer.concat(sectors)));
    }
  });

  it('keeps all writes at once to blocks of an extent that is not there yet, and takes one extent for them', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    const letters = 'abcdefghijklmnop';
    await Promise.all(
      Array.from(letters).map(async (letter, index) => volume.write(index * BLOCK_BYTES, blocks(letter))),
    );
    assert.equal(await lettersOf(volume, 16), letters);
    await volume.flush();
    assert.equal(pool.usage().usedBytes, EXTENT_BYTES);
  });

  it('reads zeros after a discard of any sectors, and only there', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    const random = randomFrom(9);
    for (let turn = 0; turn < 60; turn++) {
      await volume.write(0, Buffer.alloc(MIB, 'x'));
      if (turn % 2 === 1) await pool.snapshots.take([{ volumeId: 'volume', id: `snapshot-${turn}` }], new Date());
      const unit = [SECTOR_BYTES, BLOCK_BYTES, EXTENT_BYTES][turn % 3] ?? SECTOR_BYTES;
      const offset = Math.floor((random() * MIB) / unit) * unit;
      const length = Math.min(unit * (1 + Math.floor(random() * 100)), MIB - offset);
      await volume.discard(offset, length);
      const expected = Buffer.alloc(MIB, 'x').fill(0, offset, offset + length);
      assert((await readOf(volume, 0, MIB)).equals(expected), `${length} at ${offset}`);
      if (turn % 2 === 0) continue;
      const frozen = await readOf(pool.snapshots.open(`snapshot-${turn}`), 0, MIB);
      assert(frozen.equals(Buffer.alloc(MIB, 'x')), 'the snapshot keeps what was discarded');
      await pool.snapshots.delete(`snapshot-${turn}`);
    }
  });

  it('shows over a discarded extent only what was written since, not what a snapshot holds below', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a', 64));
    await pool.snapshots.take([{ volumeId: 'volume', id: 'snapshot' }], new Date());
    await volume.discard(0, EXTENT_BYTES);
    await volume.write(BLOCK_BYTES, blocks('b'));
    assert.equal(await lettersOf(volume, 4), '.b..');
    assert.equal(await lettersOf(pool.snapshots.open('snapshot'), 4), 'aaaa');
  });

  it('tells which runs hold data, in order and without gaps', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(2 * BLOCK_BYTES, blocks('a', 3));
    await pool.snapshots.take([{ volumeId: 'volume', id: 'snapshot' }], new Date());
    await volume.write(5 * BLOCK_BYTES, blocks('b'));
    assert.deepEqual(volume.mapped(SECTOR_BYTES, 8 * BLOCK_BYTES), [
      { length: 2 * BLOCK_BYTES - SECTOR_BYTES, mapped: false },
      { length: 4 * BLOCK_BYTES, mapped: true },
      { length: 2 * BLOCK_BYTES + SECTOR_BYTES, mapped: false },
    ]);
    await volume.discard(0, EXTENT_BYTES);
    assert.deepEqual(volume.mapped(0, MIB), [{ length: MIB, mapped: false }]);
  });

  it('refuses what lies outside it or is no whole sector, and names the range', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    const cases: [number, number][] = [
      [MIB, SECTOR_BYTES],
      [MIB - SECTOR_BYTES, 2 * SECTOR_BYTES],
      [-SECTOR_BYTES, SECTOR_BYTES],
      [1, SECTOR_BYTES],
      [0, 100],
    ];
    for (const [offset, length] of cases) {
      const expected = refuses('invalid', new RegExp(`${length} bytes at ${offset} .*${MIB}`));
      await assert.rejects(async () => volume.read(offset, Buffer.alloc(length)), expected);
      await assert.rejects(async () => volume.write(offset, Buffer.alloc(length)), expected);
      await assert.rejects(async () => volume.discard(offset, length), expected);
      assert.throws(() => volume.mapped(offset, length), expected);
    }
  });

  it('refuses to be smaller, and keeps its data when it grows', async (t) => {
    const rig = await rigOf(t);
    const volume = await rig.pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(MIB - BLOCK_BYTES, blocks('z'));
    await assert.rejects(rig.pool.volumes.expand('volume', MIB / 2), refuses('invalid', /cannot become smaller/));
    await rig.pool.volumes.expand('volume', 2 * MIB);
    await volume.write(MIB, blocks('y'));
    assert.equal(await lettersOf(volume, 3, MIB - BLOCK_BYTES), 'zy.');
    const again = (await rig.reopen()).volumes.get('volume');
    assert.equal(again.sizeBytes, 2 * MIB);
    assert.equal(await lettersOf(again, 3, MIB - BLOCK_BYTES), 'zy.');
  });

  it('refuses everything once it is deleted, also what waited for a cap', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a'));
    volume.setCaps({ operationsPerSecond: 20 }, { operationsPerSecond: 20 });
    const gone = refuses('closed', /was deleted/);
    const waiting = [1, 2, 3].flatMap(() => [
      (async () => volume.read(0, Buffer.alloc(BLOCK_BYTES)))(),
      (async () => volume.write(0, blocks('b')))(),
    ]);
    const results = Promise.allSettled(waiting);
    await pool.volumes.delete('volume');
    const refused = (await results).slice(2);
    for (const result of refused) assert(result.status === 'rejected' && gone(result.reason), result.status);
    await assert.rejects(async () => volume.read(0, Buffer.alloc(BLOCK_BYTES)), gone);
    await assert.rejects(volume.flush(), gone);
    assert.throws(() => pool.volumes.get('volume'), refuses('not-found', /no volume volume/));
  });

  it('counts what it did', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    for (let turn = 0; turn < 5; turn++) await volume.write(turn * SECTOR_BYTES, Buffer.alloc(SECTOR_BYTES));
    for (let turn = 0; turn < 3; turn++) await volume.read(0, Buffer.alloc(BLOCK_BYTES));
    await volume.discard(0, EXTENT_BYTES);
    const { reads, writes, discards } = volume.statistics();
    assert.deepEqual([reads.count, reads.bytes, reads.errors], [3, 3 * BLOCK_BYTES, 0]);
    assert.deepEqual([writes.count, writes.bytes, writes.errors], [5, 5 * SECTOR_BYTES, 0]);
    assert.deepEqual([discards.count, discards.bytes], [1, EXTENT_BYTES]);
    assert(writes.microseconds >= writes.microsecondsMax && writes.microsecondsMax > 0);
  });

  it('counts a write that the pool refuses as an error', async (t) => {
    const { pool } = await rigOf(t, { groups: [groupOf('group-1', 1)] });
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('a'));
    await assert.rejects(async () => volume.write(EXTENT_BYTES, blocks('b')), refuses('pool-full', /expand it/));
    const { writes } = volume.statistics();
    assert.deepEqual([writes.count, writes.errors], [1, 1]);
  });

  it('refuses a name that is taken and sizes that make no sense', async (t) => {
    const { pool } = await rigOf(t);
    await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await assert.rejects(pool.volumes.create({ id: 'volume', sizeBytes: MIB }), refuses('conflict', /already/));
    for (const sizeBytes of [0, -BLOCK_BYTES, 1000, 2 ** 51, NaN]) {
      await assert.rejects(pool.volumes.create({ id: 'other', sizeBytes }), refuses('invalid', /multiple of 4096/));
    }
    assert.equal(pool.volumes.list().length, 1);
  });

  it('holds a write back while its gate is closed, and answers it afterwards', async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.gate.close();
    let answered = 0;
    const writing = (async () => volume.write(0, blocks('a')))().then(() => answered++);
    const discarding = (async () => volume.discard(BLOCK_BYTES, BLOCK_BYTES))().then(() => answered++);
    await setImmediate();
    assert.equal(answered, 0);
    assert.equal(await lettersOf(volume, 1), '.', 'reads go on');
    volume.gate.open();
    await Promise.all([writing, discarding]);
    assert.equal(await lettersOf(volume, 1), 'a');
  });
});

describe('an encrypted volume', () => {
  it('is locked after the pool is opened, until it is given its key', async (t) => {
    const rig = await rigOf(t);
    const volume = await rig.pool.volumes.create({ id: 'volume', sizeBytes: MIB, key: KEY });
    await volume.write(0, blocks('a', 2));
    await rig.pool.snapshots.take([{ volumeId: 'volume', id: 'snapshot' }], new Date());
    const pool = await rig.reopen();
    const again = pool.volumes.get('volume');
    assert.equal(again.isLocked, true);
    const locked = refuses('locked', /unlock it first/);
    assert.throws(() => again.read(0, Buffer.alloc(BLOCK_BYTES)), locked);
    assert.throws(() => again.write(0, blocks('b')), locked);
    assert.throws(() => again.discard(0, BLOCK_BYTES), locked);
    assert.throws(() => pool.snapshots.open('snapshot').read(0, Buffer.alloc(BLOCK_BYTES)), locked);
    pool.volumes.unlock('volume', KEY);
    assert.equal(await lettersOf(again, 3), 'aa.');
    assert.equal(await lettersOf(pool.snapshots.open('snapshot'), 2), 'aa');
  });

  it('refuses a wrong key and stays locked; an open volume refuses any', async (t) => {
    const rig = await rigOf(t);
    await rig.pool.volumes.create({ id: 'volume', sizeBytes: MIB, key: KEY });
    await rig.pool.volumes.create({ id: 'open', sizeBytes: MIB });
    const pool = await rig.reopen();
    const wrong = Buffer.from(KEY).fill(9, 63);
    assert.throws(() => pool.volumes.unlock('volume', wrong), refuses('invalid', /not that of volume/));
    assert.equal(pool.volumes.get('volume').isLocked, true);
    assert.throws(() => pool.volumes.unlock('open', KEY), refuses('conflict', /not encrypted/));
  });

  it('leaves no plain text on the group, and the same block in two places or volumes lies there differently', async (t) => {
    const group = new HeldGroup('group-1', 4 * EXTENT_BYTES);
    const { pool } = await rigOf(t, { groups: [group] });
    const other = Buffer.from(KEY).fill(7, 0, 8).fill(8, 40, 48);
    for (const [id, key] of [['first', KEY] as const, ['second', other] as const]) {
      const volume = await pool.volumes.create({ id, sizeBytes: MIB, key });
      await volume.write(0, blocks('s', 2));
      assert.equal(await lettersOf(volume, 2), 'ss');
    }
    const raw = Buffer.alloc(group.capacityBytes);
    await group.read(0, raw);
    assert.equal(raw.includes('ssssssss'), false);
    const places = [0, 1, 64, 65].map((block) => raw.toString('hex', block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES));
    assert.equal(new Set(places).size, 4);
    for (const place of places) assert.equal(/^0+$/.test(place), false);
  });

  it('gives its key to clones of its snapshots', async (t) => {
    const rig = await rigOf(t);
    const volume = await rig.pool.volumes.create({ id: 'volume', sizeBytes: MIB, key: KEY });
    await volume.write(0, blocks('a'));
    await rig.pool.snapshots.take([{ volumeId: 'volume', id: 'snapshot' }], new Date());
    const clone = await rig.pool.snapshots.clone('snapshot', 'clone');
    await clone.write(BLOCK_BYTES, blocks('b'));
    assert.equal(await lettersOf(clone, 2), 'ab');
    const pool = await rig.reopen();
    assert.equal(pool.volumes.get('clone').isLocked, true);
    pool.volumes.unlock('clone', KEY);
    assert.equal(await lettersOf(pool.volumes.get('clone'), 2), 'ab');
  });
});
