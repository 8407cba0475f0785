import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { MemoryGroup } from '../testing/memory-group.ts';
import { reconcileMigrations } from './migration.ts';
import { Pool } from './pool.ts';

const MIB = 1024 * 1024;

let folder: string;
let from: Pool;
let to: Pool;

/** As a crash leaves it: the volume in one pool, and what was copied so far in the other. */
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'granary-settle-'));
  [from, to] = (await Promise.all(
    ['from', 'to'].map((id) => {
      const groups = [new MemoryGroup(id, 16 * MIB)];
      return Pool.create({ file: path.join(folder, id), id, mode: 'simple', groups });
    }),
  )) as [Pool, Pool];
  const source = await from.volumes.create({ id: 'v', sizeBytes: MIB });
  await source.write(0, Buffer.alloc(4096, 'old'));
  const copy = await to.volumes.createIncoming(source, undefined);
  await copy.write(0, Buffer.alloc(4096, 'new'));
});

afterEach(async () => {
  await from.close();
  await to.close();
  fs.rmSync(folder, { recursive: true });
});

async function textOf(pool: Pool): Promise<string> {
  const bytes = Buffer.alloc(4096);
  await pool.volumes.get('v').read(0, bytes);
  return bytes.toString('latin1', 0, 3);
}

test('a copy that was not whole goes, and the volume stays where it was', async () => {
  await reconcileMigrations([from, to]);
  assert.equal(await textOf(from), 'old');
  assert.deepEqual(to.volumes.list(), []);
});

test('moments that a move copied up to do not stay behind', async () => {
  await from.snapshots.mark(from.volumes.get('v'), 'migration-1');
  await from.snapshots.take([{ volumeId: 'v', id: 'kept' }], new Date(1000));
  await reconcileMigrations([from, to]);
  assert.deepEqual(
    from.snapshots.list('v').map(({ id }) => id),
    ['kept'],
  );
});

test('once the volume has moved its copy is the volume, and the original goes', async () => {
  await from.volumes.setState('v', 'moved');
  await reconcileMigrations([from, to]);
  assert.equal(await textOf(to), 'new');
  assert.equal(to.volumes.stateOf('v'), undefined);
  assert.deepEqual(from.volumes.list(), []);
});

test('a volume marked as moved whose copy is nowhere is kept', async () => {
  await to.deleteVolume('v');
  await from.volumes.setState('v', 'moved');
  await reconcileMigrations([from, to]);
  assert.equal(await textOf(from), 'old');
  assert.equal(from.volumes.stateOf('v'), undefined);
});

test('a volume that has moved to a pool which could not be opened is not taken for the newer copy there', async () => {
  await from.volumes.setState('v', 'moved');
  await reconcileMigrations([from], false);
  assert.equal(from.volumes.stateOf('v'), 'moved');
  await reconcileMigrations([from, to]);
  assert.equal(await textOf(to), 'new');
  assert.deepEqual(from.volumes.list(), []);
});
