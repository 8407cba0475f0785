import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { expect, type S3Client } from '../testing/client.ts';
import { PEOPLE, serve, type Served } from '../testing/serve.ts';

/** Which version a decision is about: what opens one version of an object opens no other. */

let served: Served;
let ada: S3Client;
let eve: S3Client;
let anonymous: S3Client;

before(async () => {
  served = await serve();
  [ada, eve, anonymous] = [served.as('ada'), served.as('eve'), served.as(null)];
  expect(await eve.call('PUT', '/mine'), 200);
});

after(async () => {
  await served.close();
  assert.deepEqual(served.errors, []);
});

interface Versions {
  readonly path: string;
  readonly old: string;
  readonly now: string;
}

async function versioned(
  bucket: string,
  first: Record<string, string> = {},
  second: Record<string, string> = {},
): Promise<Versions> {
  expect(await ada.call('PUT', `/${bucket}`), 200);
  const enable = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  expect(await ada.call('PUT', `/${bucket}`, { query: { versioning: '' }, body: enable }), 200);
  const path = `/${bucket}/o`;
  const old = expect(await ada.call('PUT', path, { body: 'old', headers: first }), 200);
  const now = expect(await ada.call('PUT', path, { body: 'new', headers: second }), 200);
  return { path, old: String(old.headers['x-amz-version-id']), now: String(now.headers['x-amz-version-id']) };
}

async function allow(bucket: string, Action: string[], Condition?: object, Effect = 'Allow'): Promise<void> {
  const Resource = [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`];
  const statement = { Effect, Principal: '*', Action, Resource, ...(Condition && { Condition }) };
  const body = JSON.stringify({ Version: '2012-10-17', Statement: [statement] });
  expect(await ada.call('PUT', `/${bucket}`, { query: { policy: '' }, body }), 204);
}

test('what a policy allows of objects it does not allow of their versions', async () => {
  const { path, old } = await versioned('policy', { 'x-amz-tagging': 'a=1' }, { 'x-amz-tagging': 'a=2' });
  await allow('policy', [
    's3:GetObject',
    's3:GetObjectTagging',
    's3:GetObjectAttributes',
    's3:GetObjectAcl',
    's3:ListBucket',
    's3:PutObject',
    's3:DeleteObject',
  ]);
  const subresources = [{}, { tagging: '' }, { acl: '' }, { attributes: '' }];
  for (const client of [anonymous, eve]) {
    for (const query of subresources) {
      const headers = { 'x-amz-object-attributes': 'ObjectSize' };
      expect(await client.call('GET', path, { query, headers }), 200);
      for (const versionId of [old, 'null', ''])
        expect(await client.call('GET', path, { query: { ...query, versionId }, headers }), 403);
    }
    expect(await client.call('HEAD', path, { query: { versionId: old } }), 403);
    expect(await client.call('DELETE', path, { query: { versionId: old } }), 403);
    expect(await client.call('GET', '/policy', { query: { versions: '' } }), 403);
    const body = `<Delete><Object><Key>o</Key><VersionId>${old}</VersionId></Object></Delete>`;
    const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
    const reply = await client.call('POST', '/policy', { query: { delete: '' }, body, headers });
    assert.equal(expect(reply, 200).xml('Code'), 'AccessDenied');
  }
  for (const operation of ['/mine/copy', '/mine/part']) {
    const source = { 'x-amz-copy-source': `/${PEOPLE.ada.caller.account}:policy/o?versionId=${old}` };
    expect(await eve.call('PUT', operation, { headers: source }), 403);
  }
  assert.equal((await ada.call('GET', path, { query: { versionId: old } })).text, 'old');
});

test('the ACL of an old version does not open the current one to a copy', async () => {
  const { path, old } = await versioned('acl', { 'x-amz-acl': 'public-read' });
  expect(await anonymous.call('GET', path), 403);
  expect(await anonymous.call('GET', path, { query: { versionId: old } }), 200);
  await allow('acl', ['s3:GetBucketLocation']);
  const headers = { 'x-amz-copy-source': `/${PEOPLE.ada.caller.account}:acl/o` };
  for (const query of [{}, { versionId: old }]) {
    expect(await eve.call('PUT', '/mine/stolen', { query, headers }), 403);
  }
  expect(await eve.call('GET', '/mine/stolen'), 404);
});

test('the tags of another version do not decide about a request that is not about it', async () => {
  const { path, old } = await versioned('tags', {}, { 'x-amz-tagging': 'kept=yes' });
  await allow('tags', ['s3:PutObject'], { StringEquals: { 's3:ExistingObjectTag/kept': 'yes' } }, 'Deny');
  for (const query of [{}, { versionId: old }] as Record<string, string>[]) {
    expect(await ada.call('PUT', path, { query, body: 'overwritten' }), 403);
  }
  assert.equal((await ada.call('GET', path)).text, 'new');
});

test('tags are copied only by those who may read them', async () => {
  await versioned('tagged', {}, { 'x-amz-tagging': 'secret=1' });
  await allow('tagged', ['s3:GetObject']);
  const source = { 'x-amz-copy-source': `/${PEOPLE.ada.caller.account}:tagged/o` };
  expect(await eve.call('PUT', '/mine/copy', { headers: source }), 403);
  expect(await eve.call('PUT', '/mine/copy', { headers: { ...source, 'x-amz-tagging-directive': 'REPLACE' } }), 200);
  await allow('tagged', ['s3:GetObject', 's3:GetObjectTagging']);
  expect(await eve.call('PUT', '/mine/copy', { headers: source }), 200);
});
