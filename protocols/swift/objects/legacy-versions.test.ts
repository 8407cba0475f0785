import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => (swift = await serveSwift()));
after(() => swift.close());

const make = (path: string, headers: Record<string, string> = {}) => swift.ask(path, { method: 'PUT', headers });
const change = (path: string, headers: Record<string, string>) => swift.ask(path, { method: 'POST', headers });
const remove = async (path: string) => (await swift.ask(path, { method: 'DELETE' })).status;
const text = async (path: string) => (await swift.ask(path)).text;
const names = async (path: string) => (await text(path)).split('\n').slice(0, -1);

test('X-Versions-Location keeps what is overwritten, and a deletion brings it back', async () => {
  await make('/stack-old');
  assert.equal((await make('/stack', { 'x-versions-location': 'stack-old' })).status, 201);
  assert.equal((await swift.ask('/stack', { method: 'HEAD' })).headers['x-versions-location'], 'stack-old');
  for (const body of ['one', 'two', 'three']) await swift.put('/stack/o', body, { 'x-object-meta-is': body });
  const kept = await names('/stack-old');
  assert.equal(kept.length, 2);
  for (const name of kept) assert.match(name, /^001o\/\d{10}\.\d{5}$/);
  assert.deepEqual(await Promise.all(kept.map((name) => text(`/stack-old/${name}`))), ['one', 'two']);
  assert.equal(await remove('/stack/o'), 204);
  const back = await swift.ask('/stack/o');
  assert.deepEqual([back.text, back.headers['x-object-meta-is']], ['two', 'two']);
  assert.equal(await remove('/stack/o'), 204);
  assert.equal(await text('/stack/o'), 'one');
  assert.deepEqual(await names('/stack-old'), []);
  assert.equal(await remove('/stack/o'), 204);
  assert.equal(await remove('/stack/o'), 404);
});

test('X-History-Location keeps what is overwritten and deleted, with a marker of the deletion', async () => {
  await make('/history-old', { 'x-storage-policy': 'three-copies' });
  await make('/history', { 'x-history-location': 'history-old', 'x-storage-policy': 'two-copies' });
  assert.equal((await swift.ask('/history', { method: 'HEAD' })).headers['x-history-location'], 'history-old');
  await swift.put('/history/o', 'one');
  await swift.put('/history/o', 'two');
  assert.equal(await remove('/history/o'), 204);
  assert.equal((await swift.ask('/history/o')).status, 404);
  assert.equal(await remove('/history/o'), 404);
  const kept = JSON.parse(await text('/history-old?format=json')) as Record<string, unknown>[];
  assert.deepEqual(
    kept.map(({ content_type: type }) => String(type).startsWith('application/x-deleted')),
    [false, false, true],
  );
  assert.equal(await text(`/history-old/${String(kept[1]?.['name'])}`), 'two');
  await change('/history', { 'x-versions-location': 'history-old' });
  assert.equal(await remove('/history/o'), 204, 'as a stack, what was deleted comes back');
  assert.equal(await text('/history/o'), 'two');
});

test('writers at once lose no version', async () => {
  await make('/many-old');
  await make('/many', { 'x-versions-location': 'many-old' });
  const put = await Promise.all(Array.from({ length: 8 }, (_, at) => swift.put('/many/o', `body ${at}`)));
  assert.deepEqual(
    put.map(({ status, text: said }) => `${status} ${said}`),
    Array<string>(8).fill('201 '),
  );
  const kept = await Promise.all((await names('/many-old')).map((name) => text(`/many-old/${name}`)));
  const all = [...kept, await text('/many/o')];
  assert.deepEqual([all.length, new Set(all).size], [8, 8], 'each once');
});

test('old versions need their container, and one way of keeping them', async () => {
  await make('/lost', { 'x-versions-location': 'nowhere' });
  assert.equal((await swift.put('/lost/o', 'x')).status, 412);
  assert.equal((await change('/lost', { 'x-remove-versions-location': 'x' })).status, 204);
  assert.equal((await swift.put('/lost/o', 'x')).status, 201);
  assert.equal((await swift.ask('/lost', { method: 'HEAD' })).headers['x-versions-location'], undefined);
  const both = { 'x-versions-location': 'a', 'x-history-location': 'b' };
  assert.equal((await change('/lost', both)).status, 400);
  assert.equal((await change('/lost', { 'x-versions-location': 'a/b' })).status, 412);
  assert.equal((await change('/lost', { 'x-versions-location': 'lost' })).status, 400);
  assert.equal((await change('/lost', { 'x-versions-location': 'a', 'x-versions-enabled': 'true' })).status, 400);
  await change('/lost', { 'x-versions-location': 'a' });
  assert.equal((await change('/lost', { 'x-versions-enabled': 'true' })).status, 400);
  await change('/lost', { 'x-versions-location': '' });
  assert.equal((await change('/lost', { 'x-versions-enabled': 'true' })).status, 204);
});

test('a copy and a manifest onto an object keep what was there', async () => {
  await make('/onto-old');
  await make('/onto', { 'x-versions-location': 'onto-old' });
  await swift.put('/onto/o', 'first');
  await swift.put('/onto/source', 'second');
  await swift.ask('/onto/source', { method: 'COPY', headers: { destination: 'onto/o' } });
  const manifest = JSON.stringify([{ path: '/onto/source' }]);
  assert.equal((await swift.put('/onto/o?multipart-manifest=put', manifest)).status, 201);
  assert.deepEqual(await Promise.all((await names('/onto-old')).map((name) => text(`/onto-old/${name}`))), [
    'first',
    'second',
  ]);
});
