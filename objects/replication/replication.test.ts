import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../../testing/waiting.ts';
import { expect, type S3Client } from '../../protocols/s3/testing/client.ts';
import { makeKnown, put, replicate, statusOf } from '../testing/remote.ts';
import { testObjects, type TestObjects } from '../testing/test-objects.ts';

const { messages } = objectsApi.groups;

const ends: (() => Promise<void> | void)[] = [];
const lasting = { after: (end: () => Promise<void> | void) => ends.unshift(end) };
let here: TestObjects;
let there: TestObjects;
let near: S3Client;
let far: S3Client;
/** What `there` is called here. */
let destination: string;

before(async () => {
  [here, there] = await Promise.all([testObjects(lasting), testObjects(lasting)]);
  destination = await makeKnown(here, there);
  [near, far] = [here.s3(here.owner), there.s3(there.owner)];
});
after(async () => {
  near.close();
  far.close();
  for (const end of ends) await end();
});

/** A bucket of this name in both. */
async function twice(bucket: string): Promise<void> {
  for (const client of [near, far]) expect(await client.call('PUT', `/${bucket}`), 200);
}

const titles = async ({ client }: TestObjects) =>
  (await client.call(messages.list, {})).messages.map(({ msg_title }) => msg_title);

const isThere = (client: S3Client, path: string) => async () => (await client.call('HEAD', path)).status === 200;
const isGone = (client: S3Client, path: string) => async () => (await client.call('HEAD', path)).status === 404;
const isCompleted = (client: S3Client, path: string) => async () => (await statusOf(client, path)) === 'COMPLETED';

test('new objects are copied with all that is known of them, those of before and elsewhere are not', async () => {
  await twice('photos');
  await put(near, '/photos/new/before', 'old');
  expect(await replicate(near, 'photos', destination, { prefix: 'new/' }), 200);
  await put(near, '/photos/other', 'elsewhere');
  const body = randomBytes(3_000_000);
  const headers = {
    'content-type': 'image/x-test',
    'cache-control': 'no-cache',
    'content-encoding': 'gzip',
    'x-amz-meta-place': Buffer.from('Straße').toString('latin1'),
    'x-amz-tagging': 'season=summer&who=me%20%40%20you',
  };
  await put(near, '/photos/new/größe 1+1', body, headers);
  await put(near, '/photos/new/empty', '');
  await until(isCompleted(near, '/photos/new/größe 1+1'), 'the copy');
  await until(isCompleted(near, '/photos/new/empty'), 'the empty copy');
  const copy = expect(await far.call('GET', '/photos/new/größe 1+1'), 200);
  assert.ok(copy.bytes.equals(body));
  assert.equal(copy.headers.etag, `"${createHash('md5').update(body).digest('hex')}"`);
  for (const name of ['content-type', 'cache-control', 'content-encoding', 'x-amz-meta-place'] as const)
    assert.equal(copy.headers[name], headers[name]);
  assert.equal(copy.headers['x-amz-replication-status'], 'REPLICA');
  const tags = expect(await far.call('GET', '/photos/new/größe 1+1', { query: { tagging: '' } }), 200);
  assert.deepEqual(
    [tags.all('Key'), tags.all('Value')],
    [
      ['season', 'who'],
      ['summer', 'me @ you'],
    ],
  );
  assert.equal((await far.call('GET', '/photos/new/empty')).headers['content-length'], '0');
  for (const path of ['/photos/new/before', '/photos/other']) {
    assert.equal((await far.call('HEAD', path)).status, 404, path);
    assert.equal(await statusOf(near, path), undefined);
  }
  expect(await near.call('PUT', '/photos/new/empty', { query: { tagging: '' }, body: TAGGED }), 200);
  await until(async () => {
    const tagging = await far.call('GET', '/photos/new/empty', { query: { tagging: '' } });
    return tagging.all('Value').join() === 'later';
  }, 'the new tags');
});

const TAGGED = '<Tagging><TagSet><Tag><Key>when</Key><Value>later</Value></Tag></TagSet></Tagging>';

test('what came in parts goes in the same parts', async () => {
  await twice('films');
  expect(await replicate(near, 'films', destination), 200);
  const started = expect(await near.call('POST', '/films/film', { query: { uploads: '' } }), 200);
  const uploadId = started.xml('UploadId') ?? '';
  const parts = [randomBytes(5 * 2 ** 20), randomBytes(6 * 2 ** 20), randomBytes(77)];
  const etags = [];
  for (const [index, body] of parts.entries()) {
    const query = { partNumber: String(index + 1), uploadId };
    etags.push((await near.call('PUT', '/films/film', { query, body })).headers.etag ?? '');
  }
  const listed = etags.map((etag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
  const body = `<CompleteMultipartUpload>${listed.join('')}</CompleteMultipartUpload>`;
  const done = expect(await near.call('POST', '/films/film', { query: { uploadId }, body }), 200);
  await until(isCompleted(near, '/films/film'), 'the copy');
  const copy = expect(await far.call('GET', '/films/film'), 200);
  assert.equal(copy.headers.etag, done.xml('ETag'));
  assert.ok(copy.bytes.equals(Buffer.concat(parts)));
  const left = expect(await far.call('GET', '/films', { query: { uploads: '' } }), 200);
  assert.deepEqual(left.all('UploadId'), []);
});

test('changes of a key arrive in their order, every version and every deletion', async () => {
  await twice('pages');
  const versioning = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  for (const client of [near, far])
    expect(await client.call('PUT', '/pages', { query: { versioning: '' }, body: versioning }), 200);
  expect(await replicate(near, 'pages', destination, { deletes: true }), 200);
  for (let count = 1; count <= 5; count++) await put(near, '/pages/page', `edition ${count}`);
  expect(await near.call('DELETE', '/pages/page'), 204);
  await put(near, '/pages/last', 'last');
  await until(async () => {
    const { bytes } = await far.call('GET', '/pages', { query: { versions: '', prefix: 'page' } });
    return bytes.toString().includes('<DeleteMarker>');
  }, 'the deletion');
  const { text } = await far.call('GET', '/pages', { query: { versions: '', prefix: 'page' } });
  assert.equal(text.match(/<Version>/g)?.length, 5);
  const ids = [...text.matchAll(/<Version>.*?<VersionId>(\w+)<.*?<\/Version>/gs)].map(([, id]) => id ?? '');
  const bodies = await Promise.all(
    ids.map(async (versionId) => (await far.call('GET', '/pages/page', { query: { versionId } })).text),
  );
  assert.deepEqual(
    bodies,
    [5, 4, 3, 2, 1].map((count) => `edition ${count}`),
  );
  await until(isThere(far, '/pages/last'), 'the last');
});

test('deletions stay where they were made unless the rule passes them on', async () => {
  await twice('letters');
  expect(await near.call('PUT', '/loose'), 200);
  expect(await far.call('PUT', '/loose'), 200);
  expect(await replicate(near, 'letters', destination), 200);
  expect(await replicate(near, 'loose', destination, { deletes: true }), 200);
  for (const bucket of ['letters', 'loose']) await put(near, `/${bucket}/a`, 'a');
  for (const bucket of ['letters', 'loose']) await until(isThere(far, `/${bucket}/a`), 'the copy');
  for (const bucket of ['letters', 'loose']) expect(await near.call('DELETE', `/${bucket}/a`), 204);
  await until(isGone(far, '/loose/a'), 'the deletion');
  assert.equal((await far.call('HEAD', '/letters/a')).status, 200);
});

test('two buckets that replicate to each other do not pass changes on for ever', async () => {
  await twice('mutual');
  const back = await makeKnown(there, here);
  expect(await replicate(near, 'mutual', destination, { deletes: true }), 200);
  expect(await replicate(far, 'mutual', back, { deletes: true }), 200);
  await put(near, '/mutual/from-here', 'here');
  await put(far, '/mutual/from-there', 'there');
  await until(isThere(far, '/mutual/from-here'), 'one way');
  await until(isThere(near, '/mutual/from-there'), 'the other way');
  assert.equal(await statusOf(near, '/mutual/from-there'), 'REPLICA');
  expect(await near.call('DELETE', '/mutual/from-there'), 204);
  await until(isGone(far, '/mutual/from-there'), 'the deletion');
  const before = (await near.call('HEAD', '/mutual/from-here')).headers['last-modified'];
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  assert.equal((await near.call('HEAD', '/mutual/from-here')).headers['last-modified'], before);
  assert.equal((await near.call('HEAD', '/mutual/from-there')).status, 404);
});

test('what could not be sent waits, through a stop, until the other side is back; both are reported', async () => {
  await twice('patient');
  expect(await replicate(near, 'patient', destination), 200);
  await there.stop();
  for (let count = 0; count < 20; count++) await put(near, `/patient/${count}`, `object ${count}`);
  const failing = (title: string) => title.startsWith('Remote endpoint offsite does not take what is replicated');
  await until(async () => (await titles(here)).some(failing), 'the event');
  assert.equal(await statusOf(near, '/patient/7'), 'PENDING');
  await here.restart();
  await put(near, '/patient/20', 'object 20');
  await there.start();
  for (let count = 0; count <= 20; count++) await until(isCompleted(near, `/patient/${count}`), `object ${count}`);
  for (let count = 0; count <= 20; count++)
    assert.equal((await far.call('GET', `/patient/${count}`)).text, `object ${count}`);
  await until(
    async () => (await titles(here)).includes('Remote endpoint offsite takes what is replicated again.'),
    'the event',
  );
  assert.equal((await titles(here)).filter(failing).length, 1, 'reported once');
});

test('a bucket that is missing there holds up its own objects only', async () => {
  await twice('photographs');
  expect(await near.call('PUT', '/orphan'), 200);
  expect(await replicate(near, 'orphan', destination, { target: 'missing' }), 200);
  expect(await replicate(near, 'photographs', destination), 200);
  await put(near, '/orphan/a', 'a');
  await put(near, '/photographs/a', 'a');
  await until(isCompleted(near, '/photographs/a'), 'the other bucket');
  await until(
    async () =>
      (await titles(here)).some(
        (title) => /^Container orphan .*NoSuchBucket/.test(title) || /^Container orphan .*HTTP 404/.test(title),
      ),
    'the event',
  );
  assert.equal(await statusOf(near, '/orphan/a'), 'PENDING');
  expect(await far.call('PUT', '/missing'), 200);
  await until(isThere(far, '/missing/a'), 'the copy');
  await until(
    async () => (await titles(here)).some((title) => /^Container orphan .*is replicated again/.test(title)),
    'the event',
  );
  expect(await near.call('DELETE', '/orphan', { query: { replication: '' } }), 204);
});

test('an object that the other side will never accept is given up and reported', async () => {
  await twice('heavy');
  const path = await putHeavy();
  await until(async () => (await statusOf(near, path)) === 'FAILED', 'the end');
  await until(
    async () => (await titles(here)).some((title) => title.includes('has objects that could not be replicated')),
    'the event',
  );
});

/** Metadata that Swift takes and S3 does not: more than 2 KiB. */
async function putHeavy(): Promise<string> {
  expect(await replicate(near, 'heavy', destination), 200);
  const headers = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => [`x-object-meta-m${index}`, 'v'.repeat(200)]),
  );
  const answer = await here.swift(here.owner, 'PUT', '/heavy/heavy', { headers, body: 'heavy' });
  assert.equal(answer.status, 201);
  return '/heavy/heavy';
}
