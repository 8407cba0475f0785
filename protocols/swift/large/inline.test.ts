import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => {
  swift = await serveSwift();
  await swift.ask('/s', { method: 'PUT' });
  await swift.put('/s/a', '0123456789');
  await swift.put('/s/b', 'abcdefghij');
});
after(() => swift.close());

const base64 = (text: string) => Buffer.from(text).toString('base64');
const md5 = (text: string) => createHash('md5').update(text).digest('hex');
const manifest = (name: string, entries: readonly object[]) =>
  swift.put(`/s/${name}?multipart-manifest=put`, JSON.stringify(entries));

test('a manifest carries bytes itself between ranges of its segments', async () => {
  const entries = [
    { data: base64('<') },
    { path: '/s/a', range: '2-4' },
    { data: base64('|') },
    { path: '/s/b', range: '-3' },
  ];
  const put = await manifest('mixed', entries);
  assert.equal(put.status, 201);
  const parts = [md5('<'), `${md5('0123456789')}:2-4;`, md5('|'), `${md5('abcdefghij')}:7-9;`];
  assert.equal(put.headers.etag, `"${md5(parts.join(''))}"`);
  const whole = await swift.ask('/s/mixed');
  assert.deepEqual([whole.text, whole.headers['content-length']], ['<234|hij', '8']);
  for (const [range, text] of [
    ['bytes=0-1', '<2'],
    ['bytes=3-5', '4|h'],
    ['bytes=-1', 'j'],
  ] as const) {
    const read = await swift.ask('/s/mixed', { headers: { range } });
    assert.deepEqual([read.status, read.text], [206, text]);
  }
  const raw = JSON.parse((await swift.ask('/s/mixed?multipart-manifest=get&format=raw')).text) as object[];
  assert.deepEqual(raw[0], { data: base64('<') });
  assert.equal((await manifest('again', raw)).headers.etag, put.headers.etag);
  await swift.ask('/s/again?multipart-manifest=delete', { method: 'DELETE' });
  assert.equal((await swift.ask('/s/again')).status, 404);
  await swift.put('/s/a', '0123456789');
  await swift.put('/s/b', 'abcdefghij');
});

test('what is wrong with a manifest is said of all its entries', async () => {
  const wrong = await manifest('wrong', [
    { data: 'no base64!' },
    { path: '/s/a' },
    { data: '' },
    { data: 'eA==', path: '/s/a' },
  ]);
  assert.equal(wrong.status, 400);
  assert.match(wrong.text, /^Index 0: data must be valid base64\nIndex 2: too small.*\nIndex 3: extraneous keys path$/);
  const only = await manifest('wrong', [{ data: base64('x') }]);
  assert.deepEqual([only.status, /at least one object-backed segment/.test(only.text)], [400, true]);
});

test('a part of a large object is read, shown and copied by its number', async () => {
  await manifest('parts', [{ path: '/s/a' }, { data: base64('--') }, { path: '/s/b' }]);
  const second = await swift.ask('/s/parts?part-number=3');
  assert.deepEqual([second.status, second.text], [206, 'abcdefghij']);
  assert.deepEqual([second.headers['content-range'], second.headers['x-parts-count']], ['bytes 12-21/22', '3']);
  const head = await swift.ask('/s/parts?part-number=2', { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers['content-length'], head.headers['x-parts-count']], [206, '2', '3']);
  const past = await swift.ask('/s/parts?part-number=4');
  assert.deepEqual([past.status, past.headers['x-parts-count']], [416, '3']);
  for (const number of ['0', '-1', 'x', ''])
    assert.equal((await swift.ask(`/s/parts?part-number=${number}`)).status, 400);
  const both = await swift.ask('/s/parts?part-number=1', { headers: { range: 'bytes=0-1' } });
  assert.equal(both.status, 400);
  assert.equal((await swift.ask('/s/a?part-number=1')).status, 200, 'an object without parts is read whole');
  const copied = await swift.ask('/s/parts?part-number=3', { method: 'COPY', headers: { destination: 's/third' } });
  assert.equal(copied.status, 201);
  assert.equal((await swift.ask('/s/third')).text, 'abcdefghij');
});

test('a copy takes a range, of a large object, too', async () => {
  const copy = (from: string, headers: Record<string, string>) =>
    swift.ask(from, { method: 'COPY', headers: { destination: 's/ranged', ...headers } });
  assert.equal((await copy('/s/a', { range: 'bytes=2-5' })).status, 201);
  const read = await swift.ask('/s/ranged');
  assert.deepEqual([read.text, read.headers.etag], ['2345', md5('2345')]);
  await manifest('large', [{ path: '/s/a' }, { path: '/s/b' }]);
  await copy('/s/large', { range: 'bytes=8-11' });
  assert.equal((await swift.ask('/s/ranged')).text, '89ab');
  const put = await swift.put('/s/from', '', { 'x-copy-from': 's/b', range: 'bytes=-2' });
  assert.equal(put.status, 201);
  assert.equal((await swift.ask('/s/from')).text, 'ij');
  assert.equal((await copy('/s/a', { range: 'bytes=50-' })).status, 416);
  assert.equal((await copy('/s/a', { range: 'bytes=0-1,3-4' })).status, 400);
});
