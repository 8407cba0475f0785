import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { ObjectError, type Arguments, type Bucket, type ObjectErrorCode } from '@granary/storage/object-store';
import { S3Client, expect } from '../../../protocols/s3/testing/client.ts';
import type { Activity } from '../activity.ts';
import type { ObjectEngine } from '../engine.ts';

const ACCOUNT = 'a'.repeat(32);
const OWNER = 'c'.repeat(32);
const DAY_MS = 86_400_000;
/** Midnight, UTC. */
const TODAY = 20_000 * DAY_MS;

/** A running engine with nothing in it, that serves one account by one key. */
export interface EngineUnderTest {
  readonly engine: ObjectEngine;
  /** Signed by the key that the directory knows. */
  readonly s3: S3Client;
  readonly reported: readonly Activity[];
}

type Open = (t: TestContext, account: string) => Promise<EngineUnderTest>;
type Define = (title: string, run: (scene: EngineScene) => Promise<void>) => void;

/** What every engine has to do. A new engine passes all of it before an array runs on it. */
export function testObjectEngine(name: string, open: Open): void {
  const define: Define = (title, run) => {
    test(`${name}: ${title}`, async (t) => run(new EngineScene(await open(t, ACCOUNT))));
  };
  testBuckets(define);
  testVersions(define);
  testFigures(define);
  testAgeing(define);
  testReplication(define);
  testServing(define);
}

class EngineScene {
  readonly engine: ObjectEngine;
  readonly s3: S3Client;
  readonly reported: readonly Activity[];

  constructor({ engine, s3, reported }: EngineUnderTest) {
    this.engine = engine;
    this.s3 = s3;
    this.reported = reported;
  }

  bucket(name = 'bucket', more: Partial<Arguments<'createBucket'>> = {}): Promise<Bucket> {
    const fields = { account: ACCOUNT, name, policy: 0, lockable: false, settings: {}, at: TODAY };
    return this.engine.commit('createBucket', { ...fields, ...more });
  }

  /** An object without bytes: those come in over S3. */
  put({ id: bucket }: Bucket, key: string, more: Partial<Arguments<'putObject'>> = {}) {
    const etag = createHash('md5').update(key).digest('hex');
    const fields = { bucket, key, content: { kind: 'empty' as const }, size: 0, etag, owner: OWNER, attributes: {} };
    return this.engine.commit('putObject', { ...fields, at: TODAY, ...more });
  }

  keys({ id }: Bucket): string[] {
    const query = { prefix: '', delimiter: null, after: null, limit: 1000 };
    return this.engine.catalogue.listVersions(id, query).versions.map(({ key }) => key);
  }

  async refused(work: Promise<unknown>, code: ObjectErrorCode): Promise<void> {
    await assert.rejects(work, (error) => error instanceof ObjectError && error.code === code);
  }
}

function testBuckets(define: Define): void {
  define('a bucket name is unique in its account; only an empty bucket is deleted', async (scene) => {
    const bucket = await scene.bucket();
    await scene.refused(scene.bucket(), 'bucket-exists');
    await scene.bucket('bucket', { account: 'b'.repeat(32) });
    await scene.put(bucket, 'key');
    await scene.refused(scene.engine.commit('deleteBucket', { bucket: bucket.id, at: TODAY }), 'bucket-not-empty');
    await scene.engine.commit('deleteObject', { bucket: bucket.id, key: 'key', at: TODAY });
    await scene.engine.commit('deleteBucket', { bucket: bucket.id, at: TODAY });
    assert.equal(scene.engine.catalogue.bucketById(bucket.id), undefined);
    await scene.refused(scene.put(bucket, 'key'), 'no-such-bucket');
  });

  define('settings given replace, settings given as undefined are removed', async (scene) => {
    const { id } = await scene.bucket('bucket', { settings: { acl: 'private', tags: { a: '1' } } });
    await scene.engine.commit('changeBucket', { bucket: id, settings: { acl: 'public-read', tags: undefined }, at: 0 });
    const { settings } = scene.engine.catalogue.bucketById(id) ?? {};
    assert.equal(settings?.acl, 'public-read');
    assert.equal(settings.tags, undefined);
  });
}

function testVersions(define: Define): void {
  define('versions are listed newest first, and a deletion adds a marker', async (scene) => {
    const bucket = await scene.bucket();
    await scene.engine.commit('changeBucket', { bucket: bucket.id, versioning: 'enabled', at: TODAY });
    const first = await scene.put(bucket, 'key');
    const second = await scene.put(bucket, 'key');
    assert.ok(second.sequence > first.sequence);
    const { marker, removed } = await scene.engine.commit('deleteObject', { bucket: bucket.id, key: 'key', at: TODAY });
    assert.equal(removed?.versionId, second.versionId);
    const query = { prefix: '', delimiter: null, after: null, limit: 2 };
    const page = scene.engine.catalogue.listVersions(bucket.id, query);
    assert.deepEqual(
      page.versions.map(({ versionId, isLatest, isDeleteMarker }) => [versionId, isLatest, isDeleteMarker]),
      [
        [marker?.versionId, true, true],
        [second.versionId, false, false],
      ],
    );
    const rest = scene.engine.catalogue.listVersions(bucket.id, { ...query, after: page.next });
    assert.deepEqual([rest.versions.map(({ versionId }) => versionId), rest.next], [[first.versionId], null]);
  });

  define('of two writers that expect the same version one wins', async (scene) => {
    const bucket = await scene.bucket();
    const { etag } = await scene.put(bucket, 'key');
    await scene.put(bucket, 'key', { etag: '1'.repeat(32), conditions: { ifMatch: etag } });
    await scene.refused(scene.put(bucket, 'key', { conditions: { ifMatch: etag } }), 'precondition-failed');
    await scene.refused(scene.put(bucket, 'key', { conditions: { ifNoneMatch: '*' } }), 'precondition-failed');
    await scene.refused(scene.put(bucket, 'other', { conditions: { ifMatch: '*' } }), 'no-such-key');
  });

  define('retention and legal hold keep a version', async (scene) => {
    const bucket = await scene.bucket('locked', { lockable: true });
    const retention = { mode: 'COMPLIANCE', until: TODAY + DAY_MS } as const;
    const { versionId } = await scene.put(bucket, 'key', { retention });
    const remove = (at: number) =>
      scene.engine.commit('deleteObject', { bucket: bucket.id, key: 'key', versionId, bypassGovernance: true, at });
    await scene.refused(remove(TODAY), 'object-locked');
    const weaker = { bucket: bucket.id, key: 'key', versionId, retention: null, at: TODAY };
    await scene.refused(scene.engine.commit('changeVersion', weaker), 'object-locked');
    assert.equal((await remove(TODAY + DAY_MS)).removed?.versionId, versionId);
    const open = await scene.bucket('open');
    await scene.refused(scene.put(open, 'key', { legalHold: true }), 'invalid-state');
  });
}

function testFigures(define: Define): void {
  define("an account's figures follow every change, and so do the bytes it stored over time", async (scene) => {
    const { s3, engine } = scene;
    expect(await s3.call('PUT', '/photos'), 200);
    expect(await s3.call('PUT', '/photos/a', { body: 'x'.repeat(1000) }), 200);
    expect(await s3.call('PUT', '/photos/b', { body: 'x'.repeat(500) }), 200);
    expect(await s3.call('DELETE', '/photos/b'), 204);
    const { buckets, objects, bytes, policies } = engine.catalogue.usage(ACCOUNT);
    assert.deepEqual([buckets, objects, bytes], [1, 1, 1000]);
    assert.deepEqual(policies, [{ policy: 0, buckets: 1, objects: 1, bytes: 1000 }]);
    const end = (Math.floor(Date.now() / DAY_MS) + 2) * DAY_MS;
    const [stored] = engine.catalogue.storedOver(ACCOUNT, end - DAY_MS, end);
    assert.equal(stored?.byteMilliseconds, BigInt(1000 * DAY_MS), 'a day from now it is a whole day of 1000 bytes');
    assert.deepEqual(engine.catalogue.usage('b'.repeat(32)).buckets, 0);
  });

  define('an account is purged in steps, locks or not, and its figures go when they are forgotten', async (scene) => {
    const bucket = await scene.bucket('locked', { lockable: true });
    for (const key of ['a', 'b', 'c']) await scene.put(bucket, key, { legalHold: true });
    const purge = () => scene.engine.commit('purgeAccount', { account: ACCOUNT, limit: 2, at: TODAY });
    let removed = 0;
    for (let steps = 0; steps < 10; steps++) {
      const step = await purge();
      assert.ok(step.removed <= 2);
      removed += step.removed;
      if (step.done) break;
    }
    assert.equal(removed, 4, 'three versions and the bucket');
    assert.deepEqual(await purge(), { removed: 0, done: true });
    await scene.engine.commit('dropUsage', { account: ACCOUNT });
    assert.deepEqual(scene.engine.catalogue.storedOver(ACCOUNT, TODAY, TODAY + DAY_MS), []);
  });
}

function testAgeing(define: Define): void {
  define('objects whose time is over and buckets with lifecycle rules are found', async (scene) => {
    const lifecycle = [{ id: 'r', enabled: true, prefix: '', expireDays: 1 }];
    const bucket = await scene.bucket('ageing', { settings: { lifecycle } });
    await scene.bucket('plain');
    await scene.put(bucket, 'late', { expiresAt: TODAY + 2 });
    await scene.put(bucket, 'early', { expiresAt: TODAY + 1 });
    await scene.put(bucket, 'never');
    const due = (now: number) => scene.engine.catalogue.expired(now, 10).map(({ key }) => key);
    assert.deepEqual([due(TODAY), due(TODAY + 2)], [[], ['early', 'late']]);
    const ageing = scene.engine.catalogue.bucketsAging(0, 10);
    assert.deepEqual(
      ageing.map(({ name }) => name),
      ['ageing'],
    );
    assert.deepEqual(scene.engine.catalogue.bucketsAging(bucket.id, 10), []);
  });
}

function testReplication(define: Define): void {
  define('changes of a key wait for their endpoint in the order in which they were made', async (scene) => {
    const replication = { id: 'r', enabled: true, prefix: '', destination: 'there', targetBucket: 't', deletes: true };
    const bucket = await scene.bucket('source', { settings: { replication } });
    await scene.engine.commit('changeBucket', { bucket: bucket.id, versioning: 'enabled', at: TODAY });
    const { sequence } = await scene.put(bucket, 'key');
    await scene.engine.commit('deleteObject', { bucket: bucket.id, key: 'key', at: TODAY });
    const { catalogue } = scene.engine;
    assert.deepEqual(catalogue.replicationDestinations(), ['there']);
    assert.deepEqual(catalogue.replicatedBuckets(), [{ destination: 'there', account: ACCOUNT, buckets: 1 }]);
    const due = (at = TODAY) => catalogue.replicationsDue('there', at, 10);
    const [first, ...others] = due();
    assert.ok(first);
    assert.deepEqual([first.sequence, first.target, others.length], [sequence, 't', 0]);
    const name = { bucket: bucket.id, key: 'key', number: first.number };
    await scene.engine.commit('postponeReplication', { ...name, until: TODAY + 5 });
    assert.deepEqual([due().length, due(TODAY + 5)[0]?.attempts], [0, 1]);
    await scene.engine.commit('endReplication', { ...name, status: 'COMPLETED', at: TODAY });
    assert.deepEqual(
      due().map((change) => change.sequence),
      [null],
      'then the deletion',
    );
  });
}

function testServing(define: Define): void {
  define('objects are written, read, listed and deleted over S3, and every request is reported', async (scene) => {
    const { s3, engine, reported } = scene;
    const large = 'large '.repeat(20_000);
    expect(await s3.call('PUT', '/photos'), 200);
    expect(await s3.call('PUT', '/photos/2026/a', { body: 'small' }), 200);
    expect(await s3.call('PUT', '/photos/2026/b', { body: large }), 200);
    expect(await s3.call('PUT', '/photos/top', { body: '' }), 200);
    assert.equal((await s3.call('GET', '/photos/2026/b')).text, large);
    const part = await s3.call('GET', '/photos/2026/b', { headers: { range: 'bytes=6-10' } });
    assert.deepEqual([part.status, part.text], [206, 'large']);
    const listing = (await s3.call('GET', '/photos', { query: { 'list-type': '2', delimiter: '/' } })).text;
    assert.match(listing, /<Prefix>2026\/<\/Prefix>/);
    assert.match(listing, /<Key>top<\/Key>/);
    expect(await s3.call('DELETE', '/photos/2026/a'), 204);
    expect(await s3.call('GET', '/photos/2026/a'), 404);
    await engine.flush();
    const actions = reported.flatMap(({ requests }) => requests.map(({ action }) => action));
    assert.equal(actions.filter((action) => action === 'PutObject').length, 3);
    const uploaded = reported.flatMap(({ requests }) => requests).reduce((sum, { bytesIn }) => sum + bytesIn, 0);
    assert.ok(uploaded >= large.length + 'small'.length);
  });

  define('a policy is reported with its use and its health', async ({ s3, engine }) => {
    expect(await s3.call('PUT', '/photos'), 200);
    expect(await s3.call('PUT', '/photos/a', { body: 'x'.repeat(5000) }), 200);
    const { policies, defaultPolicy } = engine.report();
    const [policy] = policies;
    assert.ok(policy);
    assert.deepEqual([policy.isUsable, policy.health, policy.policy.index], [true, 'normal', defaultPolicy]);
    assert.ok(policy.usedBytes >= 5000 && policy.capacity > policy.usedBytes);
  });
}
