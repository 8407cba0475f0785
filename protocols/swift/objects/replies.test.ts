import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serveSwift, type SwiftFixture } from '../testing/serve.ts';

/** What clients read of replies beside the bytes. */

let swift: SwiftFixture;
let etag: string;
before(async () => {
  swift = await serveSwift();
  await swift.ask('/c', { method: 'PUT' });
  etag = String((await swift.put('/c/o', '0123456789')).headers.etag);
});
after(() => swift.close());

test('a condition that does not hold is answered with the object as it is', async () => {
  for (const method of ['GET', 'HEAD']) {
    const failed = await swift.ask('/c/o', { method, headers: { 'if-match': 'x' } });
    assert.deepEqual([failed.status, failed.headers.etag, failed.text], [412, etag, '']);
    const same = await swift.ask('/c/o', { method, headers: { 'if-none-match': etag } });
    assert.deepEqual([same.status, same.headers.etag, same.headers['last-modified'] === undefined], [304, etag, false]);
  }
});

test('a range that is not there is answered with the ETag and the size', async () => {
  const { status, headers } = await swift.ask('/c/o', { headers: { range: 'bytes=50-60' } });
  assert.deepEqual(
    [status, headers['content-range'], headers.etag, headers['accept-ranges']],
    [416, 'bytes */10', etag, 'bytes'],
  );
});

test('errors say what was wrong in plain text, what became of the request in a page', async () => {
  const missing = await swift.ask('/c/none');
  assert.match(missing.headers['content-type'] ?? '', /^text\/html/);
  assert.match(missing.text, /^<html><h1>Not Found<\/h1><p>/);
  const wrong = await swift.ask('/c?limit=10001');
  assert.match(wrong.headers['content-type'] ?? '', /^text\/plain/);
  assert.equal(wrong.text, 'Maximum limit is 10000');
  assert.equal((await swift.ask('/c/none', { method: 'HEAD' })).text, '');
});

test('accounts and containers have a length of nothing where they have no body', async () => {
  for (const path of ['', '/c', '/c?prefix=none']) {
    const head = await swift.ask(path, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers['content-length']], [204, '0'], path);
  }
  const json = await swift.ask('?format=json', { method: 'HEAD' });
  assert.match(json.headers['content-type'] ?? '', /^application\/json/);
  assert.equal((await swift.ask('/c/o', { method: 'HEAD' })).headers['content-length'], '10');
});

test('listings come as Accept wants them most, and are refused where nothing of it is offered', async () => {
  const type = async (accept: string) => {
    const { status, headers } = await swift.ask('/c', { headers: { accept } });
    return status === 200 ? headers['content-type']?.split(';', 1)[0] : status;
  };
  assert.equal(await type('*/*'), 'text/plain');
  assert.equal(await type('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'), 'application/xml');
  assert.equal(await type('application/*'), 'application/json');
  assert.equal(await type('text/plain;q=0.1, application/json;q=0.2'), 'application/json');
  assert.equal(await type('image/png'), 406);
  assert.equal(await type('text/plain;q=0'), 406);
  assert.equal(await type('nonsense'), 400);
});

test('containers are listed with their policy, old versions are not counted', async () => {
  await swift.ask('/ver', {
    method: 'PUT',
    headers: { 'x-versions-enabled': 'true', 'x-storage-policy': 'three-copies' },
  });
  for (const body of ['one', 'two']) await swift.put('/ver/o', body);
  const xml = (await swift.ask('?format=xml&prefix=ver')).text;
  assert.match(
    xml,
    /<name>ver<\/name><count>1<\/count><bytes>6<\/bytes>.*<storage_policy>three-copies<\/storage_policy>/,
  );
  const { headers } = await swift.ask('/ver', { method: 'HEAD' });
  assert.deepEqual([headers['x-container-object-count'], headers['x-container-bytes-used']], ['1', '6']);
  const versions = await swift.ask('/ver?versions=false');
  assert.match(versions.headers['content-type'] ?? '', /^application\/json/);
  assert.equal((JSON.parse(versions.text) as unknown[]).length, 2);
});

test('a version is asked for by an id, and where there are versions', async () => {
  assert.equal((await swift.ask('/c/o?version-id=12ab')).status, 400);
  assert.equal((await swift.ask('/c/o?version-id=null')).status, 200);
  assert.equal((await swift.ask('/ver/o?version-id=never')).status, 400);
  assert.equal((await swift.ask('/ver/o?version-id=fffff')).status, 404);
});

test('a time of deletion in the far future is brought back to the last that is kept', async () => {
  for (const header of ['x-delete-at', 'x-delete-after']) {
    assert.equal((await swift.put('/c/far', 'x', { [header]: '99999999999' })).status, 201);
    assert.equal((await swift.ask('/c/far', { method: 'HEAD' })).headers['x-delete-at'], '9999999999');
    for (const value of ['-5', '0', 'soon', '1.5']) {
      assert.equal((await swift.put('/c/far', 'x', { [header]: value })).status, 400, `${header}: ${value}`);
    }
  }
});

test('restoring a version of a large object brings its manifest back', async () => {
  await swift.put('/c/s', 'segment');
  const put = await swift.put('/ver/large?multipart-manifest=put', JSON.stringify([{ path: '/c/s' }]));
  await swift.put('/ver/large', 'plain');
  const restored = await swift.put(`/ver/large?version-id=${String(put.headers['x-object-version-id'])}`, '');
  assert.equal(restored.status, 201);
  const read = await swift.ask('/ver/large');
  assert.deepEqual([read.text, read.headers['x-static-large-object']], ['segment', 'True']);
});
