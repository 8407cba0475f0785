import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { checksumOf } from '../../checksums/checksums.ts';
import { type Answer, expect, type S3Client } from '../../testing/client.ts';
import { serve, type Served } from '../../testing/serve.ts';

const MIB = 2 ** 20;
let served: Served;
let ada: S3Client;

before(async () => {
  served = await serve();
  ada = served.as('ada');
  for (const name of ['parts', 'other']) {
    const policy = name === 'other' ? 'three-copies' : 'two-copies';
    expect(await ada.call('PUT', `/${name}`, { headers: { 'x-storage-policy': policy } }), 200);
  }
});

after(async () => {
  await served.close();
  assert.deepEqual(served.errors, []);
});

function md5(bytes: Uint8Array): Buffer {
  return createHash('md5').update(bytes).digest();
}

async function begin(key: string, headers: Record<string, string> = {}): Promise<string> {
  const begun = await ada.call('POST', `/parts/${key}`, { query: { uploads: '' }, headers });
  return expect(begun, 200).xml('UploadId')!;
}

function upload(key: string, uploadId: string, partNumber: number, body: Uint8Array, headers = {}): Promise<Answer> {
  return ada.call('PUT', `/parts/${key}`, { query: { uploadId, partNumber: String(partNumber) }, body, headers });
}

interface Named {
  readonly number: number;
  readonly etag: string | undefined;
  readonly more?: string;
}

function complete(key: string, uploadId: string, parts: readonly Named[], headers = {}): Promise<Answer> {
  const inner = parts.map(
    ({ number, etag, more = '' }) => `<Part><PartNumber>${number}</PartNumber><ETag>${etag}</ETag>${more}</Part>`,
  );
  const body = `<CompleteMultipartUpload>${inner.join('')}</CompleteMultipartUpload>`;
  return ada.call('POST', `/parts/${key}`, { query: { uploadId }, body, headers });
}

test('an object comes of its parts, and each part can be read by its number', async () => {
  const uploadId = await begin('whole', { 'content-type': 'text/plain', 'x-amz-meta-a': '1' });
  const bodies = [randomBytes(5 * MIB), randomBytes(6 * MIB), randomBytes(10)];
  const [first, second, third] = await Promise.all(
    bodies.map((body, at) => upload('whole', uploadId, 3 * at + 1, body)),
  );
  assert.equal(first?.headers.etag, `"${md5(bodies[0]!).toString('hex')}"`);

  const listed = expect(await ada.call('GET', '/parts/whole', { query: { uploadId, 'max-parts': '2' } }), 200);
  assert.deepEqual(listed.all('PartNumber'), ['1', '4']);
  assert.deepEqual([listed.xml('IsTruncated'), listed.xml('NextPartNumberMarker')], ['true', '4']);
  const rest = await ada.call('GET', '/parts/whole', { query: { uploadId, 'part-number-marker': '4' } });
  assert.deepEqual(rest.all('PartNumber'), ['7']);
  const uploads = await ada.call('GET', '/parts', { query: { uploads: '' } });
  assert.deepEqual([uploads.xml('Key'), uploads.xml('UploadId')], ['whole', uploadId]);

  const parts = [first, second, third].map((answer, at) => ({ number: 3 * at + 1, etag: answer?.headers.etag }));
  const done = expect(await complete('whole', uploadId, parts), 200);
  const etag = `"${md5(Buffer.concat(bodies.map(md5))).toString('hex')}-3"`;
  assert.equal(done.xml('ETag'), etag);
  assert.equal(done.xml('Location'), `${served.origin}/parts/whole`);
  // Who lost the answer asks again.
  assert.equal(expect(await complete('whole', uploadId, parts), 200).xml('ETag'), etag);
  const got = await ada.call('GET', '/parts/whole');
  assert.deepEqual(got.bytes, Buffer.concat(bodies));
  assert.deepEqual([got.headers.etag, got.headers['x-amz-meta-a']], [etag, '1']);
  const part = expect(await ada.call('GET', '/parts/whole', { query: { partNumber: '2' } }), 206);
  assert.deepEqual(part.bytes, bodies[1]);
  assert.equal(part.headers['x-amz-mp-parts-count'], '3');
  expect(await ada.call('GET', '/parts/whole', { query: { partNumber: '4' } }), 416, 'InvalidPartNumber');
  const across = await ada.call('GET', '/parts/whole', { headers: { range: `bytes=${5 * MIB - 3}-${5 * MIB + 2}` } });
  assert.deepEqual(across.bytes, Buffer.concat(bodies).subarray(5 * MIB - 3, 5 * MIB + 3));
  const copy = await ada.call('PUT', '/other/copy', { headers: { 'x-amz-copy-source': 'parts/whole' } });
  expect(copy, 200);
  assert.deepEqual((await ada.call('GET', '/other/copy')).bytes, Buffer.concat(bodies));
});

test('parts that do not fit are refused, and the upload stays', async () => {
  const uploadId = await begin('refused');
  const small = (await upload('refused', uploadId, 1, Buffer.from('small'))).headers.etag;
  const last = (await upload('refused', uploadId, 2, Buffer.from('last'))).headers.etag;
  const [one, two] = [
    { number: 1, etag: small },
    { number: 2, etag: last },
  ];
  const tooSmall = expect(await complete('refused', uploadId, [one, two]), 400, 'EntityTooSmall');
  assert.equal(tooSmall.xml('PartNumber'), '1');
  expect(await complete('refused', uploadId, [two, one]), 400, 'InvalidPartOrder');
  expect(await complete('refused', uploadId, [{ number: 1, etag: last }]), 400, 'InvalidPart');
  expect(await complete('refused', uploadId, [{ number: 3, etag: last }]), 400, 'InvalidPart');
  expect(await complete('refused', uploadId, []), 400, 'MalformedXML');
  expect(await upload('refused', uploadId, 10_001, Buffer.from('x')), 400, 'InvalidArgument');
  expect(await upload('refused', uploadId, 0, Buffer.from('x')), 400, 'InvalidArgument');
  expect(await upload('refused', 'f'.repeat(32), 1, Buffer.from('x')), 404, 'NoSuchUpload');
  expect(await upload('elsewhere', uploadId, 1, Buffer.from('x')), 404, 'NoSuchUpload');
  expect(await complete('refused', uploadId, [one], { 'x-amz-mp-object-size': '6' }), 400, 'InvalidRequest');
  expect(await complete('refused', uploadId, [one], { 'if-match': '"x"' }), 404, 'NoSuchKey');
  expect(await complete('refused', uploadId, [one], { 'if-none-match': '*' }), 200);
  const again = await begin('refused');
  const etag = (await upload('refused', again, 1, Buffer.from('x'))).headers.etag;
  expect(await complete('refused', again, [{ number: 1, etag }], { 'if-none-match': '*' }), 412, 'PreconditionFailed');
  expect(await ada.call('DELETE', '/parts/refused', { query: { uploadId: again } }), 204);
  expect(await ada.call('DELETE', '/parts/refused', { query: { uploadId: again } }), 404, 'NoSuchUpload');
});

for (const [algorithm, type] of [
  ['CRC32', 'FULL_OBJECT'],
  ['CRC32C', 'COMPOSITE'],
  ['CRC64NVME', 'FULL_OBJECT'],
  ['SHA256', 'COMPOSITE'],
] as const) {
  test(`${algorithm} of the whole follows from its parts: ${type}`, async () => {
    const name = `x-amz-checksum-${algorithm.toLowerCase()}`;
    const key = `sum-${algorithm}`;
    const bodies = [randomBytes(5 * MIB), randomBytes(1000)];
    const sums = bodies.map((body) => checksumOf(algorithm, body));
    const composite = `${checksumOf(algorithm, Buffer.concat(sums.map((sum) => Buffer.from(sum, 'base64'))))}-2`;
    const whole = type === 'COMPOSITE' ? composite : checksumOf(algorithm, Buffer.concat(bodies));
    const uploadId = await begin(key, { 'x-amz-checksum-algorithm': algorithm, 'x-amz-checksum-type': type });
    // The second is sent without one: it is computed here.
    const sent = [
      await upload(key, uploadId, 1, bodies[0]!, { [name]: sums[0]! }),
      await upload(key, uploadId, 2, bodies[1]!),
    ];
    assert.deepEqual(
      sent.map((answer) => answer.headers[name]),
      sums,
    );
    const other = algorithm === 'SHA256' ? 'CRC32' : 'SHA256';
    const headers = { [`x-amz-checksum-${other.toLowerCase()}`]: checksumOf(other, bodies[1]!) };
    expect(await upload(key, uploadId, 2, bodies[1]!, headers), 400, 'InvalidRequest');
    const parts = sent.map((answer, at) => ({
      number: at + 1,
      etag: answer.headers.etag,
      more: `<Checksum${algorithm}>${sums[at]}</Checksum${algorithm}>`,
    }));
    expect(await complete(key, uploadId, parts, { [name]: checksumOf(algorithm, Buffer.from('x')) }), 400, 'BadDigest');
    const wrong = parts.map((part) => ({ ...part, more: part.more.replace(/>./, '>?') }));
    expect(await complete(key, uploadId, wrong), 400, 'InvalidPart');
    const done = expect(await complete(key, uploadId, parts, { [name]: whole }), 200);
    assert.equal(done.xml(`Checksum${algorithm}`), whole);
    const head = await ada.call('HEAD', `/parts/${key}`, { headers: { 'x-amz-checksum-mode': 'ENABLED' } });
    assert.deepEqual([head.headers[name], head.headers['x-amz-checksum-type']], [whole, type]);
    const attributes = await ada.call('GET', `/parts/${key}`, {
      query: { attributes: '' },
      headers: { 'x-amz-object-attributes': 'ObjectParts,Checksum', 'x-amz-max-parts': '1' },
    });
    assert.deepEqual(attributes.all('PartNumber'), ['1']);
    assert.deepEqual([attributes.xml('PartsCount'), attributes.xml('IsTruncated')], ['2', 'true']);
  });
}

test('checksums that parts cannot make are refused at the start', async () => {
  const refuse = async (headers: Record<string, string>) =>
    expect(await ada.call('POST', '/parts/k', { query: { uploads: '' }, headers }), 400, 'InvalidRequest');
  await refuse({ 'x-amz-checksum-algorithm': 'SHA1', 'x-amz-checksum-type': 'FULL_OBJECT' });
  await refuse({ 'x-amz-checksum-algorithm': 'CRC64NVME', 'x-amz-checksum-type': 'COMPOSITE' });
  await refuse({ 'x-amz-checksum-algorithm': 'MD4' });
  await refuse({ 'x-amz-checksum-type': 'COMPOSITE' });
});

test('parts are copied whole or in ranges, within a policy and across', async () => {
  const source = randomBytes(6 * MIB);
  for (const bucket of ['parts', 'other']) await ada.call('PUT', `/${bucket}/source`, { body: source });
  for (const bucket of ['parts', 'other']) {
    const uploadId = await begin('copied');
    const copy = (partNumber: string, headers: Record<string, string>) =>
      ada.call('PUT', '/parts/copied', {
        query: { uploadId, partNumber },
        headers: { 'x-amz-copy-source': `${bucket}/source`, ...headers },
      });
    const first = expect(await copy('1', {}), 200);
    assert.equal(first.xml('ETag'), `"${md5(source).toString('hex')}"`);
    const second = expect(await copy('2', { 'x-amz-copy-source-range': 'bytes=10-1000009' }), 200);
    expect(await copy('3', { 'x-amz-copy-source-range': `bytes=0-${source.length}` }), 400, 'InvalidArgument');
    const parts = [first, second].map((answer, at) => ({ number: at + 1, etag: answer.xml('ETag') }));
    expect(await complete('copied', uploadId, parts), 200);
    const expected = Buffer.concat([source, source.subarray(10, 1_000_010)]);
    assert.ok((await ada.call('GET', '/parts/copied')).bytes.equals(expected));
  }
});

test('unfinished uploads are listed in pages and by folders, and do not keep a bucket', async () => {
  expect(await ada.call('PUT', '/pages'), 200);
  for (const key of ['a', 'a', 'b/1', 'b/2', 'c']) {
    expect(await ada.call('POST', `/pages/${key}`, { query: { uploads: '' } }), 200);
  }
  const seen: string[] = [];
  for (let query: Record<string, string> = { uploads: '', 'max-uploads': '1' }, more = true; more;) {
    const page = expect(await ada.call('GET', '/pages', { query }), 200);
    seen.push(...page.all('UploadId'));
    more = page.xml('IsTruncated') === 'true';
    const [key, id] = [page.xml('NextKeyMarker') ?? '', page.xml('NextUploadIdMarker') ?? ''];
    query = { uploads: '', 'max-uploads': '1', 'key-marker': key, 'upload-id-marker': id };
  }
  assert.equal(new Set(seen).size, 5);
  const folders = await ada.call('GET', '/pages', { query: { uploads: '', delimiter: '/' } });
  assert.deepEqual(folders.all('Key'), ['a', 'a', 'c']);
  assert.equal(folders.all('CommonPrefixes').length, 1);
  expect(await ada.call('DELETE', '/pages'), 204);
});

async function inTwoParts(key: string, headers: Record<string, string>): Promise<readonly Buffer[]> {
  const bodies = [randomBytes(5 * MIB), randomBytes(10)];
  const uploadId = await begin(key, headers);
  const sent = await Promise.all(bodies.map((body, at) => upload(key, uploadId, at + 1, body)));
  const named = sent.map((answer, at) => ({ number: at + 1, etag: answer.headers.etag }));
  expect(await complete(key, uploadId, named), 200);
  return bodies;
}

for (const [algorithm, type] of [
  ['CRC32', 'COMPOSITE'],
  ['CRC32C', 'FULL_OBJECT'],
  ['SHA1', 'COMPOSITE'],
  ['SHA256', 'COMPOSITE'],
  ['CRC64NVME', 'FULL_OBJECT'],
] as const) {
  test(`a part read by its number comes with its ${algorithm} and the type of the whole's, ${type}`, async () => {
    const key = `by-number-${algorithm}`;
    const bodies = await inTwoParts(key, { 'x-amz-checksum-algorithm': algorithm, 'x-amz-checksum-type': type });
    const name = `x-amz-checksum-${algorithm.toLowerCase()}`;
    for (const method of ['GET', 'HEAD']) {
      const call = { query: { partNumber: '2' }, headers: { 'x-amz-checksum-mode': 'ENABLED' } };
      const { headers } = expect(await ada.call(method, `/parts/${key}`, call), 206);
      assert.equal(headers['x-amz-mp-parts-count'], '2');
      assert.equal(headers['content-range'], `bytes ${5 * MIB}-${5 * MIB + 9}/${5 * MIB + 10}`);
      assert.deepEqual([headers[name], headers['x-amz-checksum-type']], [checksumOf(algorithm, bodies[1]!), type]);
    }
    const unasked = expect(await ada.call('HEAD', `/parts/${key}`, { query: { partNumber: '1' } }), 206);
    assert.equal(unasked.headers['x-amz-checksum-type'], undefined);
    const beyond = await ada.call('GET', `/parts/${key}`, { query: { partNumber: '3' } });
    expect(beyond, 416, 'InvalidPartNumber');
    const asked = { query: { attributes: '' }, headers: { 'x-amz-object-attributes': 'Checksum,ObjectParts' } };
    const attributes = expect(await ada.call('GET', `/parts/${key}`, asked), 200);
    assert.equal(attributes.xml('ChecksumType'), type);
    assert.deepEqual(
      attributes.all(`Checksum${algorithm}`).slice(1),
      bodies.map((body) => checksumOf(algorithm, body)),
    );
    expect(await ada.call('PUT', '/parts/copy', { headers: { 'x-amz-copy-source': `parts/${key}` } }), 200);
    const copied = expect(await ada.call('GET', '/parts/copy', asked), 200);
    assert.deepEqual(copied.all(`Checksum${algorithm}`), attributes.all(`Checksum${algorithm}`));
  });
}

test('parts without checksums are listed by number and size, an object that was put whole has none', async () => {
  await inTwoParts('bare', {});
  const asked = (names: string, headers = {}) => ({
    query: { attributes: '' },
    headers: { 'x-amz-object-attributes': names, ...headers },
  });
  const all = expect(await ada.call('GET', '/parts/bare', asked('ObjectParts,ObjectSize')), 200);
  assert.deepEqual(
    [all.xml('PartsCount'), all.all('PartNumber'), all.all('Size')],
    ['2', ['1', '2'], [`${5 * MIB}`, '10']],
  );
  const second = { 'x-amz-max-parts': '1', 'x-amz-part-number-marker': '1' };
  const page = expect(await ada.call('GET', '/parts/bare', asked('ObjectParts', second)), 200);
  assert.deepEqual(
    [page.all('PartNumber'), page.xml('IsTruncated'), page.xml('PartNumberMarker')],
    [['2'], 'false', '1'],
  );
  expect(await ada.call('PUT', '/parts/one', { body: 'x' }), 200);
  const whole = expect(await ada.call('GET', '/parts/one', asked('ETag,Checksum,ObjectParts,ObjectSize')), 200);
  assert.deepEqual(
    [whole.xml('ObjectParts'), whole.xml('Checksum'), whole.xml('ObjectSize')],
    [undefined, undefined, '1'],
  );
  expect(await ada.call('GET', '/parts/one', { query: { attributes: '' } }), 400, 'InvalidArgument');
});

test('a completion is held to the checksums it names', async () => {
  const body = randomBytes(10);
  const begun = async (key: string, headers = {}) => {
    const uploadId = await begin(key, headers);
    const { etag } = expect(await upload(key, uploadId, 1, body), 200).headers;
    return (more: string, given = {}) => complete(key, uploadId, [{ number: 1, etag, more }], given);
  };
  const crc = checksumOf('CRC32', body);
  const checked = await begun('named', { 'x-amz-checksum-algorithm': 'CRC32', 'x-amz-checksum-type': 'FULL_OBJECT' });
  expect(await checked('<ChecksumSHA1>x</ChecksumSHA1>'), 400, 'InvalidPart');
  expect(await checked('<ChecksumCRC32>AAAAAA==</ChecksumCRC32>'), 400, 'InvalidPart');
  expect(await checked('', { 'x-amz-checksum-sha1': 'x' }), 400, 'InvalidRequest');
  expect(await checked('', { 'x-amz-checksum-crc32': 'AAAAAA==' }), 400, 'BadDigest');
  expect(await checked('', { 'x-amz-checksum-type': 'COMPOSITE' }), 400, 'InvalidRequest');
  expect(await checked(`<ChecksumCRC32>${crc}</ChecksumCRC32>`, { 'x-amz-checksum-crc32': crc }), 200);
  const unchecked = await begun('unnamed');
  expect(await unchecked('', { 'x-amz-checksum-crc32': crc }), 400, 'InvalidRequest');
  expect(await unchecked(''), 200);
});
