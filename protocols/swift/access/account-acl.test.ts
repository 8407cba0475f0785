import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { BETA, serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => {
  swift = await serveSwift();
  await swift.ask('/c', { method: 'PUT' });
  await swift.put('/c/o', 'secret');
});
after(() => swift.close());

const open = (acl: object | string) =>
  swift.ask('', {
    method: 'POST',
    headers: { 'x-account-access-control': typeof acl === 'string' ? acl : JSON.stringify(acl) },
  });
const as =
  (token: string) =>
  (method: string, path: string, headers: Record<string, string> = {}) =>
    swift.ask(path, { method, token, headers }).then(({ status }) => status);
const mia = as('tk-mia');
const bob = as('tk-bob');

test('a member of the account owns nothing of it: containers open by their ACLs', async () => {
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/c'],
    ['GET', '/c/o'],
    ['PUT', '/new'],
    ['POST', '/c'],
    ['DELETE', '/c'],
    ['PUT', '/c/p'],
    ['GET', '/none'],
  ] as const) {
    assert.equal(await mia(method, path, { 'content-length': '0' }), 403, `${method} ${path}`);
  }
  await swift.ask('/c', { method: 'POST', headers: { 'x-container-read': 'alpha:mia' } });
  assert.deepEqual(
    [await mia('GET', '/c/o'), await mia('GET', '/c'), await mia('PUT', '/c/p', { 'content-length': '0' })],
    [200, 200, 403],
  );
  await swift.ask('/c', { method: 'POST', headers: { 'x-container-write': 'alpha:mia' } });
  assert.equal(await mia('PUT', '/c/p', { 'content-length': '0' }), 201);
  assert.equal(await mia('POST', '/c', { 'x-container-write': 'alpha:mia,*:*' }), 403);
  const seen = await swift.ask('/c', { method: 'HEAD', token: 'tk-mia' });
  assert.equal(seen.headers['x-container-read'], undefined);
  await swift.ask('/c', {
    method: 'POST',
    headers: { 'x-remove-container-read': 'x', 'x-remove-container-write': 'x' },
  });
  assert.equal(await mia('GET', '/c/o'), 403);
});

test('an account ACL opens all of it to reading, to writing, or to administration', async () => {
  const group = `${BETA}:bob`;
  assert.equal(await bob('GET', ''), 403);
  assert.equal((await open({ 'read-only': [group] })).status, 204);
  assert.deepEqual([await bob('GET', ''), await bob('GET', '/c'), await bob('GET', '/c/o')], [200, 200, 200]);
  assert.deepEqual([await bob('PUT', '/n'), await bob('POST', '/c'), await bob('DELETE', '/c/o')], [403, 403, 403]);
  assert.equal(await bob('GET', '/none'), 404, 'who sees the account sees what is not there');
  await open({ 'read-write': [group, 'alpha:mia'] });
  assert.deepEqual([await bob('PUT', '/n'), await mia('DELETE', '/n')], [201, 204]);
  assert.equal(await bob('POST', '', { 'x-account-meta-a': 'b' }), 403);
  assert.equal(await bob('POST', '/c', { 'x-container-read': '.r:*' }), 403);
  const head = async (token: string) => (await swift.ask('', { method: 'HEAD', token })).headers;
  assert.equal((await head('tk-bob'))['x-account-access-control'], undefined);
  await swift.ask('', { method: 'POST', headers: { 'x-account-meta-temp-url-key': 'k' } });
  assert.equal((await head('tk-bob'))['x-account-meta-temp-url-key'], undefined);
  await open({ admin: [group] });
  assert.equal((await head('tk-bob'))['x-account-meta-temp-url-key'], 'k');
  assert.equal(await bob('POST', '/c', { 'x-container-read': '.r:*' }), 204);
  assert.equal((await head('tk-ann'))['x-account-access-control'], JSON.stringify({ admin: [group] }));
  await open('');
  assert.equal(await bob('GET', ''), 403);
  assert.equal((await head('tk-ann'))['x-account-access-control'], undefined);
});

test('an account ACL that cannot be read is refused and changes nothing', async () => {
  for (const acl of ['{', '[]', '"x"', '{"other":[]}', '{"admin":"x"}', '{"admin":[1]}', '{"admin":["beta:bob"]}']) {
    const refused = await open(acl);
    assert.equal(refused.status, 400, acl);
    assert.match(refused.text, /X-Account-Access-Control invalid/);
  }
  assert.equal((await swift.ask('', { method: 'HEAD' })).headers['x-account-access-control'], undefined);
});

test('names of accounts in ACLs stand for the ids they had', async () => {
  const read = (acl: string) => swift.ask('/c', { method: 'POST', headers: { 'x-container-read': acl } });
  assert.equal((await read('beta:bob')).status, 400, 'where addresses do not have names, ACLs do not');
  swift.settings = { ...swift.settings, accountNames: true };
  assert.equal((await read('beta:bob,gamma')).status, 204);
  assert.equal((await swift.ask('/c', { method: 'HEAD' })).headers['x-container-read'], 'beta:bob,gamma');
  assert.equal(await bob('GET', '/c/o'), 200);
  swift.settings = { ...swift.settings, accountNames: false };
  assert.equal(await bob('GET', '/c/o'), 200);
  const stored = swift.store.bucket('a'.repeat(32), 'c')?.settings.aclAccounts;
  assert.deepEqual(stored, { 'read:beta': BETA, 'read:gamma': 'nobody' });
  await read('');
  assert.equal(swift.store.bucket('a'.repeat(32), 'c')?.settings.aclAccounts, undefined);
});

test('a quota of an account is set by operators and holds for all its containers', async () => {
  const quota = (token: string, value: string) => as(token)('POST', '', { 'x-account-meta-quota-bytes': value });
  assert.equal(await quota('tk-ann', '100'), 403);
  swift.settings = { ...swift.settings, adminAccess: true };
  assert.equal(await quota('tk-root', 'x'), 400);
  const used = swift.store.usage('a'.repeat(32)).bytes;
  assert.equal(await quota('tk-root', String(used + 5)), 204);
  assert.equal((await swift.put('/c/six', '123456')).status, 413);
  assert.equal((await swift.put('/c/six', '123456', { 'transfer-encoding': 'chunked' })).status, 413);
  assert.equal((await swift.put('/c/five', '12345')).status, 201);
  assert.equal((await swift.put('/c/none', '')).status, 413, 'a full account takes nothing more');
  const copied = await swift.ask('/c/five', { method: 'COPY', headers: { destination: 'c/copy' } });
  assert.equal(copied.status, 413);
  assert.equal((await swift.ask('', { method: 'HEAD' })).headers['x-account-meta-quota-bytes'], String(used + 5));
  const other = await swift.ask('', { method: 'POST', token: 'tk-root', headers: { 'x-account-quota-count': '1' } });
  assert.equal(other.status, 400);
  assert.equal(await as('tk-root')('POST', '', { 'x-remove-account-meta-quota-bytes': 'x' }), 204);
  assert.equal((await swift.put('/c/six', '123456')).status, 201);
  swift.settings = { ...swift.settings, adminAccess: false };
});
