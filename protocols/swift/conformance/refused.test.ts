import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { serveSwift, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => {
  swift = await serveSwift();
  await swift.ask('/c', { method: 'PUT' });
});
after(() => swift.close());

test('what is not served is refused in words, and changes nothing', async () => {
  const post = async (path: string, headers: Record<string, string>) => {
    const { status, text } = await swift.ask(path, { method: 'POST', headers });
    return [status, text] as const;
  };
  for (const name of ['X-Container-Sync-To', 'X-Container-Sync-Key', 'X-Container-Sharding']) {
    const [status, text] = await post('/c', { [name]: 'x', 'x-container-meta-a': 'b' });
    assert.deepEqual([status, text], [400, `${name} is not supported`]);
  }
  assert.equal((await swift.ask('/c', { method: 'HEAD' })).headers['x-container-meta-a'], undefined);
  const [status, text] = await post('', { 'x-account-quota-count': '5', 'x-account-meta-a': 'b' });
  assert.deepEqual([status, /X-Account-Quota-Count/.test(text)], [400, true]);
  assert.equal((await swift.ask('', { method: 'HEAD' })).headers['x-account-meta-a'], undefined);
  await swift.put('/c/s', 'x');
  await swift.put('/c/large?multipart-manifest=put', JSON.stringify([{ path: '/c/s' }]));
  const later = await swift.ask('/c/large?multipart-manifest=delete&async=yes', { method: 'DELETE' });
  assert.deepEqual([later.status, /async/.test(later.text)], [400, true]);
  assert.equal((await swift.ask('/c/large')).status, 200);
  await post('/c', { 'x-container-meta-web-index': 'index.html', 'x-container-read': '.r:*,.rlistings' });
  await swift.put('/c/index.html', 'page');
  assert.match((await swift.ask('/c', { token: null })).text, /^index\.html$/m, 'a listing, not a page');
  const info = JSON.parse((await swift.ask('/info')).text) as object;
  assert.equal('staticweb' in info, false);
});
