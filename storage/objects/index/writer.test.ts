import assert from 'node:assert/strict';
import fs from 'node:fs';
import { test } from 'node:test';
import { turns } from '../../../testing/turns.ts';
import { ObjectError, type ObjectErrorCode } from '../errors.ts';
import type { Layout } from '../layout/layout.ts';
import { checkIndex } from './check.ts';
import { hasGarbage } from './operations/purge.ts';
import { IndexReader } from './reader.ts';
import { ACCOUNT, AT, IndexFixture, stagedBlob } from './testing/fixture.ts';

const DAY_MS = 86_400_000;
const MIB = 2 ** 20;

function refused(code: ObjectErrorCode): (error: unknown) => boolean {
  return (error) => error instanceof ObjectError && error.code === code;
}

async function swept(reader: IndexReader): Promise<void> {
  while (hasGarbage(reader.db)) await turns(3);
}

test('a change that is refused takes none of those that wait with it along', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const results = await Promise.allSettled([
    index.put(bucket, 'a'),
    index.put({ ...bucket, id: 99 }, 'b'),
    index.put(bucket, 'c'),
    index.writer.change((db) => {
      db.run("INSERT INTO counters VALUES ('half', 1)");
      throw new Error('on second thoughts');
    }),
    index.put(bucket, 'a', { conditions: { ifNoneMatch: '*' } }),
    index.put(bucket, 'd'),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'rejected', 'rejected', 'fulfilled'],
  );
  const { reader } = index.writer;
  assert.equal(reader.bucketById(bucket.id)?.objects, 3);
  assert.equal(reader.usage(ACCOUNT).bytes, 3000);
  assert.equal(reader.db.get("SELECT 1 FROM counters WHERE name = 'half'"), undefined);
  assert.deepEqual(checkIndex(reader.db), []);
});

test('plain changes that are refused take none of those along that they were done with', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const { commit, reader } = index.writer;
  const create = { account: ACCOUNT, policy: 0, lockable: false, settings: {}, at: AT };
  for (let round = 1; round <= 40; round += 1) {
    const results = await Promise.allSettled([
      index.put(bucket, `a${round}`),
      commit('createBucket', { ...create, name: `made-${round}` }),
      index.put({ ...bucket, id: 9999 }, 'nowhere'),
      commit('changeBucket', { bucket: bucket.id, settings: { acl: 'public-read' }, at: AT }),
      index.put(bucket, `a${round}`, { conditions: { ifNoneMatch: '*' } }),
      commit('createBucket', { ...create, name: `made-${round}` }),
      index.put(bucket, `b${round}`),
    ]);
    const states = results.map(({ status }) => (status === 'fulfilled' ? 'done' : 'refused'));
    assert.deepEqual(states, ['done', 'done', 'refused', 'done', 'refused', 'refused', 'done']);
    const [, , , changed] = results;
    assert.equal(changed.status === 'fulfilled' && (changed.value as { objects: number }).objects, 2 * round - 1);
    // The next ones are done together again.
    for (let quiet = 0; quiet < 20; quiet += 1) await index.put(bucket, 'quiet');
    await commit('deleteObject', { bucket: bucket.id, key: 'quiet', at: AT });
  }
  assert.equal(reader.bucketById(bucket.id)?.objects, 80);
  assert.deepEqual(checkIndex(reader.db), []);
  const { sequence } = await index.put(bucket, 'last');
  await index.reopen();
  const again = await index.put(bucket, 'last');
  assert.ok(again.sequence > sequence);
  assert.deepEqual(checkIndex(index.writer.reader.db), []);
});

test('another connection sees a change as soon as it is acknowledged', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const reader = new IndexReader(index.file);
  for (let round = 0; round < 20; round += 1) {
    const { sequence } = await index.put(bucket, 'key');
    assert.equal(reader.version(bucket.id, 'key')?.sequence, sequence);
  }
  reader.close();
});

test('sequences go on after a restart, also when what had the last one is gone', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const { sequence } = await index.put(bucket, 'key');
  await index.writer.commit('deleteObject', { bucket: bucket.id, key: 'key', at: AT });
  await index.reopen();
  const again = await index.put(bucket, 'key');
  assert.ok(again.sequence > sequence);
});

test('a bucket that changes shows its present counters', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const { commit } = index.writer;
  const [, changed] = await Promise.all([
    index.put(bucket, 'a'),
    commit('changeBucket', { bucket: bucket.id, settings: { acl: 'public-read' }, at: AT }),
  ]);
  assert.deepEqual({ objects: changed.objects, bytes: changed.bytes }, { objects: 1, bytes: 1000 });
  const removed = await commit('changeBucket', { bucket: bucket.id, settings: { acl: undefined }, at: AT });
  assert.deepEqual(removed.settings, {});
});

test('names are taken per account; only an empty bucket goes, unfinished uploads only by force', async () => {
  await using index = new IndexFixture();
  const { commit, reader } = index.writer;
  const bucket = await index.bucket();
  await assert.rejects(index.bucket(), refused('bucket-exists'));
  const other = await index.bucket('bucket', { account: 'b'.repeat(32) });
  assert.deepEqual(
    reader.bucketsNamed('bucket').map(({ id }) => id),
    [bucket.id, other.id],
  );
  await index.put(bucket, 'key');
  const drop = { bucket: bucket.id, at: AT };
  await assert.rejects(commit('deleteBucket', drop), refused('bucket-not-empty'));
  await commit('deleteObject', { bucket: bucket.id, key: 'key', at: AT });
  const upload = await startUpload(index, bucket.id);
  await putPart(index, bucket.id, upload, 1, 10);
  await assert.rejects(commit('deleteBucket', drop), refused('bucket-not-empty'));
  await commit('deleteBucket', { ...drop, force: true });
  await swept(reader);
  assert.equal(reader.bucketById(bucket.id), undefined);
  assert.equal(reader.db.get('SELECT 1 FROM blobs'), undefined);
  assert.deepEqual(checkIndex(reader.db), []);
});

function startUpload(index: IndexFixture, bucket: number): Promise<string> {
  const wanted = { bucket, key: 'big', owner: 'b'.repeat(32), attributes: { contentType: 'x/y' } };
  const rest = { retention: null, legalHold: false, checksumAlgorithm: null, checksumType: null, at: AT };
  return index.writer.commit('createUpload', { ...wanted, ...rest }).then(({ id }) => id);
}

function putPart(index: IndexFixture, bucket: number, upload: string, number: number, size: number): Promise<unknown> {
  const content = { kind: 'staged', blobs: [stagedBlob(size)] } as const;
  const etag = String(number).repeat(32).slice(0, 32);
  return index.writer.commit('putPart', {
    upload,
    bucket,
    key: 'big',
    number,
    content,
    size,
    etag,
    checksum: null,
    at: AT,
  });
}

test('a completion that is asked for again gives the same version, for an hour', async () => {
  await using index = new IndexFixture();
  const { commit, reader } = index.writer;
  const bucket = await index.bucket();
  const upload = await startUpload(index, bucket.id);
  await putPart(index, bucket.id, upload, 1, 5 * MIB);
  await putPart(index, bucket.id, upload, 2, 10);
  await putPart(index, bucket.id, upload, 3, 10);
  const parts = [1, 2].map((number) => ({ number, etag: String(number).repeat(32) }));
  const args = { upload, bucket: bucket.id, key: 'big', parts, checksum: null, at: AT };
  const version = await commit('completeUpload', args);
  assert.equal(version.etag, 'b4ab393b73e0e71830bf2bf0e63c4d91-2');
  assert.deepEqual(version.attributes, { contentType: 'x/y', partSizes: [5 * MIB, 10] });
  assert.equal((await commit('completeUpload', args)).sequence, version.sequence);
  const late = { ...args, at: AT + 2 * 3_600_000 };
  await assert.rejects(commit('completeUpload', late), refused('no-such-upload'));
  await swept(reader);
  assert.equal(reader.db.get<{ n: number }>('SELECT count(*) AS n FROM blobs')?.n, 2, 'the part not named is freed');
  assert.deepEqual(reader.version(bucket.id, 'big')?.attributes.partSizes, [5 * MIB, 10]);
  const [listed] = reader.list(bucket.id, { prefix: '', delimiter: null, after: null, limit: 1 }).objects;
  assert.deepEqual(listed?.attributes, { contentType: 'x/y' });
});

test('bytes of another policy are not shared', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const other = await index.bucket('other', { policy: 1 });
  const { sequence } = await index.put(bucket, 'key');
  const content = { kind: 'copy', of: { bucket: bucket.id, key: 'key', sequence } } as const;
  await assert.rejects(index.put(other, 'copy', { content }), refused('moved'));
  await index.put(bucket, 'copy', { content });
  assert.deepEqual(checkIndex(index.writer.reader.db), []);
});

test('a piece moves only from where it is, and live bytes move with it', async () => {
  await using index = new IndexFixture();
  const { commit, reader } = index.writer;
  const bucket = await index.bucket();
  const blob = stagedBlob(1000, [{ drive: 1, segment: 5, offset: 64 }, null]);
  await index.put(bucket, 'key', { content: { kind: 'staged', blobs: [blob] } });
  const to = { drive: 3, segment: 2, offset: 0 };
  const move = { blob, slot: 0, from: { drive: 1, segment: 5, offset: 64 }, to, pieceBytes: 1100 };
  assert.equal(await commit('relocate', move), true);
  assert.equal(await commit('relocate', move), false, 'it is there no more');
  assert.equal(await commit('relocate', { ...move, slot: 1, from: null }), true);
  assert.equal(reader.liveBytes(1, 5), 0);
  assert.equal(reader.liveBytes(3, 2), 2200);
  assert.deepEqual(reader.blob(blob.partition, blob.id)?.places, [to, to]);
  await commit('deleteObject', { bucket: bucket.id, key: 'key', at: AT });
  assert.equal(reader.liveBytes(3, 2), 0);
  assert.equal(await commit('relocate', { ...move, from: to }), false, 'the blob is gone');
});

test('a blob that lacks a piece, or has one where the ring does not want it, marks its partition', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const { writer } = index;
  const marked = (): number[] =>
    writer.reader.db.all<{ partition: number }>('SELECT partition FROM partitions').map(({ partition }) => partition);
  const on = (drive: number) => ({ drive, segment: 1, offset: 0 });
  const put = (blob: ReturnType<typeof stagedBlob>) =>
    index.put(bucket, 'key', { content: { kind: 'staged', blobs: [blob] } });
  await put(stagedBlob(1000, [on(1), on(2)], 3));
  assert.deepEqual(marked(), []);
  await put(stagedBlob(1000, [on(1), null], 4));
  assert.deepEqual(marked(), [4]);
  const policy = { index: 0, name: 'p', copies: 2, dataFragments: 0, parityFragments: 0 };
  const drives = Uint32Array.from({ length: 16 }, (_, at) => 1 + (at % 2));
  const rings = [{ policy, version: 1, partitions: 8, slots: 2, drives }];
  writer.useLayout({
    version: 1,
    drives: [],
    rings,
    defaultPolicy: 0,
    encryption: { writeKey: 0, keys: [] },
  } satisfies Layout);
  await put(stagedBlob(1000, [on(1), on(2)], 5));
  await put(stagedBlob(1000, [on(1), on(9)], 6));
  assert.deepEqual(marked(), [4, 6]);
});

test('what is on a drive that has left by the drive catalogue is not there, whatever the ring says', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const { writer } = index;
  const on = (drive: number) => ({ drive, segment: 1, offset: 0 });
  const put = (blob: ReturnType<typeof stagedBlob>) =>
    index.put(bucket, 'key', { content: { kind: 'staged', blobs: [blob] } });
  const policy = { index: 0, name: 'p', copies: 2, dataFragments: 0, parityFragments: 0 };
  const drives = Uint32Array.from({ length: 16 }, (_, at) => 1 + (at % 2));
  const rings = [{ policy, version: 1, partitions: 8, slots: 2, drives }];
  const layout = { version: 1, drives: [], rings, defaultPolicy: 0, encryption: { writeKey: 0, keys: [] } };
  await writer.change((db) => {
    db.run('CREATE TABLE gone (drive INTEGER)');
  });
  writer.useLayout(layout, (db, drive) => db.get('SELECT 1 FROM gone WHERE drive = ?', drive) === undefined);
  const leave = (drive: number) => writer.change((db) => db.run('INSERT INTO gone VALUES (?)', drive));
  const onOne = stagedBlob(1000, [on(1), on(2)], 3);
  const onNone = stagedBlob(1000, [on(1), on(2)], 4);
  await put(stagedBlob(1000, [on(1), on(2)], 2));
  // Each change is judged by those that stand before it, in the same transaction, too.
  await Promise.all([leave(1), put(onOne)]);
  assert.deepEqual(writer.reader.blob(onOne.partition, onOne.id)?.places, [null, on(2)]);
  await Promise.all([leave(2), assert.rejects(put(onNone), { code: 'no-quorum' })]);
  assert.equal(writer.reader.blob(onNone.partition, onNone.id), undefined);
});

test('an account is purged in steps, locks or not, and its bill stays', async () => {
  await using index = new IndexFixture();
  const { commit, reader } = index.writer;
  const lockDefault = { mode: 'COMPLIANCE', days: 10 } as const;
  const bucket = await index.bucket('locked', { lockable: true, settings: { lockDefault } });
  await Promise.all(Array.from({ length: 12 }, (_, at) => index.put(bucket, `key ${at % 5}`)));
  const upload = await startUpload(index, bucket.id);
  await putPart(index, bucket.id, upload, 1, 10);
  await index.bucket('empty');
  const later = AT + DAY_MS;
  let steps = 0;
  for (let done = false; !done; steps += 1) {
    const result = await commit('purgeAccount', { account: ACCOUNT, limit: 5, at: later });
    assert.ok(result.removed <= 5);
    ({ done } = result);
  }
  assert.equal(steps, 3);
  await swept(reader);
  assert.equal(reader.db.get('SELECT 1 FROM blobs'), undefined);
  assert.deepEqual(checkIndex(reader.db), []);
  assert.deepEqual(reader.usage(ACCOUNT).bytes, 0);
  const [stored] = reader.storedOver(ACCOUNT, AT, AT + 10 * DAY_MS);
  assert.equal(stored?.byteMilliseconds, BigInt(12_000) * BigInt(DAY_MS));
});

test('the integral of stored bytes is exact beyond what a double can hold', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const size = 2 ** 50 + 1;
  await index.put(bucket, 'huge', { content: { kind: 'staged', blobs: [stagedBlob(size)] }, size, at: AT + 1 });
  await index.put(bucket, 'more', { content: { kind: 'empty' }, size: 0, at: AT + 40 * DAY_MS + 3 });
  const { reader } = index.writer;
  const area = (from: number, to: number) => reader.storedOver(ACCOUNT, AT + from, AT + to)[0]?.byteMilliseconds;
  assert.equal(area(0, DAY_MS), BigInt(size) * BigInt(DAY_MS - 1));
  assert.equal(area(DAY_MS, 31 * DAY_MS), BigInt(size) * BigInt(30 * DAY_MS));
  assert.equal(area(0, 50 * DAY_MS), BigInt(size) * BigInt(50 * DAY_MS - 1));
  assert.deepEqual(reader.storedOver(ACCOUNT, AT - 2 * DAY_MS, AT - DAY_MS), [], 'nothing was there yet');
});

test('what has expired is found, the longest past first', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  await index.put(bucket, 'late', { expiresAt: AT + 2000 });
  await index.put(bucket, 'early', { expiresAt: AT + 1000 });
  await index.put(bucket, 'never');
  const { reader, commit } = index.writer;
  assert.deepEqual(reader.expired(AT + 999, 10), []);
  const [early, late] = reader.expired(AT + 5000, 10);
  assert.deepEqual([early?.key, late?.key], ['early', 'late']);
  await index.put(bucket, 'early');
  const conditions = { ifSequence: early?.sequence ?? 0 };
  await assert.rejects(
    commit('deleteObject', { bucket: bucket.id, key: 'early', conditions, at: AT + 6000 }),
    refused('precondition-failed'),
    'it was put anew since',
  );
});

test('after a sync that failed nothing is said to be kept', async (t) => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const broken = t.mock.method(fs, 'fdatasync', (_fd: number, done: (error: Error) => void) => {
    done(Object.assign(new Error('the disk is broken'), { code: 'EIO' }));
  });
  await assert.rejects(index.put(bucket, 'bad'), { code: 'drive-failed' });
  assert.equal(broken.mock.callCount(), 1);
  broken.mock.restore();
  await assert.rejects(index.put(bucket, 'worse'), { code: 'drive-failed' });
});

test('a refused change that reads counters takes none of the counts before it along', async () => {
  await using index = new IndexFixture();
  const bucket = await index.bucket();
  const outcomes = await Promise.allSettled([
    index.put(bucket, 'a'),
    index.writer.commit('changeBucket', { bucket: 99, settings: {}, at: AT }),
    index.writer.change(() => {
      throw new Error('on second thoughts');
    }),
  ]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  assert.equal(index.writer.reader.bucketById(bucket.id)?.objects, 1);
  assert.deepEqual(checkIndex(index.writer.reader.db), []);
});
