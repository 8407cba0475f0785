import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { expect, type S3Client } from '../testing/client.ts';
import { PEOPLE, serve, type Served } from '../testing/serve.ts';

let served: Served;
let ada: S3Client;
let eve: S3Client;
let anyone: S3Client;
const ADA = PEOPLE.ada.caller.account;

before(async () => {
  served = await serve();
  [ada, eve, anyone] = [served.as('ada'), served.as('eve'), served.as(null)];
  for (const [name, acl] of [
    ['shut', 'private'],
    ['listed', 'public-read'],
    ['open', 'public-read-write'],
    ['ruled', 'private'],
  ]) {
    expect(await ada.call('PUT', `/${name}`, { headers: { 'x-amz-acl': acl! } }), 200);
  }
  expect(await ada.call('PUT', '/listed/secret', { body: 'x' }), 200);
});

after(async () => {
  await served.close();
  assert.deepEqual(served.errors, []);
});

async function rule(...actions: readonly string[]): Promise<void> {
  const statements = actions.map((action) => {
    const [effect, name] = action.startsWith('!') ? ['Deny', action.slice(1)] : ['Allow', action];
    const resource = name === 's3:ListBucket' ? 'arn:aws:s3:::ruled' : 'arn:aws:s3:::ruled/*';
    return { Effect: effect, Principal: '*', Action: name, Resource: resource };
  });
  expect(
    await ada.call('PUT', '/ruled', { query: { policy: '' }, body: JSON.stringify({ Statement: statements }) }),
    204,
  );
}

test('a missing key is 404 for callers who may list the bucket, and 403 for all others', async () => {
  for (const who of [eve, anyone]) {
    expect(await who.call('GET', '/listed/none'), 404, 'NoSuchKey');
    expect(await who.call('HEAD', '/listed/none'), 404);
    expect(await who.call('GET', '/listed/secret'), 403, 'AccessDenied');
    await rule('s3:ListBucket');
    expect(await who.call('GET', '/ruled/none'), 404, 'NoSuchKey');
    await rule('s3:GetObject');
    expect(await who.call('GET', '/ruled/none'), 403, 'AccessDenied');
    await rule('s3:ListBucket', 's3:GetObject');
    expect(await who.call('GET', '/ruled/none'), 404, 'NoSuchKey');
    await rule('s3:ListBucket', '!s3:GetObject');
    expect(await who.call('GET', '/ruled/none'), 403, 'AccessDenied');
  }
});

test('a copy does not tell either which keys a source has', async () => {
  const copy = async (headers: Record<string, string>) => eve.call('PUT', '/mine/copy', { headers });
  expect(await eve.call('PUT', '/mine'), 200);
  await rule('s3:GetObject');
  expect(await copy({ 'x-amz-copy-source': `${ADA}:ruled/none` }), 403, 'AccessDenied');
  await rule('s3:ListBucket', 's3:GetObject');
  expect(await copy({ 'x-amz-copy-source': `${ADA}:ruled/none` }), 404, 'NoSuchKey');
});

test("another account's bucket is refused, not denied, but its name is free", async () => {
  for (const path of ['/shut', `/${ADA}:shut`]) {
    expect(await eve.call('GET', path), 403, 'AccessDenied');
    expect(await eve.call('GET', `${path}/key`), 403, 'AccessDenied');
    expect(await eve.call('PUT', `${path}/key`, { body: 'x' }), 403, 'AccessDenied');
    expect(await eve.call('DELETE', path), 403, 'AccessDenied');
    expect(await eve.call('HEAD', path), 404);
  }
  expect(await eve.call('GET', '/nowhere'), 404, 'NoSuchBucket');
  expect(await anyone.call('GET', '/nowhere'), 403, 'AccessDenied');
  expect(await eve.call('PUT', '/shut'), 200);
  expect(await eve.call('HEAD', '/shut'), 200);
});

test('who writes by the ACL of a bucket says who may read what is written, and nothing of other objects', async () => {
  const acl = { 'x-amz-acl': 'public-read' };
  expect(await anyone.call('PUT', '/open/gift', { headers: acl, body: 'x' }), 200);
  expect(await anyone.call('GET', '/open/gift'), 200);
  expect(await anyone.call('PUT', '/open/gift', { query: { acl: '' }, headers: acl }), 403, 'AccessDenied');
  const form = new FormData();
  for (const [name, value] of Object.entries({ key: 'posted', acl: 'public-read', 'Content-Type': 'text/plain' })) {
    form.set(name, value);
  }
  form.set('file', new Blob(['bar']));
  // FormData of the platform ends with its length unknown, which forms must not.
  const encoded = new Response(form);
  const body = Buffer.from(await encoded.arrayBuffer());
  const posted = await fetch(`${served.origin}/open`, {
    method: 'POST',
    headers: { 'content-type': encoded.headers.get('content-type')! },
    body,
  });
  assert.equal(posted.status, 204, await posted.text());
  assert.equal(expect(await anyone.call('GET', '/open/posted'), 200).text, 'bar');
  await rule('s3:PutObject');
  expect(await anyone.call('PUT', '/ruled/gift', { headers: acl, body: 'x' }), 403, 'AccessDenied');
});
