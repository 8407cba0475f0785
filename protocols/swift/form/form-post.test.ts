import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { ALPHA, serveSwift, type Reply, type SwiftFixture } from '../testing/serve.ts';

let swift: SwiftFixture;
before(async () => {
  swift = await serveSwift();
  await swift.ask('/up', { method: 'PUT', headers: { 'x-container-meta-temp-url-key': 'inner' } });
  await swift.ask('/other', { method: 'PUT' });
  await swift.ask('', { method: 'POST', headers: { 'x-account-meta-temp-url-key': 'outer' } });
});
after(() => swift.close());

interface Asked {
  readonly path?: string;
  readonly key?: string;
  readonly algorithm?: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly files?: readonly (readonly [name: string, text: string, type?: string])[];
}

function post({
  path = '/up/pre-',
  key = 'inner',
  algorithm = 'sha256',
  fields = {},
  files = [['a.txt', 'hello']],
}: Asked): Promise<Reply> {
  const expires = String(Math.floor(Date.now() / 1000) + 100);
  const given: Record<string, string> = { redirect: '', max_file_size: '100', max_file_count: '2', expires, ...fields };
  const full = `/v1/AUTH_${ALPHA}${path}`;
  const text = [full, given['redirect'], given['max_file_size'], given['max_file_count'], given['expires']].join('\n');
  const signature = createHmac(algorithm, key).update(text).digest('hex');
  const parts = [
    ...Object.entries({ signature, ...given }).map(
      ([name, value]) => `--cut\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    ),
    ...files.map(
      ([name, body, type = 'text/x'], at) =>
        `--cut\r\nContent-Disposition: form-data; name="file${at}"; filename="${name}"\r\nContent-Type: ${type}\r\n\r\n${body}\r\n`,
    ),
  ];
  const headers = { 'content-type': 'multipart/form-data; boundary=cut' };
  return swift.ask(full, { method: 'POST', token: null, headers, body: `${parts.join('')}--cut--\r\n` });
}

test('a signed form puts its files behind the name of its address', async () => {
  const reply = await post({
    files: [
      ['a.txt', 'hello'],
      ['b.bin', ''],
    ],
  });
  assert.equal(reply.status, 201);
  const first = await swift.ask('/up/pre-a.txt');
  assert.deepEqual([first.text, first.headers['content-type']], ['hello', 'text/x']);
  assert.equal((await swift.ask('/up/pre-b.bin', { method: 'HEAD' })).headers['content-length'], '0');
  for (const algorithm of ['sha1', 'sha512'])
    assert.equal((await post({ path: '/up', algorithm })).status, 201, algorithm);
  assert.equal((await swift.ask('/up/a.txt')).text, 'hello', 'without a prefix, the name alone');
  assert.equal((await post({ path: '/other/x', key: 'outer' })).status, 201, 'the account’s key opens all of it');
});

test('a form without a valid signature, or that has expired, puts nothing', async () => {
  const files = [['bad', 'x']] as const;
  assert.equal((await post({ key: 'wrong', files })).status, 401);
  assert.equal(
    (await post({ path: '/other/', key: 'inner', files })).status,
    401,
    'a container’s key opens that container',
  );
  assert.equal((await post({ fields: { expires: '1000' }, files })).status, 401);
  assert.equal((await post({ fields: { signature: 'ffff' }, files })).status, 401);
  assert.equal((await post({ files: [] })).status, 400);
  for (const name of ['expires', 'max_file_size', 'max_file_count']) {
    assert.equal((await post({ fields: { [name]: 'x' }, files })).status, 400, name);
  }
  assert.equal((await swift.ask('/up/pre-bad')).status, 404);
});

test('sizes and counts of a form are kept', async () => {
  assert.equal((await post({ fields: { max_file_size: '3' }, files: [['four', '1234']] })).status, 413);
  assert.equal((await swift.ask('/up/pre-four')).status, 404);
  const many = await post({
    files: [
      ['1', 'x'],
      ['2', 'x'],
      ['3', 'x'],
    ],
  });
  assert.equal(many.status, 400);
  assert.match(many.text, /max_file_count/);
  assert.equal((await swift.ask('/up/pre-3')).status, 404);
});

test('a form redirects with what became of it, and gives files a time', async () => {
  const at = String(Math.floor(Date.now() / 1000) + 1000);
  const there = await post({ fields: { redirect: 'https://page.example/done?a=b', x_delete_at: at } });
  assert.equal(there.status, 303);
  assert.equal(there.headers['location'], 'https://page.example/done?a=b&status=201&message=');
  assert.equal((await swift.ask('/up/pre-a.txt', { method: 'HEAD' })).headers['x-delete-at'], at);
  const failed = await post({ fields: { redirect: 'https://page.example/', max_file_size: '1' } });
  assert.match(String(failed.headers['location']), /\?status=413&message=FormPost%3A\+max_file_size\+exceeded$/);
});
