import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { checksumOf } from '../checksums/checksums.ts';
import { ALPHA, type Answer, S3Rig } from '../testing/rig.ts';
import { chunked, signHeaders } from '../testing/signer.ts';

const rig = new S3Rig();

before(() => rig.start());
after(() => rig.stop());
beforeEach(() => {
  rig.store.objects.clear();
  rig.store.buckets.length = 0;
  rig.store.addBucket({ account: ALPHA, name: 'photos' });
});

const CRC = checksumOf('CRC32', Buffer.from('meow'));

function put(headers: Readonly<Record<string, string>>): Promise<Answer> {
  return rig.signed({ method: 'PUT', path: '/photos/cat', headers, body: 'meow' });
}

/** In unsigned chunks, with what follows them. */
function putWithTrailers(
  headers: Readonly<Record<string, string>>,
  trailers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const body = chunked(rig.signer(), null, ['meow'], trailers);
  const all = { 'content-encoding': 'aws-chunked', 'x-amz-decoded-content-length': '4', ...headers };
  const toSign = { method: 'PUT', path: '/photos/cat', headers: all, payload: 'STREAMING-UNSIGNED-PAYLOAD-TRAILER' };
  return rig.send({ ...signHeaders(rig.signer(), toSign), body });
}

async function refused(answer: Promise<Answer>, code: string): Promise<void> {
  const { code: got, status, body } = await answer;
  assert.deepEqual([status, got], [400, code], body.toString());
  assert.equal(rig.store.objects.size, 0);
}

test('a checksum that is declared and does not come is missed', async () => {
  await refused(put({ 'x-amz-sdk-checksum-algorithm': 'CRC32' }), 'InvalidRequest');
  await refused(put({ 'x-amz-sdk-checksum-algorithm': 'CRC31' }), 'InvalidRequest');
  await refused(put({ 'x-amz-trailer': 'x-amz-checksum-crc32' }), 'InvalidRequest');
  await refused(putWithTrailers({ 'x-amz-trailer': 'x-amz-checksum-crc32' }, {}), 'MalformedTrailerError');
  assert.equal((await put({ 'x-amz-sdk-checksum-algorithm': 'CRC32', 'x-amz-checksum-crc32': CRC })).status, 200);
});

test('a checksum comes as a header or as a trailer, once, and as what it is called', async () => {
  const trailer = { 'x-amz-trailer': 'x-amz-checksum-crc32' };
  await refused(
    putWithTrailers({ ...trailer, 'x-amz-checksum-crc32': CRC }, { 'x-amz-checksum-crc32': CRC }),
    'InvalidRequest',
  );
  await refused(put({ 'x-amz-checksum-crc32': CRC, 'x-amz-checksum-crc32c': CRC }), 'InvalidRequest');
  await refused(put({ 'x-amz-sdk-checksum-algorithm': 'SHA1', 'x-amz-checksum-crc32': CRC }), 'InvalidRequest');
  await refused(putWithTrailers(trailer, { 'x-amz-checksum-sha1': CRC }), 'MalformedTrailerError');
  await refused(
    putWithTrailers(trailer, { 'x-amz-checksum-crc32': CRC, 'x-amz-checksum-sha1': 'x' }),
    'MalformedTrailerError',
  );
  await refused(putWithTrailers({}, { 'x-amz-checksum-crc32': CRC }), 'MalformedTrailerError');
  assert.equal((await putWithTrailers(trailer, { 'x-amz-checksum-crc32': CRC })).status, 200);
});

for (const value of ['', 'bad', 'AAAA', 'AAAAAA', 'AAAAAA=', 'AAA*AA==', 'AAAAAB==', 'AAAAAAAA']) {
  test(`'${value}' is no CRC32`, async () => {
    await refused(put({ 'x-amz-checksum-crc32': value }), 'InvalidRequest');
    await refused(
      putWithTrailers({ 'x-amz-trailer': 'x-amz-checksum-crc32' }, { 'x-amz-checksum-crc32': value }),
      'InvalidRequest',
    );
  });
}

test('a checksum of other bytes is refused', async () => {
  await refused(put({ 'x-amz-checksum-crc32': 'AAAAAA==' }), 'BadDigest');
  await refused(
    putWithTrailers({ 'x-amz-trailer': 'x-amz-checksum-crc32' }, { 'x-amz-checksum-crc32': 'AAAAAA==' }),
    'BadDigest',
  );
});

test('an expectation other than 100-continue is not met, an empty one is none', async () => {
  const failed = await put({ expect: '200-ok' });
  assert.deepEqual([failed.status, failed.code], [417, 'ExpectationFailed']);
  assert.equal((await put({ expect: '' })).status, 200);
  assert.equal((await put({ expect: '100-continue' })).status, 200);
});

test('an empty Authorization header is as good as none', async () => {
  const answer = await rig.send({ method: 'GET', url: '/photos/cat', headers: { authorization: '' } });
  assert.equal(answer.code, 'AccessDenied');
});
