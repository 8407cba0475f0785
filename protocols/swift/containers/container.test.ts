import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => (swift = await serveSwift()));
after(() => swift.close());

const make = (path: string, headers: Record<string, string> = {}) => swift.ask(path, { method: 'PUT', headers });
const change = (path: string, headers: Record<string, string>) => swift.ask(path, { method: 'POST', headers });
const json = async (path: string) => JSON.parse((await swift.ask(path)).text) as Record<string, unknown>[];
const names = async (path: string) => (await swift.ask(path)).text.split('\n').slice(0, -1);

test('a container is made once, keeps its policy and goes only when it is empty', async () => {
  assert.equal((await make('/one', { 'x-storage-policy': 'Three-Copies' })).status, 201);
  assert.equal((await make('/one')).status, 202);
  assert.equal((await make('/one', { 'x-storage-policy': 'two-copies' })).status, 409);
  assert.equal((await make('/two', { 'x-storage-policy': 'none' })).status, 400);
  const head = await swift.ask('/one', { method: 'HEAD' });
  assert.equal(head.status, 204);
  assert.equal(head.headers['x-storage-policy'], 'three-copies');
  await swift.put('/one/o', 'x');
  assert.equal((await swift.ask('/one', { method: 'DELETE' })).status, 409);
  await swift.ask('/one/o', { method: 'DELETE' });
  assert.equal((await swift.ask('/one', { method: 'DELETE' })).status, 204);
  assert.equal((await swift.ask('/one', { method: 'DELETE' })).status, 404);
});

test('metadata is added, replaced and removed within its limits', async () => {
  await make('/meta', { 'x-container-meta-a': '1', 'x-container-meta-b': '2', 'x-container-meta-__proto__': 'p' });
  await change('/meta', {
    'x-container-meta-a': Buffer.from('größe').toString('latin1'),
    'x-remove-container-meta-b': 'x',
  });
  const { headers } = await swift.ask('/meta', { method: 'HEAD' });
  assert.equal(Buffer.from(headers['x-container-meta-a'] as string, 'latin1').toString(), 'größe');
  assert.equal(headers['x-container-meta-b'], undefined);
  assert.equal(headers['x-container-meta-__proto__'], 'p');
  assert.equal((await change('/meta', { 'x-container-meta-c': 'x'.repeat(257) })).status, 400);
  assert.equal((await change('/meta', { [`x-container-meta-${'n'.repeat(129)}`]: 'x' })).status, 400);
  const many = Object.fromEntries(Array.from({ length: 91 }, (_, at) => [`x-container-meta-n${at}`, 'x']));
  assert.equal((await change('/meta', many)).status, 400);
  assert.equal((await change('/meta', { 'x-container-sync-to': 'old' })).status, 400);
});

test('quotas of bytes and objects are kept', async () => {
  await make('/quota', { 'x-container-meta-quota-bytes': '10', 'x-container-meta-quota-count': '2' });
  assert.equal((await swift.put('/quota/a', '12345678')).status, 201);
  assert.equal((await swift.put('/quota/b', '123')).status, 413);
  const chunked = { 'transfer-encoding': 'chunked' };
  assert.equal((await swift.put('/quota/b', '123', chunked)).status, 413);
  assert.equal((await swift.put('/quota/b', '12', chunked)).status, 201);
  assert.equal((await swift.put('/quota/c', '')).status, 413);
  assert.equal((await swift.ask('/quota', { method: 'HEAD' })).headers['x-container-meta-quota-bytes'], '10');
  await change('/quota', { 'x-remove-container-meta-quota-bytes': 'x', 'x-container-meta-quota-count': '' });
  assert.equal((await swift.put('/quota/c', '123')).status, 201);
  assert.equal((await change('/quota', { 'x-container-meta-quota-bytes': 'x' })).status, 400);
});

test('objects are listed in every format and by every bound', async () => {
  await make('/list');
  const keys = ['a', 'b/1', 'b/2', 'b/c/3', 'c', 'd<&>"', 'ü', '\uffee', '😀'];
  for (const key of keys) await swift.put(`/list/${encodeURIComponent(key)}`, key, { 'content-type': 'text/x' });
  assert.deepEqual(await names('/list'), keys);
  assert.deepEqual(await names('/list?limit=2'), ['a', 'b/1']);
  assert.deepEqual(await names('/list?marker=b/2&end_marker=d'), ['b/c/3', 'c']);
  assert.deepEqual(await names('/list?prefix=b/'), ['b/1', 'b/2', 'b/c/3']);
  assert.deepEqual(await names('/list?reverse=true'), keys.toReversed());
  assert.deepEqual(await names('/list?reverse=on&marker=c&end_marker=b/1'), ['b/c/3', 'b/2']);
  assert.deepEqual(await names('/list?delimiter=/&limit=3'), ['a', 'b/', 'c']);
  assert.deepEqual(await names('/list?delimiter=/&limit=2&marker=b/'), ['c', 'd<&>"']);
  assert.deepEqual(await names('/list?delimiter=/&reverse=1&marker=d'), ['c', 'b/', 'a']);
  assert.deepEqual(await names('/list?delimiter=/&prefix=b/'), ['b/1', 'b/2', 'b/c/']);
  assert.deepEqual(await names('/list?path=b'), ['b/1', 'b/2']);
  await swift.put('/list/b/c/', '');
  assert.deepEqual(await names('/list?path=b&limit=3'), ['b/1', 'b/2', 'b/c/']);
  assert.deepEqual(await names('/list?path='), ['a', 'c', 'd<&>"', 'ü', '\uffee', '😀']);
  const [first, folder] = await json('/list?format=json&delimiter=/');
  assert.deepEqual(Object.keys(first ?? {}), ['name', 'hash', 'bytes', 'content_type', 'last_modified']);
  assert.match(String(first?.['last_modified']), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}$/);
  assert.deepEqual(folder, { subdir: 'b/' });
  const xml = await swift.ask('/list?delimiter=/', { headers: { accept: 'application/xml' } });
  assert.match(xml.headers['content-type'] ?? '', /^application\/xml/);
  assert.match(xml.text, /<container name="list"><object><name>a<\/name>/);
  assert.match(xml.text, /<subdir name="b\/"><name>b\/<\/name><\/subdir>/);
  assert.match(xml.text, /<name>d&lt;&amp;&gt;&quot;<\/name>/);
  assert.equal((await swift.ask('/list?prefix=zz')).status, 204);
  assert.deepEqual(await json('/list?prefix=zz&format=json'), []);
  assert.equal((await swift.ask('/list?limit=10001')).status, 412);
});

test('containers are listed with what they hold, and the account with all of it', async () => {
  for (const name of ['x1', 'x2-a', 'x2-b', 'x3']) await make(`/${name}`);
  await swift.put('/x1/o', '12345');
  assert.deepEqual(await names('?prefix=x'), ['x1', 'x2-a', 'x2-b', 'x3']);
  assert.deepEqual(await names('?prefix=x&delimiter=-'), ['x1', 'x2-', 'x3']);
  assert.deepEqual(await names('?prefix=x&delimiter=-&marker=x2-'), ['x3']);
  assert.deepEqual(await names('?prefix=x&reverse=yes&limit=2&marker=x3'), ['x2-b', 'x2-a']);
  const [first] = await json('?prefix=x&format=json');
  assert.equal(first?.['count'], 1);
  assert.equal(first['bytes'], 5);
  const { headers } = await swift.ask('', { method: 'HEAD' });
  assert.ok(Number(headers['x-account-container-count']) >= 4);
  assert.ok(Number(headers['x-account-storage-policy-two-copies-bytes-used']) >= 5);
  await change('', { 'x-account-meta-colour': 'red' });
  assert.equal((await swift.ask('', { method: 'HEAD' })).headers['x-account-meta-colour'], 'red');
  await change('', { 'x-remove-account-meta-colour': 'x' });
  assert.equal((await swift.ask('', { method: 'HEAD' })).headers['x-account-meta-colour'], undefined);
  assert.equal((await change('', { 'x-account-meta-quota-bytes': '1' })).status, 403);
  assert.equal((await swift.ask('', { method: 'DELETE' })).status, 403);
});

test('versions are kept, listed, read, restored and removed', async () => {
  await make('/ver', { 'x-versions-enabled': 'true' });
  assert.equal((await swift.ask('/ver', { method: 'HEAD' })).headers['x-versions-enabled'], 'True');
  const first = (await swift.put('/ver/o', 'one')).headers['x-object-version-id'] as string;
  await swift.put('/ver/o', 'two');
  await swift.ask('/ver/o', { method: 'DELETE' });
  assert.equal((await swift.ask('/ver/o')).status, 404);
  assert.equal((await swift.ask(`/ver/o?version-id=${first}`)).text, 'one');
  const all = await json('/ver?versions&format=json');
  assert.deepEqual(
    all.map((entry) => entry['is_latest']),
    [true, false, false],
  );
  assert.match(String(all[0]?.['content_type']), /^application\/x-deleted/);
  const [marker, rest] = await Promise.all([
    json('/ver?versions&format=json&limit=1'),
    json(`/ver?versions&format=json&marker=o&version_marker=${String(all[0]?.['version_id'])}`),
  ]);
  assert.equal(marker.length, 1);
  assert.equal(rest.length, 2);
  assert.equal(
    (await swift.ask(`/ver/o?version-id=${first}`, { method: 'PUT', headers: { 'content-length': '0' } })).status,
    201,
  );
  assert.equal((await swift.ask('/ver/o')).text, 'one');
  for (const { version_id: id } of await json('/ver?versions&format=json')) {
    assert.equal((await swift.ask(`/ver/o?version-id=${String(id)}`, { method: 'DELETE' })).status, 204);
  }
  assert.deepEqual(await json('/ver?versions&format=json'), []);
  await change('/ver', { 'x-versions-enabled': 'false' });
  assert.equal((await swift.ask('/ver', { method: 'HEAD' })).headers['x-versions-enabled'], 'False');
  assert.equal((await swift.ask('/ver', { method: 'DELETE' })).status, 204);
});

test('requests that change a container at the same time all succeed, and nothing of them is lost', async () => {
  await make('/race');
  const names = Array.from({ length: 12 }, (_, number) => `x-container-meta-n${number}`);
  const replies = await Promise.all([
    ...names.map((name) => change('/race', { [name]: 'set' })),
    change('/race', { 'x-container-read': '.r:*' }),
    change('/race', { 'x-container-write': `${'e'.repeat(32)}:*` }),
  ]);
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [204]);
  const { headers } = await swift.ask('/race', { method: 'HEAD' });
  for (const name of names) assert.equal(headers[name], 'set', name);
  assert.deepEqual([headers['x-container-read'], headers['x-container-write']], ['.r:*', `${'e'.repeat(32)}:*`]);
});
