import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Bucket } from '../records.ts';
import { IndexReader } from './reader.ts';
import { ACCOUNT, AT, IndexFixture } from './testing/fixture.ts';

const NAMES = ['one', 'two', 'three'];

function shown(bucket: Bucket | undefined) {
  if (!bucket) return undefined;
  const { id, account, name, policy, createdAt, versioning, lockable, settings, objects, bytes } = bucket;
  return { id, account, name, policy, createdAt, versioning, lockable, settings, objects, bytes };
}

const story = fc.array(
  fc.record({
    name: fc.constantFrom(...NAMES),
    step: fc.constantFrom('create', 'close', 'version', 'put', 'delete', 'purge'),
  }),
  { minLength: 1, maxLength: 25 },
);

test('a reader that remembers buckets shows what one shows that does not, after every change', async () => {
  await fc.assert(
    fc.asyncProperty(story, async (steps) => {
      await using index = new IndexFixture();
      const { writer } = index;
      const reader = new IndexReader(index.file, writer.bucketEpoch);
      const plain = new IndexReader(index.file);
      try {
        for (const { name, step } of steps) {
          const bucket = plain.bucket(ACCOUNT, name);
          if (step === 'create' && !bucket) await index.bucket(name);
          if (step === 'purge') await writer.commit('purgeAccount', { account: ACCOUNT, limit: 100, at: AT });
          if (bucket && step === 'put') await index.put(bucket, 'key');
          if (bucket && step === 'close') {
            const settings = { acl: bucket.settings.acl === undefined ? ('public-read' as const) : undefined };
            await writer.commit('changeBucket', { bucket: bucket.id, settings, at: AT });
          }
          if (bucket && step === 'version') {
            await writer.commit('changeBucket', { bucket: bucket.id, versioning: 'enabled', at: AT });
          }
          // One that is not empty stays.
          if (bucket && step === 'delete') {
            await writer.commit('deleteBucket', { bucket: bucket.id, at: AT }).catch(() => undefined);
          }
          for (const each of NAMES) {
            assert.deepEqual(shown(reader.bucket(ACCOUNT, each)), shown(plain.bucket(ACCOUNT, each)));
          }
        }
      } finally {
        reader.close();
        plain.close();
      }
    }),
    { numRuns: 25 },
  );
});

test('a bucket is read once for as long as none changes', async () => {
  await using index = new IndexFixture();
  const reader = new IndexReader(index.file, index.writer.bucketEpoch);
  const made = await index.bucket('one');
  const first = reader.bucket(ACCOUNT, 'one');
  await index.put(made, 'key');
  assert.equal(reader.bucket(ACCOUNT, 'one'), first);
  assert.equal(first?.objects, 1);
  await index.bucket('two');
  assert.notEqual(reader.bucket(ACCOUNT, 'one'), first);
  reader.close();
});
