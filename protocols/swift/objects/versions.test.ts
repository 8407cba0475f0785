import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ALPHA, BETA, serveSwift, type Ask, type SwiftFixture } from '../testing/serve.ts';

/** Old versions are the owner's: what opens an object to others does not open what it was before. */

let swift: SwiftFixture;
before(async () => (swift = await serveSwift()));
after(() => swift.close());

/** A versioned container with an object that was overwritten once. */
async function versioned(name: string, headers: Record<string, string> = {}): Promise<{ old: string; path: string }> {
  await swift.ask(`/${name}`, { method: 'PUT', headers: { 'x-versions-enabled': 'true', ...headers } });
  const first = await swift.put(`/${name}/o`, 'secret');
  await swift.put(`/${name}/o`, 'public');
  return { old: String(first.headers['x-object-version-id']), path: `/${name}/o` };
}

const status = async (path: string, ask: Ask) => (await swift.ask(path, ask)).status;

test('a temporary URL opens the object it was signed for, not its versions', async () => {
  const { old, path } = await versioned('temp', { 'x-container-meta-temp-url-key': 'inner' });
  const expires = Math.floor(Date.now() / 1000) + 100;
  const url = (method: string, prefix?: string) => {
    const full = `/v1/AUTH_${ALPHA}${path}`;
    const signed = prefix === undefined ? full : `prefix:/v1/AUTH_${ALPHA}/temp/${prefix}`;
    const sig = createHmac('sha256', 'inner').update(`${method}\n${expires}\n${signed}`).digest('hex');
    const more = prefix === undefined ? '' : `&temp_url_prefix=${prefix}`;
    return `${full}?temp_url_sig=${sig}&temp_url_expires=${expires}${more}`;
  };
  assert.equal((await swift.ask(url('GET'), { token: null })).text, 'public');
  for (const method of ['GET', 'HEAD', 'PUT', 'POST', 'DELETE']) {
    for (const id of [old, 'null', '']) {
      for (const prefix of [undefined, 'o']) {
        const refused = await swift.ask(`${url(method, prefix)}&version-id=${id}`, { method, token: null });
        assert.equal(refused.status, 401, `${method} ${id}`);
      }
    }
  }
  assert.equal((await swift.ask(`${path}?version-id=${old}`)).text, 'secret');
});

test('container ACLs open neither old versions nor their list', async () => {
  const { old, path } = await versioned('acl', {
    'x-container-read': `.r:*,.rlistings,${BETA}:bob`,
    'x-container-write': `${BETA}:bob`,
  });
  const byVersion = `${path}?version-id=${old}`;
  for (const token of ['tk-bob', null]) {
    const denied = token === null ? 401 : 403;
    assert.equal(await status(path, { token }), 200);
    assert.equal(await status('/acl', { token }), 200);
    assert.equal(await status('/acl?versions', { token }), denied);
    for (const method of ['GET', 'HEAD', 'DELETE', 'PUT', 'COPY']) {
      const headers = { destination: 'acl/copy', 'content-length': '0' };
      assert.equal(await status(byVersion, { token, method, headers }), denied, method);
    }
  }
  assert.equal((await swift.ask(path)).text, 'public', 'the old version was not made current');
  assert.equal((await swift.ask(byVersion)).text, 'secret');
  assert.equal(await status('/acl?versions', {}), 200);
});

test('a policy grants versions by the actions that are named after them', async () => {
  const { old, path } = await versioned('granted');
  const { id } = swift.store.bucket(ALPHA, 'granted') ?? { id: 0 };
  const grant = async (...actions: string[]) => {
    const statement = { Effect: 'Allow', Principal: { AWS: BETA }, Action: actions };
    const Resource = ['arn:aws:s3:::granted', 'arn:aws:s3:::granted/*'];
    const policy = JSON.stringify({ Version: '2012-10-17', Statement: [{ ...statement, Resource }] });
    await swift.store.commit('changeBucket', { bucket: id, settings: { policy }, at: Date.now() });
  };
  const bob = { token: 'tk-bob' };
  const byVersion = `${path}?version-id=${old}`;
  await grant('s3:GetObject', 's3:ListBucket');
  assert.deepEqual([await status(path, bob), await status(byVersion, bob)], [200, 403]);
  assert.deepEqual([await status('/granted', bob), await status('/granted?versions', bob)], [200, 403]);
  await grant('s3:GetObjectVersion', 's3:ListBucketVersions');
  assert.deepEqual([await status(path, bob), await status(byVersion, bob)], [403, 200]);
  assert.deepEqual([await status('/granted', bob), await status('/granted?versions', bob)], [403, 200]);
  await grant('s3:PutObject');
  const restore = { ...bob, method: 'PUT', headers: { 'content-length': '0' } };
  assert.equal(await status(byVersion, restore), 403, 'restoring a version needs the right to read it');
  await grant('s3:PutObject', 's3:GetObjectVersion');
  assert.equal(await status(byVersion, restore), 201);
});

test('an object that expires in a versioned container is hidden; its version is not', async () => {
  await swift.ask('/aging', { method: 'PUT', headers: { 'x-versions-enabled': 'true' } });
  const put = await swift.put('/aging/o', 'kept', { 'x-delete-after': '10' });
  const byVersion = `/aging/o?version-id=${String(put.headers['x-object-version-id'])}`;
  swift.ahead = 20_000;
  const seen = async () => [await status('/aging/o', {}), (await swift.ask(byVersion)).text];
  assert.deepEqual(await seen(), [404, 'kept'], 'before it was removed');
  const { id: bucket } = swift.store.bucket(ALPHA, 'aging') ?? { id: 0 };
  const { marker } = await swift.store.commit('deleteObject', { bucket, key: 'o', at: Date.now() + 20_000 });
  assert.deepEqual(await seen(), [404, 'kept'], 'after it was removed');
  const restore = await swift.ask(byVersion, { method: 'PUT', headers: { 'content-length': '0' } });
  assert.equal(restore.status, 201);
  assert.equal((await swift.ask('/aging/o')).text, 'kept', 'a copy of it does not expire at once');
  const copy = String(restore.headers['x-object-version-id']);
  for (const version of [copy, String(marker?.versionId)]) {
    assert.equal(await status(`/aging/o?version-id=${version}`, { method: 'DELETE' }), 204);
  }
  assert.equal((await swift.ask('/aging/o')).text, 'kept', 'without the marker it is there again');
  swift.ahead = 0;
});

test('without versions an object that expired is gone, whatever it is asked by', async () => {
  await swift.ask('/plain', { method: 'PUT' });
  await swift.put('/plain/o', 'x', { 'x-delete-after': '10' });
  swift.ahead = 20_000;
  assert.equal(await status('/plain/o', {}), 404);
  assert.equal(await status('/plain/o?version-id=null', {}), 404);
  swift.ahead = 0;
});
