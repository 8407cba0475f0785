import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { blocks, lettersOf, MIB, rigOf } from '../pool/testing/pool-rig.ts';
import { BLOCK_BYTES } from '../units.ts';

const TIB = 2 ** 40;
const PIB = 2 ** 50;

const FORMATS = {
  plain: { compression: false, deduplication: false },
  compressed: { compression: true, deduplication: false },
  'compressed and deduplicated': { compression: true, deduplication: true },
};

for (const [name, options] of Object.entries(FORMATS)) {
  test(`a ${name} volume of a petabyte keeps its bytes apart, wherever they are`, async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: PIB, options });
    const offsets = [0, 16 * TIB, 64 * TIB, 128 * TIB, 256 * TIB, 512 * TIB, PIB - BLOCK_BYTES];
    for (const [index, offset] of offsets.entries()) await volume.write(offset, blocks('abcdefg'[index] ?? 'z'));
    for (const [index, offset] of offsets.entries()) assert.equal(await lettersOf(volume, 1, offset), 'abcdefg'[index]);
    await volume.discard(128 * TIB, TIB);
    assert.deepEqual(await Promise.all(offsets.map((offset) => lettersOf(volume, 1, offset))), [
      'a',
      'b',
      'c',
      '.',
      'e',
      'f',
      'g',
    ]);
  });

  // An entry at a time, it would take hours.
  test(`an empty ${name} volume of a petabyte is discarded, and one with a snapshot that holds little`, async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: PIB, options });
    await volume.discard(0, PIB);
    await volume.write(700 * TIB, blocks('a'));
    await volume.write(TIB, blocks('c'));
    await pool.snapshots.take([{ volumeId: 'volume', id: 'snapshot' }], new Date());
    await volume.write(2 * TIB, blocks('e'));
    await volume.discard(BLOCK_BYTES, PIB - 2 * BLOCK_BYTES);
    for (const offset of [TIB, 2 * TIB, 700 * TIB]) assert.equal(await lettersOf(volume, 1, offset), '.');
    await pool.snapshots.revert('snapshot');
    assert.equal(await lettersOf(volume, 1, 700 * TIB), 'a');
    assert.equal(await lettersOf(volume, 1, 2 * TIB), '.');
  });

  test(`other requests have their turn while much of a ${name} volume is discarded`, async (t) => {
    const { pool } = await rigOf(t);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: TIB, options });
    const places = Array.from({ length: 100 }, (_, index) => index * 64 * MIB);
    for (const offset of places) await volume.write(offset, blocks('a'));
    const state = { isDone: false };
    let turns = 0;
    const discarded = Promise.resolve(volume.discard(0, TIB)).then(() => {
      state.isDone = true;
    });
    for (; !state.isDone; turns += 1) await setImmediate();
    await discarded;
    assert.ok(turns > 5, `${turns} turns`);
    for (const offset of places) assert.equal(await lettersOf(volume, 1, offset), '.');
  });
}
