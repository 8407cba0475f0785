import assert from 'node:assert/strict';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { Rig, TWO_COPIES } from '../testing/rig.ts';
import { checkObjects } from './check.ts';

/** What the check says of a store that was changed behind its back. */
async function kindsAfter(change: (rig: Rig) => Promise<void> | void): Promise<string[]> {
  const rig = await Rig.make(TWO_COPIES, 2);
  try {
    await rig.putMany(20);
    await rig.put('empty', Buffer.alloc(0));
    await rig.delete('key-3');
    await rig.stop();
    await change(rig);
    const { problems } = await checkObjects(rig.indexFile);
    return [...new Set(problems.map(({ kind }) => kind))].toSorted();
  } finally {
    await rig.remove();
  }
}

function sql(text: string): (rig: Rig) => void {
  return (rig) => {
    const db = new DatabaseSync(rig.indexFile);
    db.exec(text);
    db.close();
  };
}

test('a sound store has no problems, and its dead bytes are counted', async () => {
  const rig = await Rig.make(TWO_COPIES, 2);
  try {
    await rig.putMany(20);
    await rig.delete('key-3');
    await rig.stop();
    const report = await checkObjects(rig.indexFile);
    assert.deepEqual(report.problems, []);
    assert.deepEqual(report.pieces, { blobs: 19, pieces: 38, missing: 0, damaged: 0 });
    assert.ok(report.deadBytes > 0 && report.liveBytes > report.deadBytes);
    assert.ok(report.drives.every(({ isThere }) => isThere));
  } finally {
    await rig.remove();
  }
});

test('a counter of a bucket that is off is found', async () => {
  assert.deepEqual(await kindsAfter(sql('UPDATE buckets SET objects = objects + 1')), ['index']);
  assert.deepEqual(await kindsAfter(sql('UPDATE usage SET bytes = bytes + 1')), ['index']);
});

test('references that do not match are found', async () => {
  assert.deepEqual(await kindsAfter(sql('UPDATE blobs SET refs = 2')), ['index']);
  const gone = 'DELETE FROM blobs WHERE id = (SELECT id FROM blobs ORDER BY id LIMIT 1)';
  assert.deepEqual(await kindsAfter(sql(gone)), ['content', 'index']);
  assert.deepEqual(await kindsAfter(sql('INSERT INTO manifests (refs) VALUES (1)')), ['index']);
});

test('an object of another size than its bytes is found', async () => {
  const longer = "UPDATE objects SET size = size + 1 WHERE key = 'key-5'";
  assert.ok((await kindsAfter(sql(longer))).includes('content'));
});

test('live bytes of a segment that are off are found', async () => {
  assert.deepEqual(await kindsAfter(sql('UPDATE segments SET live = live + 64')), ['index']);
});

test('a damaged piece is found', async () => {
  const damage = async (rig: Rig, count: number): Promise<void> => {
    for (const { folder } of rig.drives.slice(0, count)) {
      for (const name of await readdir(join(folder, 'segments'))) {
        const file = await open(join(folder, 'segments', name), 'r+');
        await file.write(Buffer.from('damage'), 0, 6, 10);
        await file.close();
      }
    }
  };
  assert.deepEqual(await kindsAfter((rig) => damage(rig, 1)), ['piece']);
  assert.ok((await kindsAfter((rig) => damage(rig, 2))).includes('piece'));
});

test('a missing piece in a partition that is not marked is found', async () => {
  const swapped = (rig: Rig): void => {
    const db = new DatabaseSync(rig.indexFile);
    const ring = Uint8Array.from((db.prepare('SELECT drives FROM rings').get() as { drives: Uint8Array }).drives);
    new Uint32Array(ring.buffer).fill(7);
    db.prepare('UPDATE rings SET drives = ?').run(ring);
    db.close();
  };
  assert.deepEqual(await kindsAfter(swapped), ['unmarked']);
});
