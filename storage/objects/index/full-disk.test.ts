import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { fillDisk, smallFileSystem } from '../../../testing/folders.ts';
import { Reserve } from '../../../kernel/store/reserve.ts';
import { ObjectError } from '../errors.ts';
import { checkIndex } from './check.ts';
import { ACCOUNT, AT, stagedBlob } from './testing/fixture.ts';
import { IndexWriter } from './writer.ts';

const DISK_MB = 64;
const FIRST = 60;

/** An index on a disk of its own that is full to the last block. */
async function fullIndex(t: TestContext, withReserve: boolean) {
  const folder = smallFileSystem(t, DISK_MB);
  if (folder === undefined) {
    t.skip('only root may mount a small file system');
    return undefined;
  }
  const reserve = new Reserve(join(folder, 'index.db-reserve'));
  assert.ok(await reserve.fill());
  const writer = new IndexWriter(join(folder, 'index.db'), withReserve ? reserve : undefined);
  const wanted = { account: ACCOUNT, name: 'bucket', policy: 0, lockable: false, settings: {}, at: AT };
  const { id: bucket } = await writer.commit('createBucket', wanted);
  const put = (key: string) =>
    writer.commit('putObject', {
      bucket,
      key,
      content: { kind: 'staged', blobs: [stagedBlob(1000)] },
      size: 1000,
      etag: '0'.repeat(32),
      owner: 'b'.repeat(32),
      attributes: {},
      at: AT,
    });
  const remove = (key: string) => writer.commit('deleteObject', { bucket, key, at: AT });
  for (let at = 0; at < FIRST; at += 1) await put(`first-${at}`);
  const filler = join(folder, 'filler');
  fillDisk(filler);
  const isFull = (error: unknown) => error instanceof ObjectError && error.code === 'no-space';
  let more = 0;
  while (
    await put(`more-${more}`).then(
      () => true,
      (error: unknown) => !isFull(error),
    )
  )
    more += 1;
  return { writer, bucket, put, remove, reserve, filler, more, isFull };
}

test('without a reserve not even a deletion fits on a full disk', async (t) => {
  const index = await fullIndex(t, false);
  if (!index) return;
  await assert.rejects(async () => {
    for (let at = 0; at < FIRST; at += 1) await index.remove(`first-${at}`);
  }, index.isFull);
  await index.writer.close();
});

test('deletions get the room of the reserve, and others none, until there is room again', async (t) => {
  const index = await fullIndex(t, true);
  if (!index) return;
  const { writer, bucket, put, remove, reserve, filler, more, isFull } = index;
  for (let at = 0; at < FIRST; at += 1) {
    await remove(`first-${at}`);
    // Other writers to this disk take the space that is left.
    if (at % 10 === 0) fillDisk(filler);
  }
  assert.ok(reserve.isReleased);
  await assert.rejects(put('refused'), isFull);
  assert.equal(writer.reader.bucketById(bucket)?.objects, more);
  rmSync(filler);
  assert.ok(await reserve.fill());
  await put('again');
  assert.equal(writer.reader.bucketById(bucket)?.objects, more + 1);
  assert.deepEqual(checkIndex(writer.reader.db), []);
  await writer.close();
});
