import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { MAX_MANIFEST_BYTES, openStaticLargeObject } from '../../objects/static-large-object.ts';
import { ALPHA, serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => {
  swift = await serveSwift();
  for (const name of ['/c', '/seg', '/open']) await swift.ask(name, { method: 'PUT' });
});
after(() => swift.close());

const md5 = (bytes: string | Uint8Array) => createHash('md5').update(bytes).digest('hex');
const manifest = (path: string, entries: unknown, query = '', headers: Record<string, string> = {}) =>
  swift.put(
    `${path}?multipart-manifest=put${query}`,
    typeof entries === 'string' ? entries : JSON.stringify(entries),
    headers,
  );
const segments = async (prefix: string, sizes: readonly number[]) => {
  const bytes = sizes.map((size) => randomBytes(size));
  for (const [index, each] of bytes.entries()) await swift.put(`/seg/${prefix}${index}`, each);
  return bytes;
};

test('a static large object reads as its segments, whole, by ranges and nested', async () => {
  const [a, b, c] = (await segments('s', [100, 70_000, 33])) as [Buffer, Buffer, Buffer];
  const inner = await manifest('/c/inner', [
    { path: '/seg/s0', etag: md5(a), size_bytes: 100 },
    { path: 'seg/s1', etag: null, range: '10-19' },
  ]);
  assert.equal(inner.status, 201);
  assert.equal(inner.headers.etag, `"${md5(`${md5(a)}${md5(b)}:10-19;`)}"`);
  const outer = await manifest(
    '/c/outer',
    [{ path: '/c/inner', size_bytes: 110 }, { path: '/seg/s2' }, { path: '/seg/s1' }],
    '',
    {
      'content-type': 'video/x',
      'x-object-meta-a': '1',
    },
  );
  assert.equal(outer.status, 201);
  const whole = Buffer.concat([a, b.subarray(10, 20), c, b]);
  const got = await swift.ask('/c/outer');
  assert.equal(got.status, 200);
  assert.ok(got.body.equals(whole));
  assert.equal(got.headers['x-static-large-object'], 'True');
  assert.equal(got.headers['content-type'], 'video/x');
  assert.equal(got.headers['x-object-meta-a'], '1');
  assert.equal(got.headers.etag, outer.headers.etag);
  assert.equal((await swift.ask('/c/outer', { method: 'HEAD' })).headers['content-length'], String(whole.length));
  await fc.assert(
    fc.asyncProperty(fc.nat(whole.length - 1), fc.nat(whole.length - 1), async (x, y) => {
      const [first, last] = [Math.min(x, y), Math.max(x, y)];
      const part = await swift.ask('/c/outer', { headers: { range: `bytes=${first}-${last}` } });
      assert.equal(part.status, 206);
      assert.ok(part.body.equals(whole.subarray(first, last + 1)));
    }),
    { numRuns: 25 },
  );
  const bucket = swift.store.bucket(ALPHA, 'c');
  const version = bucket && swift.store.version(bucket.id, 'outer');
  assert.ok(version);
  const pieces: Uint8Array[] = [];
  for await (const piece of await openStaticLargeObject(swift.store, version)) pieces.push(piece);
  assert.ok(Buffer.concat(pieces).equals(whole));
  const listed = JSON.parse((await swift.ask('/c?format=json&prefix=outer')).text) as Record<string, unknown>[];
  assert.equal(listed[0]?.['bytes'], whole.length);
  assert.equal(listed[0]['slo_etag'], outer.headers.etag);
});

test('a manifest is checked before it is kept', async () => {
  await segments('v', [10]);
  const bad = async (entries: unknown) => (await manifest('/c/bad', entries)).status;
  assert.equal(await bad('not json'), 400);
  assert.equal(await bad({}), 400);
  assert.equal(await bad([]), 400);
  assert.equal(await bad([{ path: '/seg' }]), 400);
  assert.equal(await bad([{ path: '/seg/v0', data: 'eA==' }]), 400);
  assert.equal(await bad([{ path: '/seg/v0', size_bytes: 0 }]), 400);
  assert.equal(await bad([{ path: '/seg/v0', range: 'x' }]), 400);
  assert.equal(await bad(Array.from({ length: 1001 }, () => ({ path: '/seg/v0' }))), 413);
  const reply = await manifest(
    '/c/bad',
    [
      { path: '/seg/none' },
      { path: '/seg/v0', size_bytes: 11 },
      { path: '/seg/v0', etag: md5('x') },
      { path: '/seg/v0', range: '10-12' },
    ],
    '&format=json',
  );
  assert.equal(reply.status, 400);
  assert.deepEqual((JSON.parse(reply.text) as { Errors: unknown }).Errors, [
    ['/seg/none', '404 Not Found'],
    ['/seg/v0', 'Size Mismatch'],
    ['/seg/v0', 'Etag Mismatch'],
    ['/seg/v0', 'Unsatisfiable Range'],
  ]);
  assert.equal((await manifest('/c/bad', [{ path: '/seg/v0' }], '', { etag: md5('x') })).status, 422);
  assert.equal((await swift.ask('/c/bad')).status, 404);
  const beat = await manifest('/c/beat', [{ path: '/seg/v0' }], '&heartbeat=on&format=json');
  assert.equal(beat.status, 202);
  assert.equal((JSON.parse(beat.text) as Record<string, unknown>)['Response Status'], '201 Created');
});

test('a manifest that would be kept longer than can be read is refused, and stores nothing', async () => {
  await segments('w', [10]);
  const around = JSON.stringify([{ path: '/seg/w0' }, { data: '' }]).length;
  const data = 'AAAA'.repeat((MAX_MANIFEST_BYTES - around) >> 2);
  assert.equal((await manifest('/c/wide', [{ path: '/seg/w0' }, { data }])).status, 413);
  assert.equal((await swift.ask('/c/wide')).status, 404);
});

test('a report in a format that is not there is refused before anything is changed', async () => {
  await segments('f', [10]);
  const image = { accept: 'image/png' };
  assert.equal((await manifest('/c/formed', [{ path: '/seg/f0' }], '&heartbeat=on', image)).status, 406);
  assert.equal((await swift.ask('/c/formed')).status, 404);
  assert.equal((await manifest('/c/formed', [{ path: '/seg/f0' }], '', image)).status, 201, 'without a report');
  const removal = { method: 'DELETE', headers: image };
  assert.equal((await swift.ask('/c/formed?multipart-manifest=delete', removal)).status, 406);
  for (const path of ['/c/formed', '/seg/f0']) assert.equal((await swift.ask(path)).status, 200, path);
});

test('what comes before a segment that is gone is sent, and then the connection is cut', async () => {
  for (const name of ['h0', 'h1']) await swift.put(`/seg/${name}`, '0123456789');
  await manifest('/c/half', [{ path: '/seg/h0' }, { path: '/seg/h1' }]);
  await swift.ask('/seg/h1', { method: 'DELETE' });
  const { hostname, port } = new URL(swift.url);
  const socket = connect(Number(port), hostname);
  socket.write(`GET /v1/AUTH_${ALPHA}/c/half HTTP/1.1\r\nHost: x\r\nX-Auth-Token: tk-ann\r\n\r\n`);
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const [head = '', body] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  assert.match(head, /^HTTP\/1.1 200 /);
  assert.match(head, /content-length: 20/i);
  assert.equal(body, '0123456789');
});

test('a manifest whose segments are gone or changed is a conflict, not half an object', async () => {
  await segments('g', [10, 10]);
  await manifest('/c/gone', [{ path: '/seg/g0' }, { path: '/seg/g1' }]);
  await swift.put('/seg/g0', 'other');
  assert.equal((await swift.ask('/c/gone')).status, 409);
  assert.equal((await swift.ask('/c/gone', { headers: { range: 'bytes=10-' } })).status, 206);
  await swift.ask('/seg/g1', { method: 'DELETE' });
  assert.equal((await swift.ask('/c/gone', { headers: { range: 'bytes=10-' } })).status, 409);
});

test('segments are open only to those who may read their container', async () => {
  await segments('p', [10]);
  await manifest('/open/o', [{ path: '/seg/p0' }]);
  await swift.ask('/open', { method: 'POST', headers: { 'x-container-read': '.r:*' } });
  assert.equal((await swift.ask('/open/o', { token: null })).status, 409);
  await swift.ask('/seg', { method: 'POST', headers: { 'x-container-read': '.r:*' } });
  assert.equal((await swift.ask('/open/o', { token: null })).status, 200);
});

test('a manifest can be got, put again, copied as it is or as a whole, and deleted with its segments', async () => {
  const bytes = Buffer.concat(await segments('m', [10, 20]));
  await manifest('/c/man', [{ path: '/seg/m0' }, { path: '/seg/m1', range: '0-19' }]);
  const shown = await swift.ask('/c/man?multipart-manifest=get');
  assert.match(shown.headers['content-type'] ?? '', /json/);
  const [first] = JSON.parse(shown.text) as Record<string, unknown>[];
  assert.equal(first?.['name'], '/seg/m0');
  assert.equal(first['bytes'], 10);
  const raw = await swift.ask('/c/man?multipart-manifest=get&format=raw');
  assert.equal((await manifest('/c/again', raw.text)).status, 201);
  assert.ok((await swift.ask('/c/again')).body.equals(bytes));
  await swift.ask('/c/man', { method: 'COPY', headers: { destination: 'c/flat' } });
  await swift.ask('/c/man?multipart-manifest=get', { method: 'COPY', headers: { destination: 'c/linked' } });
  assert.equal((await swift.ask('/c/flat', { method: 'HEAD' })).headers.etag, md5(bytes));
  assert.equal((await swift.ask('/c/flat', { method: 'HEAD' })).headers['x-static-large-object'], undefined);
  assert.equal((await swift.ask('/c/linked', { method: 'HEAD' })).headers['x-static-large-object'], 'True');
  await swift.ask('/c/man', { method: 'POST', headers: { 'x-object-meta-a': '1' } });
  assert.ok((await swift.ask('/c/man')).body.equals(bytes));
  const json = { accept: 'application/json' };
  const deleted = await swift.ask('/c/man?multipart-manifest=delete', { method: 'DELETE', headers: json });
  assert.equal((JSON.parse(deleted.text) as Record<string, unknown>)['Number Deleted'], 3);
  assert.equal((await swift.ask('/seg/m0')).status, 404);
  assert.ok((await swift.ask('/c/flat')).body.equals(bytes));
  assert.equal((await swift.ask('/c/flat?multipart-manifest=delete', { method: 'DELETE' })).status, 400);
});

test('manifests that name each other many times over are deleted at once', { timeout: 20_000 }, async () => {
  await segments('n', [1]);
  let path = '/seg/n0';
  for (let depth = 0; depth < 6; depth += 1) {
    await manifest(`/c/nest${depth}`, new Array(50).fill({ path }));
    path = `/c/nest${depth}`;
  }
  const json = { accept: 'application/json' };
  const deleted = await swift.ask(`${path}?multipart-manifest=delete`, { method: 'DELETE', headers: json });
  assert.equal((JSON.parse(deleted.text) as Record<string, unknown>)['Number Deleted'], 7);
});

test('a dynamic large object reads as everything below its prefix', async () => {
  const bytes = await segments('d/', [10, 70_000, 5]);
  const whole = Buffer.concat(bytes);
  await swift.put('/c/dyn', '', { 'x-object-manifest': 'seg/d%2F', 'content-type': 'text/x' });
  const got = await swift.ask('/c/dyn');
  assert.ok(got.body.equals(whole));
  assert.equal(got.headers['x-object-manifest'], 'seg/d/');
  assert.equal(got.headers.etag, `"${md5(bytes.map(md5).join(''))}"`);
  const part = await swift.ask('/c/dyn', { headers: { range: 'bytes=5-12' } });
  assert.ok(part.body.equals(whole.subarray(5, 13)));
  assert.equal((await swift.ask('/c/dyn?multipart-manifest=get')).text, '');
  await swift.put('/seg/d/3', 'more');
  assert.equal((await swift.ask('/c/dyn', { method: 'HEAD' })).headers['content-length'], String(whole.length + 4));
});

test('a manifest that names itself is refused, and the object stays', async () => {
  await swift.put('/c/self', 'the bytes');
  const [part] = (await segments('self', [10])) as [Buffer];
  const paths = [['/c/self'], ['c/self'], ['/seg/self0', '/c/self']];
  for (const named of paths) {
    const refused = await manifest(
      '/c/self',
      named.map((path) => ({ path })),
    );
    assert.equal(refused.status, 409, named.join());
  }
  assert.equal((await manifest('/c/self', [{ path: '/c/self', range: '0-2' }])).status, 409);
  assert.equal((await swift.ask('/c/self')).text, 'the bytes');
  assert.equal((await manifest('/c/whole', [{ path: '/seg/self0' }, { path: '/c/self' }])).status, 201);
  const onto = (destination: string) => ({ method: 'COPY', headers: { destination } });
  for (const destination of ['seg/self0', 'c/self']) {
    assert.equal((await swift.ask('/c/whole?multipart-manifest=get', onto(destination))).status, 409, destination);
  }
  const from = { 'x-copy-from': '/c/whole', 'content-length': '0' };
  const put = await swift.ask('/c/self?multipart-manifest=get', { method: 'PUT', headers: from });
  assert.equal(put.status, 409);
  assert.equal((await swift.ask('/c/whole')).text, `${part.toString()}the bytes`);
});
