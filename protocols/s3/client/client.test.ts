import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { PEOPLE, serve, type Served } from '../testing/serve.ts';
import { RemoteRefusal, RemoteS3, type RemotePlace } from './client.ts';
import { chunkedBody, chunkedLength } from './chunked-body.ts';
import { RemoteBucket } from './remote-bucket.ts';
import { RequestSigner } from './signer.ts';

let served: Served;
let remote: RemoteS3;

before(async () => {
  served = await serve();
  remote = new RemoteS3(placeOf(served.origin));
  await remote.send({ method: 'PUT', bucket: 'archive' });
});
after(async () => {
  remote.close();
  await served.close();
});

function placeOf(url: string, changes: Partial<RemotePlace> = {}): RemotePlace {
  const { access, secret } = PEOPLE.ada.keys;
  return { url, address: '127.0.0.1', region: 'us-east-1', accessKey: access, secret, ...changes };
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const md5 = (bytes: Buffer) => createHash('md5').update(bytes).digest('hex');

test('the name of a key needs no care', async () => {
  const bucket = new RemoteBucket(remote, 'archive');
  const keys = ['a b+c', '../x//y', "it's (100%)*!~", 'größe/日本', '?q=1&x#y'];
  for (const key of keys) assert.equal(await bucket.put(key, Buffer.from(key), {}), md5(Buffer.from(key)));
  const reader = served.as('ada');
  for (const key of keys) assert.equal((await reader.call('GET', `/archive/${key}`)).text, key);
  reader.close();
});

test('a stream goes in signed chunks whatever the size of its pieces', async () => {
  const bucket = new RemoteBucket(remote, 'archive');
  for (const size of [0, 1, 131_071, 131_072, 131_073, 700_001]) {
    const bytes = randomBytes(size);
    const body = { size, bytes: inPieces(bytes, 10_007) };
    const headers = { 'content-type': 'text/x-test', 'x-amz-meta-colour': 'blue', 'content-encoding': 'gzip' };
    assert.equal(await bucket.put('streamed', body, headers), md5(bytes));
    const found = await bucket.head('streamed');
    assert.deepEqual(
      [
        found?.size,
        found?.headers['content-type'],
        found?.headers['x-amz-meta-colour'],
        found?.headers['content-encoding'],
      ],
      [size, 'text/x-test', 'blue', 'gzip'],
    );
  }
});

test('the length of a chunked body is known beforehand', async () => {
  const signer = new RequestSigner({ accessKey: 'a', secret: 's', region: 'r' });
  for (const size of [0, 1, 15, 16, 131_072, 131_073, 400_000]) {
    const { chunks } = signer.sign({ method: 'PUT', path: '/', query: {}, headers: { host: 'h' }, payload: 'p' }, 0);
    let length = 0;
    for await (const chunk of chunkedBody(inPieces(Buffer.alloc(size), 999), chunks)) length += chunk.length;
    assert.equal(length, chunkedLength(size));
  }
});

test('an upload is made of parts, or given up', async () => {
  const bucket = new RemoteBucket(remote, 'archive');
  const parts = [randomBytes(5 * 2 ** 20), randomBytes(1000)];
  const upload = await bucket.createUpload('large', {});
  const sent = [];
  for (const [index, bytes] of parts.entries())
    sent.push(await bucket.putPart('large', upload, index + 1, { size: bytes.length, bytes: inPieces(bytes, 65_536) }));
  assert.deepEqual(
    sent.map(({ etag }) => etag),
    parts.map(md5),
  );
  assert.match(await bucket.completeUpload('large', upload, sent), /-2$/);
  assert.equal((await bucket.head('large'))?.size, 5 * 2 ** 20 + 1000);
  const other = await bucket.createUpload('large', {});
  await bucket.abortUpload('large', other);
  await bucket.abortUpload('large', other);
  await bucket.remove('large', {});
  assert.equal(await bucket.head('large'), undefined);
});

test('a refusal says what the other side said', async () => {
  const outsider = new RemoteS3(placeOf(served.origin, { secret: 'wrong' }));
  await assert.rejects(outsider.send({ method: 'GET' }), (error: RemoteRefusal) => {
    assert.deepEqual([error.name, error.status, error.code], ['RemoteRefusal', 403, 'SignatureDoesNotMatch']);
    return true;
  });
  const nowhere = new RemoteBucket(remote, 'nowhere');
  const body = { size: 2_000_000, bytes: inPieces(Buffer.alloc(2_000_000), 65_536) };
  await assert.rejects(nowhere.put('key', body, {}), { code: 'NoSuchBucket' });
  outsider.close();
});

test('who does not answer is not waited for', async () => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const { port } = silent.address() as AddressInfo;
  const patient = new RemoteS3(placeOf(`http://127.0.0.1:${port}`), { idleMs: 100 });
  await assert.rejects(patient.send({ method: 'GET' }), /did not answer in time/);
  patient.close();
  silent.closeAllConnections();
  silent.close();
});

test('a source that fails ends the request', async () => {
  const bucket = new RemoteBucket(remote, 'archive');
  async function* failing(): AsyncGenerator<Buffer> {
    yield Buffer.alloc(200_000);
    throw new Error('the source is gone');
  }
  await assert.rejects(bucket.put('broken', { size: 400_000, bytes: failing() }, {}), /the source is gone/);
  assert.equal(await bucket.head('broken'), undefined);
});
