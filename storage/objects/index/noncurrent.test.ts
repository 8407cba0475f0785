import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { ACCOUNT, AT, IndexFixture } from './testing/fixture.ts';

/** `noncurrent` of a bucket says how many of its objects something newer hides: containers are counted without them. */

test('objects that something newer hides are counted as they come, go and return', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const { commit, reader } = index.writer;
  const counted = () => {
    const { objects = 0, noncurrent = 0 } = reader.bucket(ACCOUNT, 'bucket') ?? {};
    return [objects, noncurrent];
  };
  await index.put(bucket, 'key');
  await index.put(bucket, 'key');
  assert.deepEqual(counted(), [1, 0], 'without versions nothing is hidden');
  await commit('changeBucket', { bucket: bucket.id, versioning: 'enabled', at: AT });
  const second = await index.put(bucket, 'key');
  assert.deepEqual(counted(), [2, 1]);
  const { marker } = await commit('deleteObject', { bucket: bucket.id, key: 'key', at: AT });
  assert.deepEqual(counted(), [2, 2], 'a marker hides, and is none itself');
  await commit('deleteObject', { bucket: bucket.id, key: 'key', versionId: marker?.versionId ?? '', at: AT });
  assert.deepEqual(counted(), [2, 1]);
  await commit('deleteObject', { bucket: bucket.id, key: 'key', versionId: second.versionId, at: AT });
  assert.deepEqual(counted(), [1, 0], 'the older one is current again');
});

test('an index of before counts them when it is opened', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  await index.writer.commit('changeBucket', { bucket: bucket.id, versioning: 'enabled', at: AT });
  for (const key of ['a', 'a', 'a', 'b']) await index.put(bucket, key);
  await index.writer.commit('deleteObject', { bucket: bucket.id, key: 'b', at: AT });
  await index.writer.close();
  const old = new DatabaseSync(index.file);
  old.exec(
    "ALTER TABLE parts DROP COLUMN start; ALTER TABLE buckets DROP COLUMN noncurrent; DROP TABLE notifications; UPDATE schema_versions SET version = 2 WHERE component = 'index'",
  );
  old.close();
  index.open();
  const { objects, noncurrent } = index.writer.reader.bucket(ACCOUNT, 'bucket') ?? {};
  assert.deepEqual([objects, noncurrent], [4, 3]);
});
