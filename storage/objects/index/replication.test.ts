import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ReplicationRule } from '../bucket-settings.ts';
import type { Bucket, Replication } from '../records.ts';
import { AT, IndexFixture } from './testing/fixture.ts';

const rule: ReplicationRule = {
  id: 'r',
  enabled: true,
  prefix: 'a',
  destination: 'obsdst-00000001',
  targetBucket: 'copies',
  deletes: true,
};

const due = ({ writer }: IndexFixture): Replication[] => writer.reader.replicationsDue(rule.destination, AT, 100);
const end = (index: IndexFixture, { bucket, key, number }: Replication, status: 'COMPLETED' | 'FAILED' = 'COMPLETED') =>
  index.writer.commit('endReplication', { bucket, key, number, status, at: AT });

async function replicated(index: IndexFixture, more: Partial<ReplicationRule> = {}): Promise<Bucket> {
  return index.bucket('bucket', { settings: { replication: { ...rule, ...more } } });
}

test('what is put under a rule is to be passed on, in the same change, and survives a stop', async () => {
  await using index = new IndexFixture();
  const bucket = await replicated(index);
  const { sequence } = await index.put(bucket, 'a1');
  await index.put(bucket, 'b1');
  await index.put(bucket, 'a2', { attributes: { replication: 'REPLICA' } });
  await index.reopen();
  const [change, ...rest] = due(index);
  assert.deepEqual(
    [change?.key, change?.sequence, change?.target, change?.attempts, rest.length],
    ['a1', sequence, 'copies', 0, 0],
  );
  const status = (key: string) => index.writer.reader.version(bucket.id, key)?.attributes.replication;
  assert.deepEqual(['a1', 'b1', 'a2'].map(status), ['PENDING', undefined, 'REPLICA']);
  await end(index, change!);
  assert.equal(status('a1'), 'COMPLETED');
  assert.deepEqual([due(index), index.writer.reader.replicationDestinations()], [[], []]);
});

test('a refused change leaves nothing to pass on', async () => {
  await using index = new IndexFixture();
  const bucket = await replicated(index);
  await assert.rejects(index.put(bucket, 'a', { conditions: { ifMatch: 'x' } }), { code: 'no-such-key' });
  assert.deepEqual(due(index), []);
});

test('of one key only the oldest change is due, and without versions only the last state waits behind it', async () => {
  await using index = new IndexFixture();
  const bucket = await replicated(index);
  const versions = [];
  for (let count = 0; count < 5; count++) versions.push(await index.put(bucket, 'a'));
  const [first, ...others] = due(index);
  assert.deepEqual([first?.sequence, others.length], [versions[0]?.sequence, 0]);
  await end(index, first!);
  const [second] = due(index);
  assert.equal(second?.sequence, versions[4]?.sequence);
  await index.writer.commit('deleteObject', { bucket: bucket.id, key: 'a', at: AT });
  await end(index, second!);
  const [third] = due(index);
  assert.equal(third?.sequence, null);
  await end(index, third);
  assert.deepEqual(due(index), []);
});

test('with versions all of them are passed on, deletions by id are not', async () => {
  await using index = new IndexFixture();
  const bucket = await replicated(index);
  await index.writer.commit('changeBucket', { bucket: bucket.id, versioning: 'enabled', at: AT });
  const versions = [await index.put(bucket, 'a'), await index.put(bucket, 'a')];
  const { versionId } = versions[0]!;
  await index.writer.commit('deleteObject', { bucket: bucket.id, key: 'a', versionId, at: AT });
  await index.writer.commit('deleteObject', { bucket: bucket.id, key: 'a', at: AT });
  await index.writer.commit('deleteObject', { bucket: bucket.id, key: 'a', unreplicated: true, at: AT });
  const seen = [];
  for (let [change] = due(index); change; [change] = due(index)) {
    seen.push(change.sequence);
    await end(index, change);
  }
  assert.deepEqual(seen, [versions[0]?.sequence, versions[1]?.sequence, null]);
  assert.equal(index.writer.reader.versionAt(bucket.id, 'a', versions[0]!.sequence), undefined);
  assert.equal(
    index.writer.reader.versionAt(bucket.id, 'a', versions[1]!.sequence)?.attributes.replication,
    'COMPLETED',
  );
});

test('a change that failed is due later and counts its tries', async () => {
  await using index = new IndexFixture();
  const bucket = await replicated(index);
  await index.put(bucket, 'a');
  const [change] = due(index);
  const { key, number } = change!;
  await index.writer.commit('setReplicationUpload', { bucket: bucket.id, key, number, upload: 'u1' });
  await index.writer.commit('postponeReplication', { bucket: bucket.id, key, number, until: AT + 5 });
  assert.deepEqual(due(index), []);
  const [later] = index.writer.reader.replicationsDue(rule.destination, AT + 5, 10);
  assert.deepEqual([later?.attempts, later?.upload], [1, 'u1']);
});

test('an object whose description changes is passed on again, also while it is on its way', async () => {
  await using index = new IndexFixture();
  const bucket = await replicated(index);
  const { sequence } = await index.put(bucket, 'a');
  const [first] = due(index);
  const change = (attributes: object) =>
    index.writer.commit('changeVersion', { bucket: bucket.id, key: 'a', attributes, at: AT });
  await change({ tags: { a: '1' }, replication: 'COMPLETED' });
  await end(index, first!);
  assert.equal(index.writer.reader.version(bucket.id, 'a')?.attributes.replication, 'PENDING');
  const [second] = due(index);
  assert.equal(second?.sequence, sequence);
  await end(index, second);
  assert.equal(index.writer.reader.version(bucket.id, 'a')?.attributes.replication, 'COMPLETED');
  await change({ tags: { a: '1' }, acl: 'public-read' });
  assert.deepEqual(due(index), [], 'access lists are not replicated');
  assert.equal(index.writer.reader.version(bucket.id, 'a')?.attributes.replication, 'COMPLETED');
});

test('an object whose copy would look the same is not passed on again, whatever it is described by', async () => {
  await using index = new IndexFixture();
  const bucket = await replicated(index);
  const attributes = { metadata: { a: '0' }, headers: { expires: '0' } };
  await index.put(bucket, 'a', { attributes });
  await end(index, due(index)[0]!);
  const change = (acl: string, a: string) =>
    index.writer.commit('changeVersion', {
      bucket: bucket.id,
      key: 'a',
      attributes: { ...attributes, metadata: { a }, acl },
      at: AT,
    });
  await change('public-read', '0');
  assert.deepEqual(due(index), []);
  await change('public-read', '1');
  assert.equal(due(index).length, 1);
});

test('buckets are found by where they are replicated to, and by whether they have lifecycle rules', async () => {
  await using index = new IndexFixture();
  const { reader } = index.writer;
  await replicated(index);
  await index.bucket('other', { settings: { replication: { ...rule, destination: 'obsdst-00000002' } } });
  await index.bucket('plain');
  const aging = await index.bucket('aging', { settings: { lifecycle: [{ id: 'l', enabled: true, prefix: '' }] } });
  assert.deepEqual(
    reader.replicatedBuckets().map(({ destination, buckets }) => [destination, buckets]),
    [
      ['obsdst-00000001', 1],
      ['obsdst-00000002', 1],
    ],
  );
  assert.deepEqual(
    reader.bucketsAging(0, 10).map(({ id }) => id),
    [aging.id],
  );
  await index.writer.commit('changeBucket', { bucket: aging.id, settings: { lifecycle: undefined }, at: AT });
  assert.deepEqual(reader.bucketsAging(0, 10), []);
});
