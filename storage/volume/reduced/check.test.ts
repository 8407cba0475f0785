import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import type { Transaction } from '@granary/kernel/sqlite';
import { openPoolDatabase } from '../../metadata/pool-database.ts';
import { checkReduced } from './check.ts';
import { CHUNK, noise, Scene } from './testing/scene.ts';

/** Damages the books of a sound pool, and returns what the check says of them. The pool itself is none the wiser. */
async function findings(context: TestContext, damage: (tx: Transaction) => void): Promise<string[]> {
  const scene = await Scene.create(context);
  const volume = await scene.volume('a', { deduplication: true });
  await volume.write(0, Buffer.concat([noise(CHUNK), noise(CHUNK), noise(CHUNK, 2)]));
  await scene.pool.close();
  const database = openPoolDatabase(scene.file);
  assert.deepEqual(checkReduced(database), []);
  let found: string[] = [];
  const examine = (tx: Transaction): never => {
    damage(tx);
    found = checkReduced(tx);
    throw new Error('undo');
  };
  assert.throws(() => database.transaction(examine), /undo/);
  database.close();
  scene.open();
  return found;
}

test('the check finds an index that counts wrong', async (context) => {
  const found = await findings(context, (tx) => tx.run('UPDATE shared_chunks SET owners = owners + 1'));
  assert.equal(found.length, 2);
  assert.match(found.join('\n'), /has 2 owners, the index says 3/);
});

test('the check finds chunks that the index lacks', async (context) => {
  const found = await findings(context, (tx) => tx.run('DELETE FROM shared_chunks WHERE owners = 2'));
  assert.match(found.join('\n'), /^the chunk at \d+ is not in the index$/);
});

test('the check finds chunks in no container', async (context) => {
  const found = await findings(context, (tx) => tx.run('DELETE FROM containers'));
  assert.equal(found.length, 2);
  assert.match(found.join('\n'), /is in no container/);
});

test('the check finds chunks that overlap, and entries that are no address', async (context) => {
  const found = await findings(context, (tx) => {
    const row = tx.get<{ entries: Uint8Array }>('SELECT entries FROM maps');
    const entries = new Float64Array(row?.entries.slice().buffer ?? new ArrayBuffer());
    entries[3] = (entries[2] ?? 0) - 1 - 16;
    entries[4] = 12345;
    tx.run('UPDATE maps SET entries = ?', new Uint8Array(entries.buffer));
  });
  assert.match(found.join('\n'), /overlaps another\nentry 12345 of a map is no address/);
});
