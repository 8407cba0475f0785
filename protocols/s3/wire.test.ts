import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Bucket, ObjectError } from '@granary/storage/object-store';
import fc from 'fast-check';
import { turns } from '../../testing/turns.ts';
import { checksumOf } from './checksums/checksums.ts';
import { ALPHA, BETA, S3Rig } from './testing/rig.ts';
import { encodeKey, signHeaders } from './testing/signer.ts';

const rig = new S3Rig();
let photos: Bucket;

before(() => rig.start());
after(() => rig.stop());
beforeEach(() => {
  rig.store.objects.clear();
  rig.store.buckets.length = 0;
  rig.records.length = 0;
  rig.errors.length = 0;
  rig.store.failWith = undefined;
  photos = rig.store.addBucket({ account: ALPHA, name: 'photos' });
});

const TRICKY = [
  '../../etc/passwd',
  '..',
  '.',
  './a/./b',
  'a//b',
  '/leading',
  'trailing/',
  '//',
  'a%2Fb',
  'a+b c',
  'a?b#c&d=e',
  "!'()*~-_.",
  '\u0001\u001f\u007f\t',
  'é\u0301',
  '\u{1F408}\u{20000}\u{E0001}\u{10FFFF}',
  '\uFEFFbom',
  'x'.repeat(1024),
  'ß'.repeat(512),
];

test('keys are stored and returned exactly, whatever they look like', async () => {
  for (const key of TRICKY) {
    const path = `/photos/${encodeKey(key)}`;
    const put = await rig.signed({ method: 'PUT', path, body: key });
    assert.equal(put.status, 200, JSON.stringify(key));
    assert.deepEqual([...rig.store.objects.keys()], [`${photos.id}/${key}`]);
    assert.equal((await rig.signed({ method: 'GET', path })).body.toString(), key);
    rig.store.objects.clear();
  }
});

test('Keep-Alive says how long the connection stays, except where the client closes it', async () => {
  const hints = [];
  for (const connection of ['keep-alive', 'close']) {
    const { url, method, headers } = signHeaders(rig.signer(), { method: 'GET', path: '/photos' });
    const answer = await rig.send({ method, url, headers: { ...headers, connection } });
    hints.push([answer.status, answer.headers.connection, answer.headers['keep-alive']]);
  }
  assert.deepEqual(hints, [
    [200, 'keep-alive', 'timeout=50'],
    [200, 'close', undefined],
  ]);
});

test('any text of Unicode is a key, encoded sparsely or wholly', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }), async (key) => {
      fc.pre(!key.includes('\0'));
      const wholly = [...Buffer.from(key)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
      // A client signs the canonical form whatever it sends.
      const signed = signHeaders(rig.signer(), { method: 'PUT', path: `/photos/${encodeKey(key)}` });
      assert.equal((await rig.send({ ...signed, url: `/photos/${wholly}` })).status, 200);
      assert.ok(rig.store.objects.delete(`${photos.id}/${key}`));
    }),
    { numRuns: 60 },
  );
});

test('addresses that cannot be read are refused and store nothing', async () => {
  const cases: [string, string][] = [
    ['/photos/%00', 'InvalidArgument'],
    ['/photos/a%00b', 'InvalidArgument'],
    [`/photos/${'x'.repeat(1025)}`, 'KeyTooLongError'],
    [`/photos/${encodeKey('ß'.repeat(513))}`, 'KeyTooLongError'],
    ['/photos/%ff', 'InvalidURI'],
    ['/photos/%ed%a0%80', 'InvalidURI'],
    ['/photos/%c0%ae', 'InvalidURI'],
    ['/photos/%', 'InvalidURI'],
    ['/photos/%4', 'InvalidURI'],
    ['/photos/%zz', 'InvalidURI'],
    ['/photos/a?x=%ff', 'InvalidURI'],
    ['//photos/a', 'InvalidBucketName'],
    [`/photos/a?${'x&'.repeat(300)}`, 'InvalidURI'],
  ];
  for (const [url, code] of cases) {
    const answer = await rig.send({ method: 'PUT', url, body: 'x' });
    assert.equal(answer.code, code, url);
    assert.equal(answer.status, 400);
  }
  assert.equal(rig.store.objects.size, 0);
});

test('a percent sign is decoded once', async () => {
  await rig.signed({ method: 'PUT', path: '/photos/%252e%252e', body: 'x' });
  assert.ok(rig.store.bytesOf(photos, '%2e%2e'));
});

test('a bucket before the host name is the same bucket, and one account may be named', async () => {
  const host = `photos.s3.example.test:${rig.port}`;
  const put = await rig.signed({ method: 'PUT', path: '/hosted/key', body: 'x' }, rig.signer('ALPHAKEY', { host }));
  assert.equal(put.status, 200);
  assert.ok(rig.store.bytesOf(photos, 'hosted/key'));
  const other = rig.store.addBucket({ account: BETA, name: 'photos', settings: { acl: 'public-read-write' } });
  assert.equal((await rig.signed({ method: 'PUT', path: `/${BETA}%3Aphotos/named`, body: 'x' })).status, 200);
  assert.ok(rig.store.bytesOf(other, 'named'));
  assert.equal((await rig.signed({ method: 'PUT', path: '/photos/own', body: 'x' })).status, 200);
  assert.ok(rig.store.bytesOf(photos, 'own'));
});

test('digests that do not fit the body are refused before anything is stored', async () => {
  const body = 'x'.repeat(70_000);
  const md5 = createHash('md5').update(body).digest('base64');
  const other = createHash('md5').update('other').digest('base64');
  const cases: [Record<string, string>, string | undefined][] = [
    [{ 'content-md5': md5 }, undefined],
    [{ 'content-md5': other }, 'BadDigest'],
    [{ 'content-md5': 'abc' }, 'InvalidDigest'],
    [{ 'x-amz-checksum-sha256': checksumOf('SHA256', Buffer.from(body)) }, undefined],
    [{ 'x-amz-checksum-sha256': checksumOf('SHA256', Buffer.from('other')) }, 'BadDigest'],
    [{ 'x-amz-checksum-crc32': 'AAAA' }, 'InvalidRequest'],
    [{ 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-checksum-crc32c': 'AAAAAA==' }, 'InvalidRequest'],
    [{ 'x-amz-checksum-crc32': 'AAAAAA==', 'x-amz-sdk-checksum-algorithm': 'SHA1' }, 'InvalidRequest'],
    [{ 'x-amz-sdk-checksum-algorithm': 'MD4' }, 'InvalidRequest'],
    [{ 'x-amz-trailer': 'x-amz-checksum-crc32' }, 'InvalidRequest'],
  ];
  for (const size of [70_000, 10]) {
    for (const [headers, code] of cases) {
      if (size === 10 && code === undefined) continue;
      rig.store.objects.clear();
      const answer = await rig.signed({ method: 'PUT', path: '/photos/d', headers, body: body.slice(0, size) });
      assert.equal(answer.code, code, JSON.stringify(headers));
      assert.equal(rig.store.objects.size, code === undefined ? 1 : 0);
    }
  }
});

test('every request makes one record, with the bytes of the object and no others', async () => {
  const body = Buffer.alloc(200_000, 7);
  await rig.signed({ method: 'PUT', path: '/photos/big', body });
  await rig.signed({ method: 'GET', path: '/photos/big' });
  await rig.signed({ method: 'HEAD', path: '/photos/big' });
  await rig.signed({ method: 'GET', path: '/photos/none' });
  await rig.send({ method: 'GET', url: '/photos/big' });
  await rig.signed({ method: 'PUT', path: '/photos/big', body, payload: '0'.repeat(64) });
  await rig.record(6);
  const seen = rig.records.map(({ action, status, bytesIn, bytesOut, account }) => ({
    action,
    status,
    bytesIn,
    bytesOut,
    account,
  }));
  assert.deepEqual(seen, [
    { action: 'PutObject', status: 200, bytesIn: 200_000, bytesOut: 0, account: ALPHA },
    { action: 'GetObject', status: 200, bytesIn: 0, bytesOut: 200_000, account: ALPHA },
    { action: 'HeadObject', status: 200, bytesIn: 0, bytesOut: 0, account: ALPHA },
    { action: 'GetObject', status: 404, bytesIn: 0, bytesOut: 0, account: ALPHA },
    { action: 'GetObject', status: 403, bytesIn: 0, bytesOut: 0, account: null },
    { action: 'PutObject', status: 400, bytesIn: 200_000, bytesOut: 0, account: ALPHA },
  ]);
});

test('a client that hangs up in the middle of a body stores nothing and is recorded once', async () => {
  const put = signHeaders(rig.signer(), { method: 'PUT', path: '/photos/half', payload: 'UNSIGNED-PAYLOAD' });
  const socket = connect(rig.port, '127.0.0.1');
  socket.write(head(put, { 'content-length': '1000000' }));
  socket.write(Buffer.alloc(100_000));
  await silence();
  socket.destroy();
  const record = await rig.record(1);
  assert.equal(record.action, 'PutObject');
  assert.equal(record.status, 400);
  assert.equal(record.bytesIn, 100_000);
  assert.equal(rig.store.objects.size, 0);
  await turns();
  assert.equal(rig.records.length, 1);
});

test('a client that hangs up in the middle of an answer is recorded with what it got', async () => {
  await rig.signed({
    method: 'PUT',
    path: '/photos/large',
    body: Buffer.alloc(64 * 2 ** 20),
    payload: 'UNSIGNED-PAYLOAD',
  });
  const socket = connect(rig.port, '127.0.0.1');
  socket.write(head(signHeaders(rig.signer(), { method: 'GET', path: '/photos/large' })));
  await new Promise((resolve) => socket.once('data', resolve));
  socket.destroy();
  const { bytesOut, status } = await rig.record(2);
  assert.equal(status, 200);
  assert.ok(bytesOut < 64 * 2 ** 20, String(bytesOut));
  assert.deepEqual(rig.errors, []);
});

function head(
  signed: { method: string; url: string; headers: Record<string, string> },
  more: Record<string, string> = {},
): string {
  const lines = Object.entries({ ...signed.headers, ...more }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${signed.method} ${signed.url} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

const SILENCES_MAX = 40;

/** Time for what is on its way: many turns, for a moment in which the machine stands still is over in one. */
async function silence(): Promise<void> {
  for (let turn = 0; turn < 24; turn += 1) await sleep(5);
}

/** What comes back on a connection until it falls silent, after an answer to the last message. */
async function talk(...messages: (string | Uint8Array)[]): Promise<string> {
  const socket = connect(rig.port, '127.0.0.1');
  let text = '';
  socket.on('data', (data) => (text += data.toString('latin1')));
  socket.on('error', () => undefined);
  let heard = 0;
  for (const message of messages) {
    heard = text.length;
    socket.write(message);
    await silence();
  }
  for (let silences = 0; text.length === heard && silences < SILENCES_MAX; silences += 1) await silence();
  await silence();
  socket.destroy();
  return text;
}

test('100 Continue is said to who may go on, and only to them', async () => {
  const put = signHeaders(rig.signer(), { method: 'PUT', path: '/photos/expect', body: 'hello' });
  const more = { 'content-length': '5', expect: '100-continue' };
  const good = await talk(head(put, more), 'hello');
  assert.match(good, /^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
  assert.equal(rig.store.bytesOf(photos, 'expect')?.toString(), 'hello');
  const bad = await talk(head({ ...put, url: '/photos/other' }, more));
  assert.match(bad, /^HTTP\/1.1 403 Forbidden/);
  assert.match(bad, /connection: close/i);
  assert.doesNotMatch(bad, /100 Continue/);
});

test('a connection goes on after a small body that was refused', async () => {
  const put = signHeaders(rig.signer(), { method: 'PUT', path: '/photos/a', body: 'x'.repeat(5000) });
  const get = head(signHeaders(rig.signer(), { method: 'HEAD', path: '/photos' }));
  const text = await talk(head({ ...put, url: '/photos/b' }, { 'content-length': '5000' }), 'x'.repeat(5000), get);
  assert.match(text, /^HTTP\/1.1 403 Forbidden[^]*HTTP\/1.1 200 OK/);
});

test('a large body that is refused is answered before the connection closes', async () => {
  const put = signHeaders(rig.signer(), { method: 'PUT', path: '/photos/a', payload: 'UNSIGNED-PAYLOAD' });
  const answer = await rig.send({ ...put, url: '/photos/b', body: Buffer.alloc(20 * 2 ** 20) });
  assert.equal(answer.code, 'SignatureDoesNotMatch');
  assert.equal(answer.headers.connection, 'close');
});

test('bodies without a length, or larger than S3 allows, are refused', async () => {
  const put = signHeaders(rig.signer(), { method: 'PUT', path: '/photos/a', payload: 'UNSIGNED-PAYLOAD' });
  assert.match(
    await talk(head(put, { 'transfer-encoding': 'chunked' }), '5\r\nhello\r\n0\r\n\r\n'),
    /411 Length Required[^]*MissingContentLength/,
  );
  assert.match(
    await talk(head(put, { 'content-length': String(5 * 2 ** 30 + 1) })),
    /400 Bad Request[^]*EntityTooLarge/,
  );
});

test('an account over its rate may read but not change', async () => {
  rig.mayChange = false;
  const put = await rig.signed({ method: 'PUT', path: '/photos/a', body: 'x' });
  rig.mayChange = true;
  assert.equal(put.status, 503);
  assert.equal(put.code, 'SlowDown');
});

test('errors of the store become S3 errors, and unexpected ones show no details', async () => {
  const cases: [Error, number, string][] = [
    [new ObjectError('no-space', 'x'), 507, 'InsufficientStorage'],
    [new ObjectError('encryption-locked', 'x'), 503, 'ServiceUnavailable'],
    [new ObjectError('no-quorum', 'x'), 503, 'ServiceUnavailable'],
    [new TypeError('secret detail'), 500, 'InternalError'],
  ];
  for (const [error, status, code] of cases) {
    rig.store.failWith = error;
    const answer = await rig.signed({ method: 'PUT', path: '/photos/a', body: 'x' });
    assert.equal(answer.status, status);
    assert.equal(answer.code, code);
    assert.doesNotMatch(answer.body.toString(), /secret detail|node:/);
    assert.match(
      answer.body.toString(),
      new RegExp(`<RequestId>${answer.headers['x-amz-request-id'] as string}</RequestId>`),
    );
  }
  assert.equal(rig.errors.length, 1);
});

test('an unknown sub-resource never falls through to the plain operation', async () => {
  for (const name of ['website', 'torrent', 'metrics']) {
    const answer = await rig.signed({ method: 'DELETE', path: '/photos', query: { [name]: '' } });
    assert.ok(answer.status === 501 || answer.status === 204, `${name}: ${answer.status}`);
  }
  assert.equal(rig.store.buckets.length, 1);
  assert.equal((await rig.signed({ method: 'PATCH', path: '/photos/a' })).code, 'MethodNotAllowed');
});

test('an answer to HEAD has no body, also when it is an error', async () => {
  const answer = await rig.signed({ method: 'HEAD', path: '/photos/none' });
  assert.equal(answer.status, 404);
  assert.equal(answer.body.length, 0);
});

test('the keys of a bucket one may not list cannot be guessed', async () => {
  const policy = {
    Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: 'arn:aws:s3:::shared/*' }],
  };
  const shared = rig.store.addBucket({ account: ALPHA, name: 'shared', settings: { policy: JSON.stringify(policy) } });
  await rig.signed({ method: 'PUT', path: '/shared/there', body: 'x' });
  assert.ok(rig.store.bytesOf(shared, 'there'));
  assert.equal((await rig.send({ method: 'GET', url: '/shared/there' })).status, 200);
  assert.equal((await rig.send({ method: 'GET', url: '/shared/missing' })).code, 'AccessDenied');
  assert.equal((await rig.signed({ method: 'GET', path: '/shared/missing' })).code, 'NoSuchKey');
  rig.disabled.add(ALPHA);
  assert.equal((await rig.send({ method: 'GET', url: '/shared/there' })).code, 'AccessDenied');
  rig.disabled.clear();
});

test("another account's private bucket is closed, a shared one too, and an expected owner is held to", async () => {
  const beta = rig.signer('BETAKEY');
  assert.equal((await rig.signed({ method: 'GET', path: '/photos' }, beta)).code, 'AccessDenied');
  rig.store.addBucket({ account: ALPHA, name: 'open', settings: { acl: 'public-read' } });
  assert.equal((await rig.signed({ method: 'PUT', path: '/open/a', body: 'x' }, beta)).code, 'AccessDenied');
  assert.equal((await rig.signed({ method: 'HEAD', path: '/open' }, beta)).status, 200);
  const headers = { 'x-amz-expected-bucket-owner': BETA };
  assert.equal((await rig.signed({ method: 'PUT', path: '/photos/a', body: 'x', headers })).code, 'AccessDenied');
});

test('a preflight is answered from the rules of the bucket, and so are requests from pages', async () => {
  const cors = [{ origins: ['https://*.example.org'], methods: ['GET', 'PUT'], headers: ['*'], maxAgeSeconds: 60 }];
  rig.store.addBucket({ account: ALPHA, name: 'pages', settings: { cors } });
  const ask = (origin: string, method: string) =>
    rig.send({ method: 'OPTIONS', url: '/pages/a', headers: { origin, 'access-control-request-method': method } });
  const allowed = await ask('https://www.example.org', 'PUT');
  assert.equal(allowed.status, 200);
  assert.equal(allowed.headers['access-control-allow-origin'], 'https://www.example.org');
  assert.equal((await ask('https://www.example.org', 'DELETE')).status, 403);
  assert.equal((await ask('https://evil.test', 'PUT')).status, 403);
  const put = signHeaders(rig.signer(), { method: 'PUT', path: '/pages/a' });
  const answer = await rig.send({ ...put, headers: { ...put.headers, origin: 'https://www.example.org' } });
  assert.equal(answer.headers['access-control-allow-origin'], 'https://www.example.org');
});

test('one connection serves many requests, with bodies large and small', async () => {
  const small = 'x'.repeat(300);
  const large = 'y'.repeat(200_000);
  const put = (key: string, body: string) =>
    head(signHeaders(rig.signer(), { method: 'PUT', path: `/photos/${key}`, body }), {
      'content-length': String(body.length),
    });
  const get = head(signHeaders(rig.signer(), { method: 'HEAD', path: '/photos/2' }));
  const text = await talk(put('1', small) + small, put('2', large), large, put('3', ''), get, put('4', small), small);
  assert.equal(text.match(/HTTP\/1.1 200 OK/g)?.length, 5, text);
  assert.deepEqual(
    [...rig.store.objects.values()].map(({ bytes }) => bytes.length),
    [300, 200_000, 0, 300],
  );
});
