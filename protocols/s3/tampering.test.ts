import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checksumOf } from './checksums/checksums.ts';
import type { Bucket } from '@granary/storage/object-store';
import { ALPHA, type Answer, S3Rig } from './testing/rig.ts';
import { chunked, presign, scopeOf, signHeaders, type SignedHttp, signText } from './testing/signer.ts';

const rig = new S3Rig();
let photos: Bucket;

before(async () => {
  await rig.start();
  photos = rig.store.addBucket({ account: ALPHA, name: 'photos' });
  rig.store.addBucket({ account: ALPHA, name: 'photoz' });
});
after(() => rig.stop());

const BODY = 'the bytes that were signed';

function signedPut(): SignedHttp {
  return signHeaders(rig.signer(), {
    method: 'PUT',
    path: '/photos/2026/cat.jpg',
    query: { 'x-id': 'PutObject', tag: 'a b&c' },
    headers: { 'content-type': 'image/jpeg', 'x-amz-meta-mood': 'calm', 'cache-control': 'no-store' },
    body: BODY,
  });
}

async function refused(answer: Promise<Answer>, ...codes: string[]): Promise<void> {
  const before = rig.store.objects.size;
  const { code, status } = await answer;
  assert.ok(codes.includes(code ?? ''), `${code} is one of ${codes.join(', ')}`);
  assert.ok(status === 403 || status === 400, String(status));
  assert.equal(rig.store.objects.size, before, 'nothing was stored');
}

test('what was signed is accepted as it is, whether the directory answers now or later', async () => {
  for (const asynchronous of [false, true]) {
    rig.asynchronous = asynchronous;
    assert.equal((await rig.send({ ...signedPut(), body: BODY })).status, 200);
    assert.equal(rig.store.bytesOf(photos, '2026/cat.jpg')?.toString(), BODY);
    rig.store.objects.clear();
  }
  rig.asynchronous = false;
});

test('another method is refused', async () => {
  const get = signHeaders(rig.signer(), { method: 'GET', path: '/photos/2026/cat.jpg' });
  for (const method of ['HEAD', 'DELETE', 'PUT']) {
    const answer = await rig.send({ ...get, method });
    assert.equal(answer.status, 403, method);
  }
});

test('another path is refused, also where it only looks alike', async () => {
  for (const path of [
    '/photos/2026/dog.jpg',
    '/photoz/2026/cat.jpg',
    '/photos/2026/./cat.jpg',
    '/photos//2026/cat.jpg',
    '/photos/2026/cat.jpg/',
    '/photos/2026%2F..%2Fcat.jpg',
    '/photos/2026/cat%252ejpg',
  ]) {
    const put = signedPut();
    await refused(
      rig.send({ ...put, url: put.url.replace('/photos/2026/cat.jpg', path), body: BODY }),
      'SignatureDoesNotMatch',
    );
  }
});

test('each parameter of the query is covered: changed, dropped, doubled or added', async () => {
  const put = signedPut();
  const [path = '', query = ''] = put.url.split('?');
  const pairs = query.split('&');
  const others = [
    ...pairs.map((_, at) => pairs.with(at, `${pairs[at]}x`)),
    ...pairs.map((_, at) => pairs.toSpliced(at, 1)),
    ...pairs.map((pair) => [...pairs, pair]),
    [...pairs, 'versionId=null'],
  ];
  for (const other of others) {
    await refused(rig.send({ ...put, url: `${path}?${other.join('&')}`, body: BODY }), 'SignatureDoesNotMatch');
  }
  const turned = await rig.send({ ...put, url: `${path}?${pairs.toReversed().join('&')}`, body: BODY });
  assert.equal(turned.status, 200, 'the order of parameters does not matter');
  rig.store.objects.clear();
});

test('each signed header is covered: changed or dropped', async () => {
  const put = signedPut();
  const names = Object.keys(put.headers).filter((name) => name !== 'authorization');
  assert.deepEqual(names.sort(), [
    'cache-control',
    'content-type',
    'host',
    'x-amz-content-sha256',
    'x-amz-date',
    'x-amz-meta-mood',
  ]);
  for (const name of names) {
    const headers = { ...put.headers, [name]: `${put.headers[name]}x` };
    await refused(
      rig.send({ ...put, headers, body: BODY }),
      'SignatureDoesNotMatch',
      'AccessDenied',
      'InvalidArgument',
    );
    if (name === 'host') continue;
    const { [name]: _, ...fewer } = put.headers;
    await refused(
      rig.send({ ...put, headers: fewer, body: BODY }),
      'SignatureDoesNotMatch',
      'AccessDenied',
      'InvalidRequest',
    );
  }
});

test('a header of S3 that was not signed is refused', async () => {
  const put = signedPut();
  const headers = { ...put.headers, 'x-amz-acl': 'public-read' };
  await refused(rig.send({ ...put, headers, body: BODY }), 'AccessDenied');
});

test('a header that comes twice is signed as both values', async () => {
  const put = signHeaders(rig.signer(), {
    method: 'PUT',
    path: '/photos/twice',
    headers: { 'x-amz-meta-a': 'one,two   words' },
  });
  const twice = { ...put.headers, 'x-amz-meta-a': ['one', '  two words '] };
  assert.equal((await rig.send({ ...put, headers: twice })).status, 200);
  rig.store.objects.clear();
  await refused(
    rig.send({ ...put, headers: { ...twice, 'x-amz-meta-a': ['two words', 'one'] } }),
    'SignatureDoesNotMatch',
  );
});

test('each byte of the body is covered', async () => {
  for (let at = 0; at < BODY.length; at++) {
    const bytes = Buffer.from(BODY);
    bytes[at]! ^= 1;
    await refused(rig.send({ ...signedPut(), body: bytes }), 'XAmzContentSHA256Mismatch');
  }
  await refused(rig.send({ ...signedPut(), body: `${BODY}.` }), 'XAmzContentSHA256Mismatch');
  await refused(rig.send({ ...signedPut(), body: '' }), 'XAmzContentSHA256Mismatch');
});

test('each part of the Authorization header is covered', async () => {
  const put = signedPut();
  const { authorization = '' } = put.headers;
  const changes: [RegExp, string, string][] = [
    [/20261116\/north/, '20261115/north', 'AuthorizationHeaderMalformed'],
    [/north-1/, 'south-1', 'AuthorizationHeaderMalformed'],
    [/\/s3\//, '/ec2/', 'AuthorizationHeaderMalformed'],
    [/aws4_request/, 'aws5_request', 'AuthorizationHeaderMalformed'],
    [/ALPHAKEY/, 'BETAKEY', 'SignatureDoesNotMatch'],
    [/ALPHAKEY/, 'UNKNOWN', 'InvalidAccessKeyId'],
    [/host;/, '', 'AuthorizationHeaderMalformed'],
    [/cache-control;/, '', 'SignatureDoesNotMatch'],
    [/;x-amz-meta-mood/, '', 'AccessDenied'],
    [/Signature=.*/, '', 'AuthorizationHeaderMalformed'],
    [/AWS4-HMAC-SHA256/, 'AWS4-HMAC-SHA512', 'InvalidArgument'],
  ];
  for (const [from, to, code] of changes) {
    const changed = authorization.replace(from, to);
    assert.notEqual(changed, authorization);
    await refused(rig.send({ ...put, headers: { ...put.headers, authorization: changed }, body: BODY }), code);
  }
  const region = await rig.send({
    ...put,
    headers: { ...put.headers, authorization: authorization.replace('north-1', 'x') },
    body: BODY,
  });
  assert.match(region.body.toString(), /<Region>north-1<\/Region>/);
  const [head = '', signature = ''] = authorization.split('Signature=');
  for (let at = 0; at < signature.length; at += 7) {
    const wrong = signature.slice(0, at) + (signature[at] === '0' ? '1' : '0') + signature.slice(at + 1);
    const headers = { ...put.headers, authorization: `${head}Signature=${wrong}` };
    await refused(rig.send({ ...put, headers, body: BODY }), 'SignatureDoesNotMatch');
  }
});

test('each part of a presigned address is covered, its time to live too', async () => {
  const signed = presign(rig.signer(), { method: 'PUT', path: '/photos/p', query: { 'x-amz-acl': 'private' } }, 600);
  assert.equal((await rig.send({ ...signed, body: BODY })).status, 200);
  rig.store.objects.clear();
  const changes: [RegExp, string, string[]][] = [
    [/Expires=600/, 'Expires=6000', ['SignatureDoesNotMatch']],
    [/Expires=600/, 'Expires=0', ['AuthorizationQueryParametersError']],
    [/Expires=600/, 'Expires=604801', ['AuthorizationQueryParametersError']],
    [/x-amz-acl=private/, 'x-amz-acl=public-read-write', ['SignatureDoesNotMatch']],
    [/&x-amz-acl=private/, '', ['SignatureDoesNotMatch']],
    [/Date=20261116T123456Z/, 'Date=20261116T123457Z', ['SignatureDoesNotMatch']],
    [/%2Fnorth-1%2F/, '%2Fnorth-2%2F', ['AuthorizationQueryParametersError']],
    [/SignedHeaders=host/, 'SignedHeaders=host%3Brange', ['SignatureDoesNotMatch']],
    [/SignedHeaders=host/, 'SignedHeaders=range', ['AuthorizationQueryParametersError']],
    [/Signature=../, 'Signature=zz', ['SignatureDoesNotMatch']],
    [/photos\/p/, 'photos/q', ['SignatureDoesNotMatch']],
    [/$/, '&x-amz-meta-more=1', ['SignatureDoesNotMatch']],
  ];
  for (const [from, to, codes] of changes) {
    const url = signed.url.replace(from, to);
    assert.ok(url !== signed.url || String(from) === '/$/');
    await refused(rig.send({ ...signed, url, body: BODY }), ...codes);
  }
  assert.equal((await rig.send({ ...signed, method: 'DELETE' })).status, 403);
  rig.now += 601_000;
  await refused(rig.send({ ...signed, body: BODY }), 'AccessDenied');
  rig.now -= 601_000;
});

const CHUNKS = ['a'.repeat(9000), 'b'.repeat(8192), 'the end'];
const DECODED = String(CHUNKS.join('').length);

function seed(payload: string, extra: Record<string, string> = {}): SignedHttp {
  return signHeaders(rig.signer(), {
    method: 'PUT',
    path: '/photos/chunks',
    payload,
    headers: { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': DECODED, ...extra },
  });
}

test('signed chunks are accepted, and every byte of them is covered', async () => {
  const put = seed('STREAMING-AWS4-HMAC-SHA256-PAYLOAD');
  const body = chunked(rig.signer(), put.signature, CHUNKS);
  assert.equal((await rig.send({ ...put, body })).status, 200);
  assert.equal(rig.store.bytesOf(photos, 'chunks')?.toString(), CHUNKS.join(''));
  rig.store.objects.clear();
  const codes = ['SignatureDoesNotMatch', 'InvalidRequest', 'IncompleteBody', 'InvalidChunkSizeError'];
  // Steps that meet data, sizes and signatures of all chunks; the line end behind the last chunk says nothing.
  for (let at = 0; at < body.length - 2; at += at % 9080 < 90 ? 1 : 611) {
    const changed = Buffer.from(body);
    changed[at]! ^= 1;
    await refused(rig.send({ ...put, body: changed }), ...codes);
  }
  const [first = '', second = '', third = ''] = CHUNKS;
  for (const chunks of [[first, second], [first, second, third, 'more'], []]) {
    await refused(rig.send({ ...put, body: chunked(rig.signer(), put.signature, chunks) }), ...codes);
  }
  const frame = (index: number) => body.indexOf(CHUNKS[index]!) - 'xxxx;chunk-signature='.length - 64 - 2;
  const swapped = [
    body.subarray(frame(1), frame(1) + 8192 + 89),
    body.subarray(0, frame(1)),
    body.subarray(frame(1) + 8192 + 89),
  ];
  await refused(rig.send({ ...put, body: Buffer.concat(swapped) }), 'SignatureDoesNotMatch');
  await refused(rig.send({ ...put, body: chunked(rig.signer(), null, CHUNKS) }), 'SignatureDoesNotMatch');
  await refused(rig.send({ ...put, body: body.subarray(0, 9300) }), ...codes);
});

test('a signed trailer is accepted, and its checksum and signature are covered', async () => {
  const put = seed('STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER', { 'x-amz-trailer': 'x-amz-checksum-crc32c' });
  const value = checksumOf('CRC32C', Buffer.from(CHUNKS.join('')));
  const body = chunked(rig.signer(), put.signature, CHUNKS, { 'x-amz-checksum-crc32c': value });
  const answer = await rig.send({ ...put, body });
  assert.equal(answer.status, 200);
  assert.equal(answer.headers['x-amz-checksum-crc32c'], value);
  rig.store.objects.clear();
  const text = body.toString('latin1');
  for (const at of [
    text.indexOf('x-amz-checksum') + 3,
    text.indexOf(value),
    text.indexOf('x-amz-trailer-signature:') + 30,
  ]) {
    const changed = Buffer.from(body);
    changed[at]! ^= 1;
    await refused(rig.send({ ...put, body: changed }), 'SignatureDoesNotMatch');
  }
  const cut = text.slice(0, text.indexOf('x-amz-trailer-signature:'));
  await refused(rig.send({ ...put, body: Buffer.from(cut, 'latin1') }), 'SignatureDoesNotMatch');
  const wrong = chunked(rig.signer(), put.signature, CHUNKS, { 'x-amz-checksum-crc32c': 'AAAAAA==' });
  await refused(rig.send({ ...put, body: wrong }), 'BadDigest');
  const missing = chunked(rig.signer(), put.signature, CHUNKS, {});
  await refused(rig.send({ ...put, body: missing }), 'MalformedTrailerError');
});

test('an unsigned trailer is held against the bytes for every algorithm', async () => {
  for (const algorithm of ['CRC32', 'CRC32C', 'CRC64NVME', 'SHA1', 'SHA256'] as const) {
    const name = `x-amz-checksum-${algorithm.toLowerCase()}`;
    const put = seed('STREAMING-UNSIGNED-PAYLOAD-TRAILER', {
      'x-amz-trailer': name,
      'x-amz-sdk-checksum-algorithm': algorithm,
    });
    const value = checksumOf(algorithm, Buffer.from(CHUNKS.join('')));
    const answer = await rig.send({ ...put, body: chunked(rig.signer(), null, CHUNKS, { [name]: value }) });
    assert.equal(answer.status, 200, algorithm);
    assert.equal(answer.headers[name], value);
    rig.store.objects.clear();
    const other = chunked(rig.signer(), null, [CHUNKS[0]!, CHUNKS[1]!, 'the enD'], { [name]: value });
    await refused(rig.send({ ...put, body: other }), 'BadDigest');
  }
});

test('keys of a policy form sign nothing else, and the date of a request is that of its scope', async () => {
  const signer = rig.signer();
  const put = signedPut();
  const authorization = put.headers['authorization']!.replace(put.signature, signText(signer, scopeOf(signer)));
  await refused(rig.send({ ...put, headers: { ...put.headers, authorization }, body: BODY }), 'SignatureDoesNotMatch');
  const late = signHeaders(rig.signer('ALPHAKEY', { time: '20261116T120000Z' }), { method: 'PUT', path: '/photos/x' });
  await refused(rig.send(late), 'RequestTimeTooSkewed');
});

test('a disabled account and a deleted key are refused on the next request', async () => {
  const put = signedPut();
  const answerTo = async (key: string) => {
    const answer = await rig.signed(
      { method: 'GET', path: '/photos' },
      rig.signer('ALPHAKEY', { accessKey: key, secret: 'guess' }),
    );
    const text = answer.body
      .toString()
      .replace(/<RequestId>.*?<\/RequestId>/, '')
      .replaceAll(key, 'KEY');
    return [answer.status, text];
  };
  rig.disabled.add(ALPHA);
  await refused(rig.send({ ...signedPut(), body: BODY }), 'InvalidAccessKeyId');
  assert.deepEqual(await answerTo('ALPHAKEY'), await answerTo('NOSUCHKEY'), 'who guesses a key learns nothing of it');
  rig.disabled.clear();
  const kept = rig.keys.get('ALPHAKEY')!;
  rig.keys.delete('ALPHAKEY');
  await refused(rig.send({ ...put, body: BODY }), 'InvalidAccessKeyId');
  rig.keys.set('ALPHAKEY', { ...kept, secret: 'new' });
  await refused(rig.send({ ...put, body: BODY }), 'SignatureDoesNotMatch');
  rig.keys.set('ALPHAKEY', kept);
});
