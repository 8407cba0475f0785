import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';
import { Pool } from './pool.ts';
import { blocks, groupOf, lettersOf, MIB, type PoolRig, rigOf } from './testing/pool-rig.ts';

const AT = new Date('2026-01-01T00:00:00Z');

function refuses(code: string, pattern = /./): (error: unknown) => boolean {
  return (error) => error instanceof StorageError && error.code === code && pattern.test(error.message);
}

/** One letter an extent. */
async function fill(rig: PoolRig, letters: string): Promise<void> {
  const sizeBytes = letters.length * EXTENT_BYTES;
  const volume = await rig.pool.volumes.create({ id: 'volume', sizeBytes });
  for (const [index, letter] of Array.from(letters).entries())
    await volume.write(index * EXTENT_BYTES, blocks(letter, 64));
}

async function shown(pool: Pool, count: number): Promise<string> {
  let letters = '';
  for (let index = 0; index < count; index++) {
    letters += await lettersOf(pool.volumes.get('volume'), 1, index * EXTENT_BYTES);
  }
  return letters;
}

const LETTERS = 'abcdefghijklmnopqrst';

describe('a pool', () => {
  it('is refused a file that holds one already, and a second open of the same file', async (t) => {
    const rig = await rigOf(t);
    const again = { file: rig.file, groups: rig.groups };
    assert.throws(() => Pool.open(again), refuses('conflict', /another process/));
    await rig.pool.close();
    await assert.rejects(
      Pool.create({ ...again, id: 'other', mode: 'simple' }),
      refuses('conflict', /open it instead/),
    );
    rig.pool = Pool.open(again);
    assert.deepEqual([rig.pool.id, rig.pool.mode], ['pool', 'simple']);
  });

  it('is not made by opening a file that is not there, and can be made there afterwards', async (t) => {
    const rig = await rigOf(t);
    const file = `${rig.file}-other`;
    for (let turn = 0; turn < 2; turn++) assert.throws(() => Pool.open({ file, groups: [] }), refuses('not-found'));
    const pool = await Pool.create({ file, id: 'new', mode: 'simple', groups: [groupOf('group-9', 4)] });
    await pool.close();
  });

  it('fills one group before the next in simple mode, and spreads over all in stripe mode', async (t) => {
    for (const [mode, expected] of [['simple', [4, 0]] as const, ['stripe', [2, 2]] as const]) {
      const rig = await rigOf(t, { mode, groups: [groupOf('group-1', 8), groupOf('group-2', 8)] });
      await fill(rig, 'abcd');
      const used = rig.pool.state.extents.allocator.spaces.map((space) => space.used);
      assert.deepEqual(used, expected, mode);
    }
  });

  it('refuses everything after it was closed', async (t) => {
    const rig = await rigOf(t);
    await fill(rig, 'a');
    const volume = rig.pool.volumes.get('volume');
    await rig.reopen();
    assert.throws(() => volume.write(0, blocks('b')), refuses('closed', /closed with its pool/));
    assert.equal(await shown(rig.pool, 1), 'a');
  });
});

describe('adding a group', () => {
  it('makes room at once and for good', async (t) => {
    const rig = await rigOf(t, { groups: [groupOf('group-1', 4)] });
    await fill(rig, 'abcd');
    await assert.rejects(rig.pool.addGroup(rig.groups[0]!), refuses('conflict', /already/));
    rig.groups.push(groupOf('group-2', 4));
    await rig.pool.addGroup(rig.groups[1]!);
    assert.equal(rig.pool.usage().freeBytes, 4 * EXTENT_BYTES);
    await rig.pool.volumes.expand('volume', 8 * EXTENT_BYTES);
    await rig.pool.volumes.get('volume').write(4 * EXTENT_BYTES, blocks('e', 4 * 64));
    assert.equal(await shown(await rig.reopen(), 8), 'abcdeeee');
  });

  it('reads and writes across the end of one group and the start of the next', async (t) => {
    const rig = await rigOf(t, { groups: [groupOf('group-1', 2), groupOf('group-2', 2)] });
    const volume = await rig.pool.volumes.create({ id: 'volume', sizeBytes: 4 * EXTENT_BYTES });
    await volume.write(0, Buffer.concat(Array.from('abcd').map((letter) => blocks(letter, 64))));
    const seen = await lettersOf(volume, 256);
    assert.equal(
      seen,
      Array.from('abcd')
        .map((letter) => letter.repeat(64))
        .join(''),
    );
  });
});

describe('removing a group', () => {
  it('moves everything off it, snapshots included, and writes go on meanwhile', async (t) => {
    const rig = await rigOf(t, { groups: [groupOf('group-1', 24), groupOf('group-2', 60)] });
    await fill(rig, LETTERS);
    await rig.pool.snapshots.take([{ volumeId: 'volume', id: 'snapshot' }], AT);
    const volume = rig.pool.volumes.get('volume');
    const expected = Array.from(LETTERS);
    const state = { removing: true };
    let writes = 0;
    const progress: number[] = [];
    const removal = rig.pool
      .removeGroup('group-1', { onProgress: (fraction) => void progress.push(fraction) })
      .finally(() => (state.removing = false));
    while (state.removing) {
      const index = (writes * 7) % LETTERS.length;
      const letter = 'XYZ'[writes % 3] ?? 'X';
      await volume.write(index * EXTENT_BYTES, blocks(letter));
      expected[index] = letter;
      writes++;
      await setImmediate();
    }
    await removal;
    assert(writes > 3, `${writes} writes meanwhile`);
    assert(progress.length > 0 && progress.every((value) => value >= 0 && value <= 1));
    assert.deepEqual(
      rig.pool.state.extents.groups().map(({ id }) => id),
      ['group-2'],
    );
    const pool = await rig.reopen([rig.groups[1]!]);
    assert.equal(await shown(pool, LETTERS.length), expected.join(''));
    for (const [index, letter] of Array.from(LETTERS).entries()) {
      assert.equal(await lettersOf(pool.snapshots.open('snapshot'), 2, index * EXTENT_BYTES), letter.repeat(2));
    }
    assert.equal(pool.usage().totalBytes, 60 * EXTENT_BYTES);
  });

  it('keeps everything when it is cancelled, and uses the group again', async (t) => {
    const rig = await rigOf(t, { groups: [groupOf('group-1', 24), groupOf('group-2', 24)] });
    await fill(rig, LETTERS);
    const controller = new AbortController();
    let moved = 0;
    const onProgress = (): void => {
      if (++moved === 5) controller.abort();
    };
    const removal = rig.pool.removeGroup('group-1', { signal: controller.signal, onProgress });
    await assert.rejects(removal, refuses('cancelled'));
    assert.equal(await shown(rig.pool, LETTERS.length), LETTERS);
    const pool = await rig.reopen();
    assert.equal(await shown(pool, LETTERS.length), LETTERS);
    assert.deepEqual([pool.usage().totalBytes, pool.usage().usedBytes], [48 * EXTENT_BYTES, 20 * EXTENT_BYTES]);
    const other = await pool.volumes.create({ id: 'other', sizeBytes: 28 * EXTENT_BYTES });
    await other.write(0, blocks('o', 28 * 64));
    assert.equal(pool.usage().freeBytes, 0);
  });

  it('is refused when what lies on it does not fit on the others', async (t) => {
    const rig = await rigOf(t, { groups: [groupOf('group-1', 24), groupOf('group-2', 19)] });
    await fill(rig, LETTERS);
    await assert.rejects(rig.pool.removeGroup('group-1'), refuses('pool-full', /expand the pool first/));
    await assert.rejects(rig.pool.removeGroup('group-9'), refuses('not-found'));
    await rig.pool.removeGroup('group-2');
    await assert.rejects(rig.pool.removeGroup('group-1'), refuses('pool-full'));
    assert.equal(await shown(rig.pool, LETTERS.length), LETTERS);
  });

  it('is refused while the group is being emptied already, and takes no other with it', async (t) => {
    const rig = await rigOf(t, { groups: [groupOf('group-1', 4), groupOf('group-2', 8), groupOf('group-3', 8)] });
    await fill(rig, 'abcdefgh');
    const results = await Promise.allSettled([rig.pool.removeGroup('group-1'), rig.pool.removeGroup('group-1')]);
    assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
    assert.equal(rig.pool.usage().totalBytes, 16 * EXTENT_BYTES);
    assert.equal(await shown(await rig.reopen(rig.groups.slice(1)), 8), 'abcdefgh');
  });
});

describe('a pool with a group missing', () => {
  it('reads what lies on the others, and names the group for the rest', async (t) => {
    const rig = await rigOf(t, { groups: [groupOf('group-1', 2), groupOf('group-2', 4)] });
    await fill(rig, 'abcd');
    const pool = await rig.reopen([rig.groups[1]!]);
    const volume = pool.volumes.get('volume');
    assert.equal(await lettersOf(volume, 1, 2 * EXTENT_BYTES), 'c');
    await assert.rejects(async () => volume.read(0, Buffer.alloc(BLOCK_BYTES)), refuses('group-failed', /group-1/));
    await volume.write(3 * EXTENT_BYTES, blocks('D'));
    await pool.flush();
    assert.equal(await shown(await rig.reopen(), 4), 'abcD');
  });

  it('does not take another group for the missing one', async (t) => {
    const rig = await rigOf(t, { groups: [groupOf('group-1', 2), groupOf('group-2', 4)] });
    await fill(rig, 'abcd');
    const pool = await rig.reopen([rig.groups[1]!]);
    await assert.rejects(pool.addGroup(groupOf('group-1', 2)), refuses('conflict'));
    assert.equal(await shown(await rig.reopen(), 4), 'abcd');
  });

  it('puts what is new on the groups that are there', async (t) => {
    const rig = await rigOf(t, { mode: 'stripe', groups: [groupOf('group-1', 8), groupOf('group-2', 8)] });
    const pool = await rig.reopen([rig.groups[1]!]);
    const volume = await pool.volumes.create({ id: 'volume', sizeBytes: MIB });
    await volume.write(0, blocks('n', 256));
    assert.equal(await lettersOf(volume, 256), 'n'.repeat(256));
  });
});
