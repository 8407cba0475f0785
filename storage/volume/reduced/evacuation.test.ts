import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { turns } from '../../../testing/turns.ts';
import { StorageError } from '../../errors.ts';
import { MemoryGroup } from '../../testing/memory-group.ts';
import type { Done } from '../../units.ts';
import { CHUNK, contents, MIB, noise, prose, Scene } from './testing/scene.ts';

const KEY = Buffer.from(Array.from({ length: 64 }, (_, index) => index));

/** Writes wait, or are refused, on request. */
class MoodyGroup extends MemoryGroup {
  refuses = false;
  #hold: { readonly reached: () => void; readonly until: Promise<unknown> } | undefined;

  /** Holds writes back until the promise; resolves when there is one. */
  hold(until: Promise<unknown>): Promise<void> {
    return new Promise((reached) => (this.#hold = { reached, until }));
  }

  override write(offset: number, from: Buffer): Done {
    if (this.refuses) throw new StorageError('group-failed', 'Nothing is to be written here any more.');
    this.#hold?.reached();
    return this.#hold ? this.#hold.until.then(() => super.write(offset, from)) : super.write(offset, from);
  }
}

test('a chunk still being written when its container is to move is not left behind', async (context) => {
  const group = new MoodyGroup('group-1', 4 * MIB);
  const scene = await Scene.create(context, [group, new MemoryGroup('group-2', 4 * MIB)]);
  const volume = await scene.volume('a', { compression: true });
  await volume.write(0, noise(CHUNK));
  const release = new EventEmitter();
  const reached = group.hold(once(release, 'go'));
  const write = volume.write(CHUNK, noise(CHUNK, 1));
  await reached;
  const removal = scene.pool.removeGroup('group-1');
  await turns();
  release.emit('go');
  await Promise.all([write, removal]);
  assert(noise(CHUNK, 1).equals(await contents(volume, CHUNK, CHUNK)));
});

test('nothing is put into containers of a group that is being emptied', async (context) => {
  const group = new MoodyGroup('group-1', 8 * MIB);
  const scene = await Scene.create(context, [group, new MemoryGroup('group-2', 16 * MIB)]);
  const volume = await scene.volume('a', { compression: true });
  await volume.write(0, prose(4 * MIB));
  const removal = scene.pool.removeGroup('group-1');
  group.refuses = true;
  for (let round = 0; round < 50; round++) await volume.write(round * CHUNK, prose(CHUNK, round));
  await removal;
});

test('containers move off a group while they are read, written and given up', async (context) => {
  const groups = [new MemoryGroup('group-1', 12 * MIB), new MemoryGroup('group-2', 24 * MIB)];
  const scene = await Scene.create(context, groups);
  const volume = await scene.volume('a', { compression: true, deduplication: true }, KEY);
  const expected = Buffer.concat([prose(4 * MIB), noise(4 * MIB)]);
  await volume.write(0, expected);
  const fractions: number[] = [];
  const moving = new AbortController();
  const removal = scene.pool
    .removeGroup('group-1', { onProgress: (fraction) => fractions.push(fraction) })
    .finally(() => moving.abort());
  for (let round = 0; !moving.signal.aborted || round < 10; round++) {
    const at = ((round * 37) % 250) * CHUNK;
    const bytes = round % 3 === 0 ? noise(CHUNK / 2, round) : prose(CHUNK / 2, round);
    const seen = contents(volume, at, CHUNK);
    bytes.copy(expected, at + 4096);
    await Promise.all([volume.write(at + 4096, bytes), seen]);
  }
  await removal;
  scene.groups.splice(0, 1);
  assert(expected.equals(await contents(volume, 0, expected.length)));
  assert(fractions.length > 10);
  assert.deepEqual(await scene.reopen(), []);
  scene.pool.volumes.unlock('a', KEY);
  assert(expected.equals(await contents(scene.pool.volumes.get('a'), 0, expected.length)));
});

test('a cancelled move leaves all in place, and containers on the group take chunks again', async (context) => {
  const groups = [new MemoryGroup('group-1', 4 * MIB), new MemoryGroup('group-2', 24 * MIB)];
  const scene = await Scene.create(context, groups);
  const volume = await scene.volume('a', { compression: true });
  const text = prose(4 * MIB);
  await volume.write(0, text);
  const cancel = new AbortController();
  const removal = scene.pool.removeGroup('group-1', { signal: cancel.signal, onProgress: () => cancel.abort() });
  await assert.rejects(removal, { code: 'cancelled' });
  assert(text.equals(await contents(volume, 0, text.length)));
  await scene.pool.removeGroup('group-2');
  assert(text.equals(await contents(volume, 0, text.length)));
});
