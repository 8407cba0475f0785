import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { expect, type S3Client } from '../testing/client.ts';
import { serve, type Served } from '../testing/serve.ts';

let served: Served;
let ada: S3Client;
let count = 0;

before(async () => {
  served = await serve();
  ada = served.as('ada');
});

after(async () => {
  await served.close();
  assert.deepEqual(served.errors, []);
});

async function newBucket(): Promise<string> {
  const name = `sealed-${++count}`;
  expect(await ada.call('PUT', `/${name}`), 200);
  return name;
}

const OWN = 'x-amz-server-side-encryption-customer';
const SOURCE = 'x-amz-copy-source-server-side-encryption-customer';
const SSE = 'x-amz-server-side-encryption';

function keyHeaders(key: Buffer, prefix = OWN): Record<string, string> {
  return {
    [`${prefix}-algorithm`]: 'AES256',
    [`${prefix}-key`]: key.toString('base64'),
    [`${prefix}-key-md5`]: createHash('md5').update(key).digest('base64'),
  };
}

const KEY = randomBytes(32);
const OTHER = randomBytes(32);
const MINE = keyHeaders(KEY);

/** What the store has of an object. */
async function kept(bucket: string, key: string) {
  const { store } = served.context;
  const { id } = store.bucketsNamed(bucket)[0]!;
  const version = store.version(id, key)!;
  const { customerKey, ...attributes } = version.attributes;
  return { version, customerKey, bytes: Buffer.from(await store.readWhole({ ...version, attributes })) };
}

test('an object under a key of the client is read with that key alone', async () => {
  const bucket = await newBucket();
  const path = `/${bucket}/k`;
  const text = 'what nobody else may read; '.repeat(20);
  const put = expect(await ada.call('PUT', path, { body: text, headers: MINE }), 200);
  assert.equal(put.headers[`${OWN}-algorithm`], 'AES256');
  assert.equal(put.headers[`${OWN}-key-md5`], MINE[`${OWN}-key-md5`]);
  assert.equal(put.headers[SSE], undefined);
  assert.notEqual(put.headers.etag, `"${createHash('md5').update(text).digest('hex')}"`);
  for (const method of ['GET', 'HEAD']) {
    const got = expect(await ada.call(method, path, { headers: MINE }), 200);
    assert.equal(got.headers[`${OWN}-key-md5`], MINE[`${OWN}-key-md5`]);
    assert.equal(got.headers.etag, put.headers.etag);
    assert.equal(got.headers['content-length'], String(text.length));
    if (method === 'GET') assert.equal(got.text, text);
    expect(await ada.call(method, path), 400);
    expect(await ada.call(method, path, { headers: keyHeaders(OTHER) }), 403);
  }
  expect(await ada.call('GET', path), 400, 'InvalidRequest');
  expect(await ada.call('GET', path, { headers: keyHeaders(OTHER) }), 403, 'AccessDenied');
  const attributes = { query: { attributes: '' }, headers: { 'x-amz-object-attributes': 'ObjectSize' } };
  expect(await ada.call('GET', path, attributes), 400, 'InvalidRequest');
  const keyed = { ...attributes, headers: { ...attributes.headers, ...MINE } };
  assert.equal(expect(await ada.call('GET', path, keyed), 200).xml('ObjectSize'), String(text.length));

  const { bytes, customerKey, version } = await kept(bucket, 'k');
  assert.ok(!bytes.includes('nobody'));
  assert.ok(!JSON.stringify(customerKey).includes(KEY.toString('base64')));
  assert.throws(() => served.context.store.read(version), { code: 'sealed' });
  // A link opens one for who has the key; a plain object takes none.
  await ada.call('PUT', `/${bucket}/plain`, { body: 'x' });
  expect(await ada.call('GET', `/${bucket}/plain`, { headers: MINE }), 400, 'InvalidRequest');
});

test('a key that is incomplete, wrong or beside another kind of encryption is refused by its part', async () => {
  const bucket = await newBucket();
  const path = `/${bucket}/k`;
  const put = (headers: Record<string, string>) => ada.call('PUT', path, { body: 'x', headers });
  const without = (part: string) =>
    Object.fromEntries(Object.entries(MINE).filter(([name]) => name !== `${OWN}-${part}`));
  for (const part of ['algorithm', 'key', 'key-md5']) expect(await put(without(part)), 400, 'InvalidArgument');
  expect(await put({ ...MINE, [`${OWN}-algorithm`]: 'DES' }), 400, 'InvalidEncryptionAlgorithmError');
  expect(await put({ ...MINE, [`${OWN}-key`]: 'c2hvcnQ=' }), 400, 'InvalidArgument');
  const wrong = expect(await put({ ...MINE, [`${OWN}-key`]: OTHER.toString('base64') }), 400, 'InvalidArgument');
  assert.ok(!wrong.text.includes(OTHER.toString('base64')), 'the key is not in the answer');
  expect(await put({ ...MINE, [SSE]: 'AES256' }), 400, 'InvalidArgument');
  expect(await put({ [SSE]: 'aws:kms' }), 501, 'NotImplemented');
  expect(await put({ [SSE]: 'rot13' }), 400, 'InvalidArgument');
  expect(await put({ [SSE]: 'AES256', [`${SSE}-aws-kms-key-id`]: 'x' }), 400, 'InvalidArgument');
  expect(await ada.call('HEAD', path), 404);
});

test('any range of an object under a key is the range of what was put, whole or in parts', async () => {
  const bucket = await newBucket();
  const whole = randomBytes(200_001);
  await ada.call('PUT', `/${bucket}/whole`, { body: whole, headers: MINE });
  const created = await ada.call('POST', `/${bucket}/parts`, { query: { uploads: '' }, headers: MINE });
  assert.equal(expect(created, 200).headers[`${OWN}-algorithm`], 'AES256');
  const uploadId = created.xml('UploadId')!;
  const parts = [randomBytes(5 * 2 ** 20 + 7), randomBytes(5 * 2 ** 20), randomBytes(12_345)];
  const named: string[] = [];
  for (const [index, body] of parts.entries()) {
    // Numbers have gaps, and a part that comes again takes the place of the first.
    const query = { uploadId, partNumber: String(index * 3 + 1) };
    if (index === 2) expect(await ada.call('PUT', `/${bucket}/parts`, { query, body: 'first', headers: MINE }), 200);
    const part = expect(await ada.call('PUT', `/${bucket}/parts`, { query, body, headers: MINE }), 200);
    assert.equal(part.headers[`${OWN}-algorithm`], 'AES256');
    named.push(`<Part><PartNumber>${query.partNumber}</PartNumber><ETag>${part.headers.etag}</ETag></Part>`);
  }
  const query = { uploadId, partNumber: '9' };
  expect(await ada.call('PUT', `/${bucket}/parts`, { query, body: 'x' }), 400, 'InvalidRequest');
  expect(
    await ada.call('PUT', `/${bucket}/parts`, { query, body: 'x', headers: keyHeaders(OTHER) }),
    400,
    'InvalidRequest',
  );
  const body = `<CompleteMultipartUpload>${named.join('')}</CompleteMultipartUpload>`;
  expect(await ada.call('POST', `/${bucket}/parts`, { query: { uploadId }, body }), 200);

  const joined = Buffer.concat(parts);
  const second = await ada.call('GET', `/${bucket}/parts`, { query: { partNumber: '2' }, headers: MINE });
  assert.ok(expect(second, 206).bytes.equals(parts[1]!));
  const { bytes } = await kept(bucket, 'whole');
  assert.ok(!bytes.includes(whole.subarray(0, 16)));
  // Around where parts meet, and anywhere.
  const near = (edge: number) => fc.integer({ min: Math.max(0, edge - 40), max: edge + 40 });
  const edges = [0, parts[0]!.length, parts[0]!.length + parts[1]!.length, joined.length - 1];
  const place = (size: number) => fc.oneof(fc.nat({ max: size - 1 }), ...edges.map(near));
  const ranges = fc.oneof(
    fc.tuple(fc.constant('whole'), fc.nat({ max: whole.length - 1 }), fc.nat({ max: 70_000 })),
    fc.tuple(fc.constant('parts'), place(joined.length), fc.nat({ max: 200_000 })),
  );
  await fc.assert(
    fc.asyncProperty(ranges, async ([name, start, length]) => {
      const all = name === 'whole' ? whole : joined;
      const first = Math.min(start, all.length - 1);
      const range = `bytes=${first}-${first + length}`;
      const got = expect(await ada.call('GET', `/${bucket}/${name}`, { headers: { ...MINE, range } }), 206);
      assert.ok(got.bytes.equals(all.subarray(first, first + length + 1)), `${name} ${range}`);
    }),
    { numRuns: 60 },
  );
  const got = await ada.call('GET', `/${bucket}/parts`, { headers: MINE });
  assert.ok(got.bytes.equals(joined));
});

test('a copy reads its source with one key and is written with another, or with none', async () => {
  const bucket = await newBucket();
  await ada.call('PUT', `/${bucket}/source`, { body: 'text', headers: { ...MINE, 'x-amz-meta-color': 'blue' } });
  const copy = (to: string, headers: Record<string, string>) =>
    ada.call('PUT', `/${bucket}/${to}`, { headers: { 'x-amz-copy-source': `${bucket}/source`, ...headers } });
  expect(await copy('none', {}), 400, 'InvalidRequest');
  expect(await copy('none', keyHeaders(OTHER, SOURCE)), 403, 'AccessDenied');
  const open = keyHeaders(KEY, SOURCE);
  const rekeyed = expect(await copy('rekeyed', { ...open, ...keyHeaders(OTHER) }), 200);
  assert.equal(rekeyed.headers[`${OWN}-algorithm`], 'AES256');
  const read = await ada.call('GET', `/${bucket}/rekeyed`, { headers: keyHeaders(OTHER) });
  assert.deepEqual([read.text, read.headers['x-amz-meta-color']], ['text', 'blue']);
  expect(await ada.call('GET', `/${bucket}/rekeyed`, { headers: MINE }), 403);
  expect(await copy('plain', open), 200);
  const plain = await ada.call('GET', `/${bucket}/plain`);
  assert.deepEqual([plain.text, plain.headers.etag], ['text', `"${createHash('md5').update('text').digest('hex')}"`]);
  expect(await copy('array', { ...open, [SSE]: 'AES256' }), 200);
  assert.equal((await ada.call('GET', `/${bucket}/array`)).headers[SSE], 'AES256');
  // Another key for the same object.
  expect(await copy('source', { ...open, ...keyHeaders(OTHER) }), 200);
  expect(await ada.call('GET', `/${bucket}/source`, { headers: keyHeaders(OTHER) }), 200);
  const from = { 'x-amz-copy-source': `${bucket}/plain`, ...MINE };
  expect(await ada.call('PUT', `/${bucket}/sealed`, { headers: from }), 200);
  assert.equal((await ada.call('GET', `/${bucket}/sealed`, { headers: MINE })).text, 'text');

  const created = await ada.call('POST', `/${bucket}/parts`, { query: { uploads: '' }, headers: keyHeaders(KEY) });
  const uploadId = created.xml('UploadId')!;
  const headers = { 'x-amz-copy-source': `${bucket}/rekeyed`, ...keyHeaders(OTHER, SOURCE), ...MINE };
  const part = await ada.call('PUT', `/${bucket}/parts`, { query: { uploadId, partNumber: '1' }, headers });
  const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${expect(part, 200).xml('ETag')}</ETag></Part></CompleteMultipartUpload>`;
  expect(await ada.call('POST', `/${bucket}/parts`, { query: { uploadId }, body }), 200);
  assert.equal((await ada.call('GET', `/${bucket}/parts`, { headers: MINE })).text, 'text');
});

/** Number of the key that the bytes of an object are encrypted with. */
async function isEncrypted(bucket: string, key: string): Promise<boolean> {
  return served.context.store.isEncrypted((await kept(bucket, key)).version);
}

test('AES256 encrypts what asks for it, and all of a bucket that has it as its default', async () => {
  const bucket = await newBucket();
  const asked = { [SSE]: 'AES256' };
  await ada.call('PUT', `/${bucket}/plain`, { body: 'text' });
  assert.equal(await isEncrypted(bucket, 'plain'), false);
  assert.equal((await ada.call('HEAD', `/${bucket}/plain`)).headers[SSE], undefined);
  for (const [name, body] of [
    ['small', 'text'],
    ['large', 'text'.repeat(50_000)],
  ] as const) {
    assert.equal(
      expect(await ada.call('PUT', `/${bucket}/${name}`, { body, headers: asked }), 200).headers[SSE],
      'AES256',
    );
    assert.equal(await isEncrypted(bucket, name), true);
    const got = await ada.call('GET', `/${bucket}/${name}`);
    assert.deepEqual([got.text, got.headers[SSE]], [body, 'AES256']);
  }
  expect(await ada.call('GET', `/${bucket}/small`, { headers: asked }), 400, 'InvalidArgument');
  const source = { 'x-amz-copy-source': `${bucket}/plain` };
  const copied = expect(await ada.call('PUT', `/${bucket}/copy`, { headers: { ...source, ...asked } }), 200);
  assert.equal(copied.headers[SSE], 'AES256');
  assert.equal(await isEncrypted(bucket, 'copy'), true);

  const query = { encryption: '' };
  const configuration = (inner: string) =>
    `<ServerSideEncryptionConfiguration><Rule><ApplyServerSideEncryptionByDefault>${inner}</ApplyServerSideEncryptionByDefault></Rule></ServerSideEncryptionConfiguration>`;
  const body = configuration('<SSEAlgorithm>AES256</SSEAlgorithm>');
  expect(await ada.call('PUT', `/${bucket}`, { query, body }), 200);
  assert.equal((await ada.call('GET', `/${bucket}`, { query })).xml('SSEAlgorithm'), 'AES256');
  assert.equal((await ada.call('PUT', `/${bucket}/by-default`, { body: 'x' })).headers[SSE], 'AES256');
  assert.equal(await isEncrypted(bucket, 'by-default'), true);
  const created = await ada.call('POST', `/${bucket}/parts`, { query: { uploads: '' } });
  assert.equal(created.headers[SSE], 'AES256');
  const uploadId = created.xml('UploadId')!;
  const part = await ada.call('PUT', `/${bucket}/parts`, { query: { uploadId, partNumber: '1' }, body: 'part' });
  assert.equal(part.headers[SSE], 'AES256');
  const list = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.headers.etag}</ETag></Part></CompleteMultipartUpload>`;
  const done = await ada.call('POST', `/${bucket}/parts`, { query: { uploadId }, body: list });
  assert.equal(expect(done, 200).headers[SSE], 'AES256');
  assert.equal(await isEncrypted(bucket, 'parts'), true);
  // A key of the client's comes before the default.
  const sealed = expect(await ada.call('PUT', `/${bucket}/sealed`, { body: 'x', headers: MINE }), 200);
  assert.equal(sealed.headers[SSE], undefined);
  expect(await ada.call('DELETE', `/${bucket}`, { query }), 204);
  expect(await ada.call('GET', `/${bucket}`, { query }), 404, 'ServerSideEncryptionConfigurationNotFoundError');
  assert.equal((await ada.call('PUT', `/${bucket}/after`, { body: 'x' })).headers[SSE], undefined);

  const refused: [string, number, string][] = [
    [configuration('<SSEAlgorithm>aws:kms</SSEAlgorithm>'), 501, 'NotImplemented'],
    [configuration('<SSEAlgorithm>rot13</SSEAlgorithm>'), 400, 'MalformedXML'],
    [configuration(''), 400, 'MalformedXML'],
    [configuration('<SSEAlgorithm>AES256</SSEAlgorithm><KMSMasterKeyID>x</KMSMasterKeyID>'), 400, 'InvalidArgument'],
    ['<ServerSideEncryptionConfiguration/>', 400, 'MalformedXML'],
  ];
  for (const [text, status, code] of refused)
    expect(await ada.call('PUT', `/${bucket}`, { query, body: text }), status, code);
  expect(await ada.call('GET', `/${bucket}`, { query }), 404);
});
