import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expect, type S3Client } from '../testing/client.ts';
import { PEOPLE, serve, type Served } from '../testing/serve.ts';

/**
 * Goal: a name means one bucket, whatever is to be done to it. Method: Ada shares a bucket, Fay makes a younger one of the
 * same name and opens what Ada does not; others ask by the name alone.
 */
let served: Served;
let eve: S3Client;
let fay: S3Client;
let anonymous: S3Client;

before(async () => {
  served = await serve();
  [eve, fay, anonymous] = [served.as('eve'), served.as('fay'), served.as(null)];
  expect(await eve.call('PUT', '/mine'), 200);
});

after(async () => {
  await served.close();
  assert.deepEqual(served.errors, []);
});

async function share(name: 'ada' | 'fay', bucket: string, Action: string[], tags = ''): Promise<void> {
  const owner = served.as(name);
  expect(await owner.call('PUT', `/${bucket}`), 200);
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  const Statement = [{ Effect: 'Allow', Principal: '*', Action, Resource }];
  const body = JSON.stringify({ Version: '2012-10-17', Statement });
  expect(await owner.call('PUT', `/${bucket}`, { query: { policy: '' }, body }), 204);
  const headers = tags === '' ? {} : { 'x-amz-tagging': tags };
  expect(await owner.call('PUT', `/${bucket}/o`, { body: `of ${name}`, headers }), 200);
}

test('what the older bucket refuses is not asked of a younger one of the same name', async () => {
  await share('ada', 'site', ['s3:GetObject']);
  await share('fay', 'site', ['s3:*']);
  for (const client of [anonymous, eve]) {
    assert.equal(expect(await client.call('GET', '/site/o'), 200).text, 'of ada');
    expect(await client.call('PUT', '/site/o', { body: 'for ada' }), 403);
    expect(await client.call('GET', '/site'), 403);
    expect(await client.call('DELETE', '/site/o'), 403);
  }
  assert.equal((await fay.call('GET', '/site/o')).text, 'of fay');
  const exact = `/${PEOPLE.fay.caller.account}:site/o`;
  assert.equal(expect(await anonymous.call('GET', exact), 200).text, 'of fay');
});

test('the tags of a copy are asked for in the bucket that is copied from', async () => {
  await share('ada', 'tagged', ['s3:GetObject'], 'secret=1');
  await share('fay', 'tagged', ['s3:GetObjectTagging']);
  const headers = { 'x-amz-copy-source': '/tagged/o' };
  expect(await eve.call('PUT', '/mine/copy', { headers }), 403);
  expect(await eve.call('PUT', '/mine/copy', { headers: { ...headers, 'x-amz-tagging-directive': 'REPLACE' } }), 200);
  assert.equal((await eve.call('GET', '/mine/copy')).text, 'of ada');
});
