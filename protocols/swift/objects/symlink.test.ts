import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ALPHA, BETA, serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => {
  swift = await serveSwift();
  for (const name of ['links', 'targets']) await swift.ask(`/${name}`, { method: 'PUT' });
  await swift.put('/targets/o', 'target', { 'x-object-meta-colour': 'red', 'content-type': 'text/x' });
});
after(() => swift.close());

const link = (path: string, target: string, headers: Record<string, string> = {}) =>
  swift.put(path, '', { 'x-symlink-target': target, ...headers });
const own = (path: string) => swift.ask(`${path}?symlink=get`);
const json = async (path: string) => JSON.parse((await swift.ask(path)).text) as Record<string, unknown>[];

test('a symlink is read as what it names, and by symlink=get as itself', async () => {
  assert.equal((await link('/links/a%C3%BC', 'targets/o')).status, 201);
  const read = await swift.ask('/links/a%C3%BC');
  assert.deepEqual([read.status, read.text], [200, 'target']);
  assert.equal(read.headers['content-location'], `/v1/AUTH_${ALPHA}/targets/o`);
  assert.equal(read.headers['x-object-meta-colour'], 'red');
  assert.equal(read.headers['x-symlink-target'], undefined);
  assert.equal((await swift.ask('/links/a%C3%BC', { headers: { range: 'bytes=1-2' } })).text, 'ar');
  const itself = await own('/links/a%C3%BC');
  assert.deepEqual([itself.text, itself.headers['x-symlink-target']], ['', 'targets/o']);
  assert.equal(itself.headers['content-location'], undefined);
  const [entry] = await json('/links?format=json');
  assert.deepEqual([entry?.['bytes'], entry?.['symlink_path']], [0, `/v1/AUTH_${ALPHA}/targets/o`]);
});

test('a dynamic symlink leads to whatever has the name; without a target it is not found', async () => {
  await link('/links/later', 'targets/later');
  const missing = await swift.ask('/links/later');
  assert.deepEqual([missing.status, missing.headers['content-location']], [404, `/v1/AUTH_${ALPHA}/targets/later`]);
  await swift.put('/targets/later', 'one');
  assert.equal((await swift.ask('/links/later')).text, 'one');
  await swift.put('/targets/later', 'two');
  assert.equal((await swift.ask('/links/later')).text, 'two');
});

test('a static symlink leads to the object it was made for, and to a conflict once that changed', async () => {
  const { headers } = await swift.put('/targets/fixed', 'fixed');
  const etag = String(headers.etag);
  assert.equal((await link('/links/s', 'targets/none', { 'x-symlink-target-etag': etag })).status, 409);
  assert.equal((await link('/links/s', 'targets/fixed', { 'x-symlink-target-etag': 'abc' })).status, 409);
  assert.equal((await link('/links/s', 'targets/fixed', { 'x-symlink-target-etag': etag })).status, 201);
  assert.equal((await swift.ask('/links/s')).text, 'fixed');
  const shown = (await own('/links/s')).headers;
  assert.deepEqual([shown['x-symlink-target-etag'], shown['x-symlink-target-bytes']], [etag, '5']);
  const entry = (await json('/links?format=json&prefix=s'))[0];
  assert.deepEqual([entry?.['symlink_etag'], entry?.['symlink_bytes']], [etag, 5]);
  await swift.put('/targets/fixed', 'other');
  const changed = await swift.ask('/links/s');
  assert.equal(changed.status, 409);
  assert.match(changed.text, /does not match X-Symlink-Target-Etag/);
});

test('two symlinks in a row are followed, three are too many', async () => {
  await link('/links/one', 'targets/o');
  await link('/links/two', 'links/one');
  await link('/links/three', 'links/two');
  assert.equal((await swift.ask('/links/two')).text, 'target');
  assert.equal((await swift.ask('/links/three')).status, 409);
});

test('a symlink that cannot be meant is refused', async () => {
  assert.equal((await link('/links/x', 'nothing')).status, 412);
  assert.equal((await link('/links/x', 'links/x')).status, 400);
  assert.equal((await swift.put('/links/x', 'body', { 'x-symlink-target': 'targets/o' })).status, 400);
  assert.equal((await link('/links/x', 'targets/o', { 'x-symlink-target-account': 'a/b' })).status, 412);
  assert.equal((await link('/links/x', 'targets/o', { 'x-symlink-target-account': 'nobody' })).status, 412);
  assert.equal((await swift.put('/links/x', '', { 'x-symlink-target-etag': 'abc' })).status, 400);
  assert.equal((await swift.ask('/links/x')).status, 404, 'nothing was stored');
});

test('a POST changes the symlink and says where the target is; a DELETE removes the symlink alone', async () => {
  await link('/links/p', 'targets/o');
  const posted = await swift.ask('/links/p', { method: 'POST', headers: { 'x-object-meta-size': 'small' } });
  assert.deepEqual([posted.status, posted.headers['location']], [307, `/v1/AUTH_${ALPHA}/targets/o`]);
  assert.equal((await own('/links/p')).headers['x-object-meta-size'], 'small');
  const retarget = await swift.ask('/links/p', { method: 'POST', headers: { 'x-symlink-target': 'targets/x' } });
  assert.equal(retarget.status, 400);
  assert.equal((await swift.ask('/links/p', { method: 'DELETE' })).status, 204);
  assert.equal((await swift.ask('/targets/o')).text, 'target');
});

test('a copy takes the target, with symlink=get the symlink', async () => {
  await link('/links/c', 'targets/o');
  const copy = (query: string, name: string) =>
    swift.ask(`/links/c${query}`, { method: 'COPY', headers: { destination: `links/${name}` } });
  assert.equal((await copy('', 'bytes')).status, 201);
  assert.equal((await own('/links/bytes')).text, 'target');
  assert.equal((await copy('?symlink=get', 'again')).status, 201);
  assert.equal((await own('/links/again')).headers['x-symlink-target'], 'targets/o');
  assert.equal((await swift.ask('/links/again')).text, 'target');
});

test('a symlink into another account opens only what that account opens', async () => {
  const beta = (path: string, method: string, headers: Record<string, string> = {}, body = '') =>
    swift.ask(`/v1/AUTH_${BETA}${path}`, { method, token: 'tk-bea', headers, body });
  await beta('/shared', 'PUT');
  await beta('/shared/o', 'PUT', {}, 'of beta');
  await link('/links/out', 'shared/o', { 'x-symlink-target-account': BETA });
  assert.equal((await own('/links/out')).headers['x-symlink-target-account'], `AUTH_${BETA}`);
  assert.equal((await swift.ask('/links/out')).status, 403);
  await beta('/shared', 'POST', { 'x-container-read': ALPHA });
  assert.equal((await swift.ask('/links/out')).text, 'of beta');
});
