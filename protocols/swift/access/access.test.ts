import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ALPHA, BETA, serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => (swift = await serveSwift()));
after(() => swift.close());

const statuses = async (path: string, method: string, tokens: readonly (string | null)[]) =>
  Promise.all(tokens.map(async (token) => (await swift.ask(path, { method, token })).status));

test('signing in gives a token and the address of the account', async () => {
  const headers = { 'x-auth-user': 'alpha:ann', 'x-auth-key': 'secret' };
  for (const path of ['/auth/v1.0', '/v1.0']) {
    const reply = await swift.ask(path, { token: null, headers });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers['x-auth-token'], 'tk-ann');
    assert.equal(reply.headers['x-storage-url'], `${swift.url}/v1/AUTH_${ALPHA}`);
    assert.ok(Number(reply.headers['x-auth-token-expires']) > 3500);
  }
  const old = await swift.ask('/auth/v1.0', {
    token: null,
    headers: { 'x-storage-user': 'alpha:ann', 'x-storage-pass': 'secret' },
  });
  assert.equal(old.status, 200);
  for (const bad of [{ ...headers, 'x-auth-key': 'no' }, { ...headers, 'x-auth-user': 'ann' }, {}]) {
    assert.equal((await swift.ask('/auth/v1.0', { token: null, headers: bad })).status, 401);
  }
});

test('Keystone v3 gives a token with a catalogue', async () => {
  const user = { name: 'ann', domain: { name: 'Default' }, password: 'secret' };
  const issue = (auth: unknown) =>
    swift.ask('/v3/auth/tokens', { method: 'POST', token: null, body: JSON.stringify({ auth }) });
  const identity = { methods: ['password'], password: { user } };
  for (const project of [{ name: 'alpha', domain: { id: 'default' } }, { id: ALPHA }]) {
    const reply = await issue({ identity, scope: { project } });
    assert.equal(reply.status, 201);
    assert.equal(reply.headers['x-subject-token'], 'tk-ann');
    const { token } = JSON.parse(reply.text) as {
      token: { catalog: { type: string; endpoints: { url: string }[] }[] };
    };
    const store = token.catalog.find(({ type }) => type === 'object-store');
    assert.equal(store?.endpoints[0]?.url, `${swift.url}/v1/AUTH_${ALPHA}`);
  }
  assert.equal((await issue({ identity, scope: { project: { name: 'beta' } } })).status, 401);
  assert.equal((await issue({ identity })).status, 400);
  assert.equal((await issue(undefined)).status, 400);
  assert.equal((await swift.ask('/v3', { token: null })).status, 200);
  assert.equal((await swift.ask('/v3/auth/tokens', { headers: { 'x-subject-token': 'tk-ann' } })).status, 200);
  assert.equal((await swift.ask('/v3/auth/tokens', { headers: { 'x-subject-token': 'tk-bob' } })).status, 401);
});

test('an account is open to its own users; to others only as containers allow', async () => {
  await swift.ask('/private', { method: 'PUT' });
  await swift.put('/private/o', 'x');
  const allTokens = ['tk-ann', 'tk-bob', 'tk-root', null, 'tk-none', 'tk-old'];
  assert.deepEqual(await statuses('', 'GET', allTokens), [200, 403, 403, 401, 401, 401]);
  assert.deepEqual(await statuses('/private', 'HEAD', allTokens), [204, 403, 403, 401, 401, 401]);
  assert.deepEqual(await statuses('/private/o', 'GET', allTokens), [200, 403, 403, 401, 401, 401]);
  assert.deepEqual(await statuses('/nowhere/o', 'GET', ['tk-ann', 'tk-bob', null]), [404, 403, 401]);
  assert.deepEqual(await statuses('/v1/AUTH_unknown/c', 'GET', ['tk-ann', null]), [403, 401]);
});

test('administrators of the array reach other accounts while that is switched on', async () => {
  await swift.ask('/reached', { method: 'PUT' });
  assert.deepEqual(await statuses('/reached', 'HEAD', ['tk-root']), [403]);
  swift.settings = { ...swift.settings, adminAccess: true };
  assert.deepEqual(await statuses('/reached', 'HEAD', ['tk-root']), [204]);
  assert.deepEqual(await statuses('/v1/AUTH_unknown', 'HEAD', ['tk-root']), [404]);
  swift.settings = { ...swift.settings, adminAccess: false };
});

test('accounts are found by name only where addresses may have names', async () => {
  assert.equal((await swift.ask('/v1/AUTH_alpha')).status, 403);
  swift.settings = { ...swift.settings, accountNames: true };
  assert.equal((await swift.ask('/v1/AUTH_alpha')).status, 200);
  swift.settings = { ...swift.settings, accountNames: false };
});

test('a disabled account is refused on the next request', async () => {
  swift.disabled.add(ALPHA);
  assert.deepEqual(await statuses('', 'HEAD', ['tk-ann', 'tk-root']), [403, 403]);
  swift.disabled.delete(ALPHA);
  assert.deepEqual(await statuses('', 'HEAD', ['tk-ann']), [204]);
});

test('read ACLs open objects, and listings where they say so', async () => {
  const set = (headers: Record<string, string>) => swift.ask('/acl', { method: 'POST', headers });
  await swift.ask('/acl', { method: 'PUT' });
  await swift.put('/acl/o', 'x');
  const who = ['tk-bob', null];
  await set({ 'x-container-read': '.r:*' });
  assert.deepEqual(await statuses('/acl/o', 'GET', who), [200, 200]);
  assert.deepEqual(await statuses('/acl', 'GET', who), [403, 401]);
  await set({ 'x-container-read': '.r:*,.rlistings' });
  assert.deepEqual(await statuses('/acl', 'GET', who), [200, 200]);
  await set({ 'x-container-read': `${BETA}:bob` });
  assert.deepEqual(await statuses('/acl/o', 'GET', who), [200, 401]);
  assert.deepEqual(await statuses('/acl/o', 'DELETE', who), [403, 401]);
  await set({ 'x-container-write': BETA });
  assert.equal((await swift.ask('/acl/p', { method: 'PUT', token: 'tk-bob', body: 'y' })).status, 201);
  assert.deepEqual(await statuses('/acl', 'POST', who), [403, 401]);
  assert.deepEqual(await statuses('/acl', 'DELETE', who), [403, 401]);
  const seen = await swift.ask('/acl', { method: 'HEAD', token: 'tk-bob' });
  assert.equal(seen.headers['x-container-read'], undefined);
  assert.equal((await swift.ask('/acl', { method: 'HEAD' })).headers['x-container-read'], `${BETA}:bob`);
  await set({ 'x-remove-container-read': 'x' });
  assert.deepEqual(await statuses('/acl/o', 'GET', who), [403, 401]);
  assert.equal((await set({ 'x-container-write': '.r:*' })).status, 400);
});

test('a public access block takes the effect of public ACLs, and refuses to set them', async () => {
  await swift.ask('/blocked', { method: 'PUT', headers: { 'x-container-read': '.r:*,.rlistings' } });
  await swift.put('/blocked/o', 'x');
  const { id: bucket } = swift.store.bucket(ALPHA, 'blocked')!;
  const block = (publicAccessBlock: Record<string, boolean>) => {
    const none = { blockPublicAcls: false, ignorePublicAcls: false, blockPublicPolicy: false };
    const settings = { publicAccessBlock: { ...none, restrictPublicBuckets: false, ...publicAccessBlock } };
    return swift.store.commit('changeBucket', { bucket, settings, at: Date.now() });
  };
  const set = async (headers: Record<string, string>) =>
    (await swift.ask('/blocked', { method: 'POST', headers })).status;
  const who = ['tk-ann', 'tk-bob', null];
  assert.deepEqual(await statuses('/blocked/o', 'GET', who), [200, 200, 200]);
  await block({ ignorePublicAcls: true });
  for (const path of ['/blocked/o', '/blocked']) assert.deepEqual(await statuses(path, 'GET', who), [200, 403, 401]);
  assert.equal(await set({ 'x-container-read': '*:*', 'x-container-write': '*:*' }), 204);
  assert.deepEqual(await statuses('/blocked/o', 'GET', who), [200, 403, 401]);
  assert.deepEqual(await statuses('/blocked/o', 'PUT', ['tk-bob']), [403]);
  assert.equal(await set({ 'x-container-read': `*:*,${BETA}:bob` }), 204);
  assert.deepEqual(await statuses('/blocked/o', 'GET', who), [200, 200, 401]);

  await block({ blockPublicAcls: true });
  for (const acl of ['.r:*', '.r:.example.org', '*:*']) assert.equal(await set({ 'x-container-read': acl }), 403, acl);
  assert.equal(await set({ 'x-container-write': '*:*' }), 403);
  assert.equal((await swift.ask('/blocked', { method: 'HEAD' })).headers['x-container-read'], `*:*,${BETA}:bob`);
  assert.equal(await set({ 'x-container-read': `${BETA}:bob,.r:-example.org` }), 204);
});

test('temporary addresses open one object for one method', async () => {
  await swift.ask('/temp', { method: 'PUT', headers: { 'x-container-meta-temp-url-key': 'inner' } });
  await swift.ask('/other', { method: 'PUT' });
  await swift.put('/temp/o', 'hello', { 'x-object-meta-secret': '1' });
  await swift.ask('', { method: 'POST', headers: { 'x-account-meta-temp-url-key': 'outer' } });
  const expires = Math.floor(Date.now() / 1000) + 100;
  const url = (method: string, path: string, key: string) => {
    const full = `/v1/AUTH_${ALPHA}${path}`;
    const sig = createHmac('sha256', key).update(`${method}\n${expires}\n${full}`).digest('hex');
    return `${full}?temp_url_sig=${sig}&temp_url_expires=${expires}`;
  };
  for (const key of ['inner', 'outer']) {
    const reply = await swift.ask(url('GET', '/temp/o', key), { token: null });
    assert.equal(reply.text, 'hello');
    assert.match(reply.headers['content-disposition'] ?? '', /^attachment; filename="o"/);
    assert.equal(reply.headers['x-object-meta-secret'], undefined);
    const put = await swift.ask(url('PUT', `/temp/${key}`, key), { method: 'PUT', token: null, body: 'new' });
    assert.equal(put.status, 201);
  }
  assert.equal((await swift.ask(url('GET', '/temp/o', 'wrong'), { token: null })).status, 401);
  assert.equal(
    (await swift.ask(url('GET', '/temp/o', 'inner'), { method: 'PUT', token: null, body: 'x' })).status,
    401,
  );
  assert.equal((await swift.ask(url('GET', '/temp', 'outer'), { token: null })).status, 401);
  const manifest = { method: 'PUT', token: null, headers: { 'x-object-manifest': 'temp/' } };
  assert.equal((await swift.ask(url('PUT', '/temp/m', 'outer'), manifest)).status, 400);
  const pointed = { method: 'POST', token: null, headers: { 'x-object-manifest': 'other/' } };
  assert.equal((await swift.ask(url('POST', '/temp/o', 'outer'), pointed)).status, 400);
  const archive = { method: 'PUT', token: null, body: Buffer.alloc(1024) };
  assert.equal((await swift.ask(`${url('PUT', '/temp/m', 'outer')}&extract-archive=tar`, archive)).status, 400);
  const copy = { method: 'PUT', token: null, headers: { 'x-copy-from': 'temp/o' } };
  assert.equal((await swift.ask(url('PUT', '/temp/m', 'outer'), copy)).status, 401);
  swift.ahead = 200_000;
  assert.equal((await swift.ask(url('GET', '/temp/o', 'outer'), { token: null })).status, 401);
  swift.ahead = 0;
});

test('pages of other origins are let in as the container says', async () => {
  await swift.ask('/cors', {
    method: 'PUT',
    headers: {
      'x-container-meta-access-control-allow-origin': 'http://a.example http://b.example',
      'x-container-meta-access-control-max-age': '60',
      'x-container-meta-access-control-expose-headers': 'x-foo',
    },
  });
  const ask = (origin: string, method = 'PUT') =>
    swift.ask('/cors/o', {
      method: 'OPTIONS',
      token: null,
      headers: { origin, 'access-control-request-method': method },
    });
  const good = await ask('http://b.example');
  assert.equal(good.status, 200);
  assert.equal(good.headers['access-control-allow-origin'], 'http://b.example');
  assert.equal(good.headers['access-control-max-age'], '60');
  assert.equal((await ask('http://c.example')).status, 401);
  assert.equal((await ask('http://b.example', 'TRACE')).status, 401);
  await swift.put('/cors/o', 'x');
  const got = await swift.ask('/cors/o', { headers: { origin: 'http://a.example' } });
  assert.equal(got.headers['access-control-allow-origin'], 'http://a.example');
  assert.match(got.headers['access-control-expose-headers'] ?? '', /x-foo/);
  const refused = await swift.ask('/cors/o', { headers: { origin: 'http://c.example' } });
  assert.equal(refused.headers['access-control-allow-origin'], undefined);
});

test('a policy that was put over S3 binds those who come by Swift', async () => {
  await swift.ask('/ruled', { method: 'PUT' });
  await swift.put('/ruled/open', 'x');
  await swift.put('/ruled/shut', 'x');
  const { id } = swift.store.bucket(ALPHA, 'ruled') ?? { id: 0 };
  const rule = (effect: string, principal: unknown, action: string | string[], key = '') => ({
    Effect: effect,
    Principal: principal,
    Action: action,
    Resource: `arn:aws:s3:::ruled${key}`,
  });
  const put = (...Statement: object[]) => {
    const policy = JSON.stringify({ Version: '2012-10-17', Statement });
    return swift.store.commit('changeBucket', { bucket: id, settings: { policy }, at: Date.now() });
  };
  const [ann, bob] = [{ AWS: `arn:aws:iam::${ALPHA}:user/ann` }, { AWS: BETA }];
  await put(
    rule('Deny', ann, 's3:*Object', '/shut'),
    rule('Deny', ann, 's3:ListBucket'),
    rule('Deny', '*', 's3:DeleteBucket'),
    rule('Allow', bob, 's3:GetObject', '/open'),
  );
  const whom = ['tk-ann', 'tk-bob', null];
  assert.deepEqual(await statuses('/ruled/shut', 'GET', whom), [403, 403, 401]);
  assert.deepEqual(await statuses('/ruled/open', 'GET', whom), [200, 200, 401]);
  for (const method of ['PUT', 'POST', 'DELETE']) {
    assert.deepEqual(await statuses('/ruled/shut', method, ['tk-ann']), [403], method);
  }
  assert.deepEqual(await statuses('/ruled/open', 'DELETE', ['tk-bob']), [403]);
  assert.deepEqual(await statuses('/ruled', 'GET', ['tk-ann', 'tk-bob']), [403, 403]);
  const segments = JSON.stringify([{ path: '/ruled/shut' }]);
  await swift.ask('/sly', { method: 'PUT' });
  const manifest = await swift.ask('/sly/m?multipart-manifest=put', { method: 'PUT', body: segments });
  assert.equal(manifest.status, 400);
  const copied = { method: 'PUT', headers: { 'x-copy-from': '/ruled/shut', 'content-length': '0' } };
  assert.equal((await swift.ask('/sly/c', copied)).status, 403);
  await swift.ask('/sly/d', { method: 'PUT', headers: { 'x-object-manifest': 'ruled/sh' } });
  assert.equal((await swift.ask('/sly/d')).status, 403);
  await put(
    rule('Deny', ann, ['s3:GetObjectVersion', 's3:DeleteObjectVersion'], '/*'),
    rule('Deny', ann, 's3:ListBucketVersions'),
  );
  const byVersion = '/ruled/open?version-id=null';
  for (const method of ['GET', 'DELETE'])
    assert.deepEqual(await statuses(byVersion, method, ['tk-ann']), [403], method);
  assert.deepEqual(await statuses('/ruled?versions', 'GET', ['tk-ann']), [403]);
  assert.deepEqual(await statuses('/ruled/open', 'GET', ['tk-ann']), [200]);
  assert.deepEqual(await statuses('/ruled', 'GET', ['tk-ann']), [200]);
  for (const path of ['/ruled/open', '/ruled/shut']) {
    await put(rule('Deny', '*', 's3:DeleteBucket'));
    await swift.ask(path, { method: 'DELETE' });
  }
  assert.deepEqual(await statuses('/ruled', 'DELETE', ['tk-ann']), [403]);
});
