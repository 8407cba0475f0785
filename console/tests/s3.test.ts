import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { isUnset, mayPass } from '../src/objects/s3/codes.ts';
import { crc32Base64 } from '../src/objects/s3/crc32.ts';
import { completeDocument, deleteDocument, lifecycleDocument, ruleProblem } from '../src/objects/s3/documents.ts';
import { POLICY_EXAMPLES, policyProblem } from '../src/objects/buckets/policy-text.ts';
import { planParts, partBytes, remaining } from '../src/objects/s3/parts.ts';
import { factsOfObject, versionWords } from '../src/objects/s3/object-facts.ts';
import { bucketNameProblem, folderOf, folders, isReachable, objectPath } from '../src/objects/s3/paths.ts';
import {
  corsDocument,
  hooksDocument,
  loggingDocument,
  publicAccessDocument,
  replicationDocument,
  tagsDocument,
  tagsProblem,
} from '../src/objects/s3/settings.ts';
import { ChangedMeanwhile, headersOf, textOf, writeUnchanged, type Stored } from '../src/objects/s3/stored.ts';
import { forget, recall, remember, unfinished, type Keeper } from '../src/objects/s3/resume.ts';

/** Goal: what the bucket browser works out without a browser. */

const MIB = 2 ** 20;
const NO_BLOCK = {
  BlockPublicAcls: false,
  IgnorePublicAcls: false,
  BlockPublicPolicy: false,
  RestrictPublicBuckets: false,
};

test('the parts of a file cover each byte once, and there are never more than 10,000', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 5 * 2 ** 40 }), (size) => {
      const plan = planParts(size);
      assert.ok(plan.length <= 10_000);
      assert.equal(plan[0]?.start, 0);
      assert.equal(plan.at(-1)?.end, size);
      for (const [index, part] of plan.entries()) assert.equal(part.end, plan[index + 1]?.start ?? size);
    }),
    { numRuns: 30 },
  );
  assert.equal(partBytes(200 * MIB), 8 * MIB);
  assert.equal(planParts(200 * MIB).length, 25);
});

test('only stored parts of the planned length need not be sent again', () => {
  const plan = planParts(20 * MIB);
  const stored = [
    { number: 1, etag: 'a', size: 8 * MIB },
    { number: 2, etag: 'b', size: 5 * MIB },
    { number: 9, etag: 'c', size: 8 * MIB },
  ];
  const { todo, done, doneBytes } = remaining(plan, stored);
  assert.deepEqual(
    todo.map(({ number }) => number),
    [2, 3],
  );
  assert.deepEqual(
    done.map(({ etag }) => etag),
    ['a'],
  );
  assert.equal(doneBytes, 8 * MIB);
});

test('an address names the key it was made from, whatever signs are in it', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 40, unit: 'binary' }), (key) => {
      fc.pre(key.isWellFormed() && isReachable(key));
      const url = new URL(objectPath('/via/7', 'album', key, { versionId: 'a b' }), 'http://here');
      const [, way = ''] = /^\/via\/7\/s3\/album\/(.*)$/s.exec(url.pathname) ?? [];
      assert.equal(decodeURIComponent(way), key);
      assert.equal(url.searchParams.get('versionId'), 'a b');
      assert.equal(url.hash, '');
    }),
    { numRuns: 40 },
  );
  assert.equal(objectPath('', 'album', "a+b'/(c)*!?#"), '/s3/album/a%2Bb%27/%28c%29%2A%21%3F%23');
  assert.equal(objectPath('', 'album', undefined, { uploads: '' }), '/s3/album?uploads');
  for (const key of ['a/../b', '..', './a']) assert.throws(() => objectPath('', 'album', key), /cannot name/);
});

test('folders lead to a prefix step by step', () => {
  assert.deepEqual(folders('a/b/'), [
    { name: 'a', prefix: 'a/' },
    { name: 'b', prefix: 'a/b/' },
  ]);
  assert.deepEqual(folders(''), []);
  assert.equal(folderOf('a/b/c.txt'), 'a/b/');
  assert.equal(folderOf('c.txt'), '');
});

test('names of buckets that the service would refuse are refused in words', () => {
  for (const good of ['abc', 'my-bucket.2', '0ab']) assert.equal(bucketNameProblem(good), undefined);
  for (const bad of ['ab', 'Abc', '-abc', 'a..b', '10.0.0.1', 'a'.repeat(64)]) assert.ok(bucketNameProblem(bad));
});

function memory(): Keeper {
  const kept = new Map<string, string>();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => void kept.set(name, value),
    removeItem: (name) => void kept.delete(name),
    key: (index) => [...kept.keys()][index] ?? null,
    get length() {
      return kept.size;
    },
  };
}

test('an upload goes on with the same file only, and at the same place only', () => {
  const keeper = memory();
  const target = { base: '/via/7', person: '1 alice', bucket: 'album', key: 'a/film.mp4' };
  const file = { name: 'film.mp4', size: 200 * MIB, lastModified: 5 };
  remember(keeper, { ...target, uploadId: 'u1', partBytes: 8 * MIB, file, begunAt: 1 });
  assert.equal(recall(keeper, target, file)?.uploadId, 'u1');
  assert.equal(recall(keeper, target, { ...file, size: 1 }), undefined);
  assert.equal(recall(keeper, target, { ...file, lastModified: 6 }), undefined);
  assert.equal(recall(keeper, { ...target, base: '/via/8' }, file), undefined);
  assert.equal(unfinished(keeper, target, 'album').length, 1);
  assert.equal(unfinished(keeper, target, 'other').length, 0);
  forget(keeper, target);
  assert.equal(recall(keeper, target, file), undefined);
});

test('another person at the same browser is not shown what was being sent, and does not go on with it', () => {
  const keeper = memory();
  const target = { base: '/via/7', person: '1 alice', bucket: 'album', key: 'secret plan.pdf' };
  const file = { name: 'secret plan.pdf', size: 200 * MIB, lastModified: 5 };
  remember(keeper, { ...target, uploadId: 'u1', partBytes: 8 * MIB, file, begunAt: 1 });
  for (const person of ['1 bob', '2 alice']) {
    assert.deepEqual(unfinished(keeper, { ...target, person }, 'album'), []);
    assert.equal(recall(keeper, { ...target, person }, file), undefined);
  }
  assert.equal(unfinished(keeper, target, 'album').length, 1);
});

test('a broken record and a browser that keeps nothing do no harm', () => {
  const keeper = memory();
  const target = { base: '', person: '1 alice', bucket: 'album', key: 'x' };
  const file = { name: 'x', size: 1, lastModified: 1 };
  const record = { ...target, uploadId: 'u', partBytes: 1, file, begunAt: 1 };
  remember(keeper, record);
  keeper.setItem(keeper.key(0) ?? '', '{"uploadId":');
  assert.equal(recall(keeper, target, file), undefined);
  remember({ ...keeper, setItem: () => assert.fail('full') }, record);
});

test('checksums are those of the service', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const expected = Buffer.alloc(4);
      expected.writeUInt32BE(crc32(text));
      assert.equal(crc32Base64(text), expected.toString('base64'));
    }),
  );
});

test('documents escape what keys may have, and parts stand in order', () => {
  assert.match(
    deleteDocument([{ key: '<a>&"\n', versionId: 'v' }]),
    /<Key>&lt;a&gt;&amp;&quot;&#10;<\/Key><VersionId>v</,
  );
  assert.match(
    completeDocument([
      { number: 10, etag: 'b' },
      { number: 2, etag: 'a' },
    ]),
    /<PartNumber>2<.*<PartNumber>10</,
  );
});

test('a lifecycle rule that does nothing, or two things that exclude each other, is refused', () => {
  const rule = { id: 'tidy', isOn: true, prefix: 'tmp/' };
  assert.ok(ruleProblem(rule));
  assert.ok(ruleProblem({ ...rule, expireDays: 0 }));
  assert.ok(ruleProblem({ ...rule, expireDays: 1, dropsMarkers: true }));
  assert.equal(ruleProblem({ ...rule, expireDays: 7 }), undefined);
  assert.match(lifecycleDocument([{ ...rule, expireDays: 7, uploadDays: 2 }]), /<Days>7<[^]*<DaysAfterInitiation>2</);
});

test('every example of a bucket policy passes the check, and slips are named', () => {
  for (const { make } of POLICY_EXAMPLES)
    assert.equal(policyProblem(JSON.stringify(make('album')), 'album'), undefined);
  const [example] = POLICY_EXAMPLES;
  const text = JSON.stringify(example?.make('album'));
  assert.match(policyProblem(text, 'other') ?? '', /Resource names this bucket/);
  assert.match(policyProblem(text.replace('Allow', 'allow'), 'album') ?? '', /Effect/);
  assert.match(policyProblem(text.slice(1), 'album') ?? '', /not JSON/);
  assert.match(policyProblem('{}', 'album') ?? '', /Statement/);
});

test('a setting that was never made is none, and a bucket that is not there is an error', () => {
  const never = ['NoSuchBucketPolicy', 'NoSuchLifecycleConfiguration', 'NoSuchCORSConfiguration', 'NoSuchTagSet'];
  const others = ['NoSuchPublicAccessBlockConfiguration', 'OwnershipControlsNotFoundError'];
  const found = ['ReplicationConfigurationNotFoundError', 'ObjectLockConfigurationNotFoundError'];
  const last = ['ServerSideEncryptionConfigurationNotFoundError', 'NoSuchObjectLockConfiguration'];
  for (const code of [...never, ...others, ...found, ...last]) assert.ok(isUnset(code), code);
  for (const code of ['NoSuchBucket', 'NoSuchKey', 'NoSuchVersion', 'NoSuchUpload', 'AccessDenied'])
    assert.ok(!isUnset(code), code);
});

test('documents of settings hold what the form has, with every sign escaped', () => {
  const rule = {
    id: 'a<b',
    isOn: true,
    prefix: 'x&y/',
    endpoint: 'obsdst-00000001',
    targetBucket: 'copy',
    deletes: false,
  };
  const replication = replicationDocument(rule);
  assert.match(replication, /<ID>a&lt;b<\/ID>/);
  assert.match(replication, /<Prefix>x&amp;y\/<\/Prefix>/);
  assert.match(replication, /<Bucket>arn:aws:s3:obsdst-00000001::copy<\/Bucket>/);
  assert.match(replication, /<DeleteMarkerReplication><Status>Disabled</);
  const hook = {
    id: 'one',
    address: 'https://h.example/?a=1&b=2',
    events: ['s3:ObjectCreated:*'],
    prefix: '',
    suffix: '',
  };
  assert.match(hooksDocument([hook]), /<Topic>https:\/\/h\.example\/\?a=1&amp;b=2<\/Topic>/);
  assert.doesNotMatch(hooksDocument([hook]), /Filter/);
  assert.match(
    loggingDocument({ bucket: 'logs', prefix: 'p/', names: 'EventTime' }),
    /<PartitionDateSource>EventTime</,
  );
});

test('a setting without anything in it is taken away, not sent empty', () => {
  assert.equal(corsDocument([]), undefined);
  assert.equal(tagsDocument([]), undefined);
  assert.equal(publicAccessDocument(NO_BLOCK), undefined);
  assert.match(
    tagsProblem([
      { key: 'a', value: '' },
      { key: 'a', value: 'b' },
    ]) ?? '',
    /two tags a/,
  );
});

test('an upload waits for a service that is away, and takes a refusal as one', () => {
  assert.ok(mayPass({ status: 409, code: 'ServiceUnavailable' }), 'the portal, of an array that restarts');
  assert.ok(mayPass({ status: 503, code: 'SlowDown' }));
  for (const code of ['AccessDenied', 'NoSuchUpload', 'QuotaExceeded'])
    assert.ok(!mayPass({ status: 409, code }), code);
});

test('a setting is written only where it still is what was seen', async () => {
  let now: Stored = { document: '<a/>', headers: {} };
  let writes = 0;
  const save = (seen: Stored) =>
    writeUnchanged(
      seen,
      async () => now,
      async () => (writes += 1),
    );
  assert.equal(await save({ document: '<a/>', headers: {} }), 1);
  for (const other of [
    { document: '<b/>', headers: {} },
    { document: null, headers: {} },
    { document: '<a/>', headers: { kept: 'yes' } },
  ]) {
    now = other;
    await assert.rejects(save({ document: '<a/>', headers: {} }), (error) => {
      assert.ok(error instanceof ChangedMeanwhile);
      return error.now === other;
    });
  }
  assert.equal(writes, 1);
});

test('what is shown of an object is what it has, and not what the answer says of itself', () => {
  const headers = new Headers({ etag: '"1"', 'cache-control': 'no-store', 'x-amz-request-id': '7', date: 'now' });
  assert.deepEqual(factsOfObject(headers), [['etag', '"1"']]);
  headers.set('x-stored-cache-control', 'max-age=60');
  headers.set('x-amz-meta-colour', 'blue');
  assert.deepEqual(factsOfObject(headers), [
    ['etag', '"1"'],
    ['x-amz-meta-colour', 'blue'],
    ['cache-control', 'max-age=60'],
  ]);
});

test('the version of what was stored without versioning is said in words', () => {
  assert.deepEqual(['null', 'a1'].map(versionWords), ['without versioning', 'a1']);
});

test('what of lifecycle rules stands in a header is read with them, and shown', () => {
  const name = 'x-amz-transition-default-minimum-object-size';
  const answered = (header: string) => (header === name ? 'all_storage_classes_128K' : 'of the answer');
  assert.deepEqual(headersOf('lifecycle', answered), { [name]: 'all_storage_classes_128K' });
  assert.deepEqual(headersOf('cors', answered), {});
  assert.deepEqual(
    headersOf('lifecycle', () => null),
    {},
  );
  assert.equal(
    textOf({ document: '<a/>', headers: headersOf('lifecycle', answered) }),
    `${name}: all_storage_classes_128K\n<a/>`,
  );
});
