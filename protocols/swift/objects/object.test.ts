import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ObjectError } from '@granary/storage/object-store';
import { BETA, serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => {
  swift = await serveSwift();
  await swift.ask('/c', { method: 'PUT' });
  await swift.ask('/cold', { method: 'PUT', headers: { 'x-storage-policy': 'three-copies' } });
});
after(() => swift.close());

const md5 = (bytes: string | Uint8Array) => createHash('md5').update(bytes).digest('hex');
const head = async (path: string) => (await swift.ask(path, { method: 'HEAD' })).headers;

test('Keep-Alive says how long the connection stays, except where the client closes it', async () => {
  const hint = async (connection: string) => (await swift.ask('/c', { headers: { connection } })).headers['keep-alive'];
  assert.deepEqual([await hint('keep-alive'), await hint('close')], ['timeout=50', undefined]);
});

test('bytes come back as they were put, small and large, with length or in chunks', async () => {
  for (const size of [0, 1, 4096, 1024 * 1024, 1024 * 1024 + 1, 3_000_000]) {
    const bytes = randomBytes(size);
    for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
      const put = await swift.put('/c/bytes', bytes, headers);
      assert.equal(put.status, 201);
      assert.equal(put.headers.etag, md5(bytes));
      const got = await swift.ask('/c/bytes');
      assert.equal(got.headers['content-length'], String(size));
      assert.ok(got.body.equals(bytes));
    }
  }
});

test('a wrong ETag is refused and changes nothing', async () => {
  await swift.put('/c/etag', 'old');
  for (const body of ['new', 'n'.repeat(2_000_000)]) {
    assert.equal((await swift.put('/c/etag', body, { etag: md5('other') })).status, 422);
    assert.equal((await swift.ask('/c/etag')).text, 'old');
    assert.equal((await swift.put('/c/right', body, { etag: `"${md5(body)}"` })).status, 201);
  }
});

test('what a PUT needs is asked for', async () => {
  assert.equal((await swift.put('/none/o', 'x')).status, 404);
  assert.equal((await swift.put('/c/new', 'x', { 'if-none-match': '*' })).status, 201);
  assert.equal((await swift.put('/c/new', 'x', { 'if-none-match': '*' })).status, 412);
  assert.equal((await swift.put('/c/new', 'x', { 'if-none-match': '"abc"' })).status, 400);
  assert.equal((await swift.put('/c/new', 'x', { 'x-symlink-target': 'c/o' })).status, 400);
  assert.equal((await swift.put('/c/new', 'x', { 'x-object-manifest': 'nothing' })).status, 400);
  assert.equal((await swift.put('/c/new', 'x', { 'x-object-meta-a': 'x'.repeat(257) })).status, 400);
});

test('headers and metadata are kept; POST replaces them and leaves the bytes', async () => {
  const before = {
    'content-type': 'text/a',
    'content-encoding': 'gzip',
    'content-disposition': 'inline',
    'x-object-meta-a': '1',
  };
  await swift.put('/c/meta', 'bytes', before);
  const first = await head('/c/meta');
  for (const [name, value] of Object.entries(before)) assert.equal(first[name], value);
  assert.match(String(first['x-timestamp']), /^\d{10}\.\d{5}$/);
  assert.match(String(first['x-trans-id']), /^tx[0-9a-f]{21}-[0-9a-f]{10}$/);
  assert.equal(first['x-openstack-request-id'], first['x-trans-id']);
  const post = await swift.ask('/c/meta', {
    method: 'POST',
    headers: { 'x-object-meta-b': '2', 'content-disposition': 'x' },
  });
  assert.equal(post.status, 202);
  const second = await swift.ask('/c/meta');
  assert.equal(second.text, 'bytes');
  assert.equal(second.headers['content-type'], 'text/a');
  assert.equal(second.headers['content-disposition'], 'x');
  assert.equal(second.headers['content-encoding'], undefined);
  assert.equal(second.headers['x-object-meta-a'], undefined);
  assert.equal(second.headers['x-object-meta-b'], '2');
  assert.equal((await swift.ask('/c/missing', { method: 'POST' })).status, 404);
  await swift.put('/c/guess.JSON', '{}');
  assert.equal((await head('/c/guess.JSON'))['content-type'], 'application/json');
});

test('an object is gone at the moment it expires', async () => {
  const at = Math.floor(Date.now() / 1000) + 100;
  await swift.put('/c/expires', 'x', { 'x-delete-at': String(at) });
  assert.equal((await head('/c/expires'))['x-delete-at'], String(at));
  swift.ahead = 101_000;
  for (const method of ['GET', 'HEAD', 'DELETE', 'POST']) {
    assert.equal((await swift.ask('/c/expires', { method })).status, 404, method);
  }
  swift.ahead = 0;
  await swift.ask('/c/expires', { method: 'POST' });
  assert.equal((await head('/c/expires'))['x-delete-at'], undefined);
  await swift.put('/c/expires', 'x', { 'x-delete-after': '50' });
  assert.ok(Number((await head('/c/expires'))['x-delete-at']) >= at - 51);
  for (const headers of [{ 'x-delete-at': '1' }, { 'x-delete-at': 'x' }, { 'x-delete-after': '-1' }]) {
    assert.equal((await swift.put('/c/expires', 'x', headers as Record<string, string>)).status, 400);
  }
});

test('one range, several ranges and impossible ranges are answered as HTTP has it', async () => {
  await swift.put('/c/range', '0123456789', { 'content-type': 'text/plain' });
  const get = (range: string, more: Record<string, string> = {}) =>
    swift.ask('/c/range', { headers: { range, ...more } });
  const one = await get('bytes=2-4');
  assert.equal(one.status, 206);
  assert.equal(one.text, '234');
  assert.equal(one.headers['content-range'], 'bytes 2-4/10');
  assert.equal((await get('bytes=-2')).text, '89');
  const several = await get('bytes=0-1,8-');
  assert.equal(several.status, 206);
  const boundary = /boundary=(\w+)/.exec(several.headers['content-type'] ?? '')?.[1] ?? '';
  const parts = several.text.split(`--${boundary}`);
  assert.equal(parts.length, 4);
  assert.match(parts[1] ?? '', /Content-Range: bytes 0-1\/10\r\n\r\n01\r\n$/);
  assert.match(parts[2] ?? '', /Content-Range: bytes 8-9\/10\r\n\r\n89\r\n$/);
  assert.equal(several.body.length, Number(several.headers['content-length']));
  const none = await get('bytes=10-');
  assert.equal(none.status, 416);
  assert.equal(none.headers['content-range'], 'bytes */10');
  assert.equal((await get('nonsense')).status, 200);
  assert.equal((await get('bytes=0-1', { 'if-range': `"${md5('0123456789')}"` })).status, 206);
  assert.equal((await get('bytes=0-1', { 'if-range': '"other"' })).status, 200);
});

test('conditions are checked before anything is sent', async () => {
  await swift.put('/c/cond', 'x');
  const etag = md5('x');
  const status = async (headers: Record<string, string>, method = 'GET') =>
    (await swift.ask('/c/cond', { method, headers })).status;
  assert.equal(await status({ 'if-match': etag }), 200);
  assert.equal(await status({ 'if-match': '"no"' }), 412);
  assert.equal(await status({ 'if-none-match': `"${etag}"` }), 304);
  assert.equal(await status({ 'if-none-match': '*' }, 'HEAD'), 304);
  const past = new Date(Date.now() - 100_000).toUTCString();
  const future = new Date(Date.now() + 100_000).toUTCString();
  assert.equal(await status({ 'if-modified-since': future }), 304);
  assert.equal(await status({ 'if-modified-since': past }), 200);
  assert.equal(await status({ 'if-unmodified-since': past }), 412);
  assert.equal(await status({ 'if-unmodified-since': future }), 200);
});

test('copies keep what the source has unless the request says otherwise', async () => {
  await swift.put('/c/from%20%C3%BC', 'copied', {
    'content-type': 'text/a',
    'x-object-meta-a': '1',
    'x-object-meta-b': '2',
  });
  const from = encodeURIComponent('from ü');
  const to = { destination: '/cold/to', 'x-object-meta-b': '3' };
  const copy = await swift.ask(`/c/${from}`, { method: 'COPY', headers: to });
  assert.equal(copy.status, 201);
  assert.equal(copy.headers['x-copied-from'], `c/${from}`);
  const got = await swift.ask('/cold/to');
  assert.equal(got.text, 'copied');
  assert.equal(got.headers['content-type'], 'text/a');
  assert.equal(got.headers['x-object-meta-a'], '1');
  assert.equal(got.headers['x-object-meta-b'], '3');
  const put = { 'x-copy-from': `c/${from}`, 'x-fresh-metadata': 'true', 'content-length': '0' };
  assert.equal((await swift.ask('/c/fresh', { method: 'PUT', headers: put })).status, 201);
  assert.equal((await head('/c/fresh'))['x-object-meta-a'], undefined);
  assert.equal((await swift.ask('/c/fresh')).text, 'copied');
  const self = { destination: `c/${from}`, 'x-object-meta-c': '4' };
  assert.equal((await swift.ask(`/c/${from}`, { method: 'COPY', headers: self })).status, 201);
  assert.equal((await swift.ask(`/c/${from}`)).text, 'copied');
  assert.equal((await head(`/c/${from}`))['x-object-meta-c'], '4');
  const fail = async (headers: Record<string, string>) => (await swift.ask('/c/x', { method: 'PUT', headers })).status;
  assert.equal(await fail({ 'x-copy-from': 'nothing', 'content-length': '0' }), 412);
  assert.equal(await fail({ 'x-copy-from': 'c/none', 'content-length': '0' }), 404);
  assert.equal(await fail({ 'x-copy-from': 'c/o', 'x-copy-from-account': BETA, 'content-length': '0' }), 403);
  assert.equal((await swift.ask('/c/fresh', { method: 'COPY' })).status, 412);
});

test('errors of the store have their own status', async () => {
  await swift.put('/c/fault', 'x');
  const status = async (code: ConstructorParameters<typeof ObjectError>[0], method: string) => {
    swift.store.fault = new ObjectError(code, code);
    const reply = await swift.ask('/c/fault', { method, ...(method === 'PUT' ? { body: 'y' } : {}) });
    swift.store.fault = undefined;
    return reply.status;
  };
  assert.equal(await status('encryption-locked', 'GET'), 503);
  assert.equal(await status('encryption-locked', 'PUT'), 503);
  assert.equal(await status('no-space', 'PUT'), 507);
  assert.equal(await status('no-quorum', 'PUT'), 503);
  swift.mayChange = false;
  const slow = await swift.put('/c/fault', 'y');
  assert.equal(slow.status, 429);
  assert.equal(slow.headers['retry-after'], '1');
  assert.equal((await swift.ask('/c/fault')).text, 'x');
  swift.mayChange = true;
});

test('an upload of another protocol in parts does not pass for an MD5', async () => {
  const bucket = swift.store.bucket('a'.repeat(32), 'c');
  assert.ok(bucket);
  const content = await swift.store.stage(bucket.policy, Buffer.from('parts'));
  const put = {
    bucket: bucket.id,
    key: 'parts',
    content,
    size: 5,
    etag: `${md5('p')}-2`,
  } as const;
  await swift.store.commit('putObject', { ...put, owner: '', attributes: {}, at: Date.now() });
  const got = await swift.ask('/c/parts');
  assert.equal(got.headers.etag, `"${md5('p')}-2"`);
  assert.equal(got.headers['x-static-large-object'], 'True');
  assert.equal((await swift.ask('/c/parts?multipart-manifest=get')).text, '[]');
  assert.equal((await swift.ask('/c/parts?multipart-manifest=delete', { method: 'DELETE' })).status, 200);
  assert.equal((await swift.ask('/c/parts')).status, 404);
});
