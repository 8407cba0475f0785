import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { serve, type Served } from '../../testing/serve.ts';
import { expect, type S3Client } from '../../testing/client.ts';

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

async function newBucket(headers: Record<string, string> = {}): Promise<string> {
  const name = `bucket-${++count}`;
  expect(await ada.call('PUT', `/${name}`, { headers }), 200);
  return name;
}

function md5(bytes: string | Uint8Array): string {
  return createHash('md5').update(bytes).digest('hex');
}

test('an object comes back as it was put, with what was said of it', async () => {
  const bucket = await newBucket();
  const path = `/${bucket}/a folder/ä+b?.txt`;
  const put = await ada.call('PUT', path, {
    body: 'hello',
    headers: {
      'content-type': 'text/plain',
      'cache-control': 'no-store',
      'content-disposition': 'attachment',
      'x-amz-meta-color': 'blue',
      'x-amz-tagging': 'kind=letter&empty=',
    },
  });
  expect(put, 200);
  assert.equal(put.headers.etag, `"${md5('hello')}"`);
  assert.equal(put.headers['x-amz-version-id'], undefined);
  for (const method of ['GET', 'HEAD']) {
    const got = expect(await ada.call(method, path), 200);
    assert.equal(got.text, method === 'GET' ? 'hello' : '');
    assert.equal(got.headers['content-length'], '5');
    assert.equal(got.headers['content-type'], 'text/plain');
    assert.equal(got.headers['cache-control'], 'no-store');
    assert.equal(got.headers['content-disposition'], 'attachment');
    assert.equal(got.headers['x-amz-meta-color'], 'blue');
    assert.equal(got.headers['x-amz-tagging-count'], '2');
    assert.equal(got.headers['accept-ranges'], 'bytes');
    assert.equal(got.headers.etag, `"${md5('hello')}"`);
    assert.match(got.headers['last-modified'] ?? '', /^\w{3}, \d{2} \w{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/);
  }
  const shown = await ada.call('GET', path, {
    query: { 'response-content-type': 'text/html', 'response-cache-control': 'public' },
  });
  assert.equal(shown.headers['content-type'], 'text/html');
  assert.equal(shown.headers['cache-control'], 'public');
});

test('large and empty objects come back, whole and in ranges', async () => {
  const bucket = await newBucket();
  const large = randomBytes(3 * 2 ** 20 + 17);
  expect(await ada.call('PUT', `/${bucket}/large`, { body: large }), 200);
  expect(await ada.call('PUT', `/${bucket}/empty`), 200);
  assert.deepEqual((await ada.call('GET', `/${bucket}/large`)).bytes, large);
  assert.equal((await ada.call('GET', `/${bucket}/empty`)).bytes.length, 0);
  const range = async (header: string, status: number) =>
    expect(await ada.call('GET', `/${bucket}/large`, { headers: { range: header } }), status);
  const middle = await range('bytes=1000000-2999999', 206);
  assert.deepEqual(middle.bytes, large.subarray(1_000_000, 3_000_000));
  assert.equal(middle.headers['content-range'], `bytes 1000000-2999999/${large.length}`);
  assert.deepEqual((await range('bytes=-17', 206)).bytes, large.subarray(-17));
  assert.equal((await range('bytes=0-1,5-6', 200)).bytes.length, large.length);
  const beyond = await range(`bytes=${large.length}-`, 416);
  assert.equal(beyond.xml('Code'), 'InvalidRange');
  assert.equal(beyond.xml('ActualObjectSize'), String(large.length));
});

test('conditions of reads answer 304 and 412', async () => {
  const bucket = await newBucket();
  const path = `/${bucket}/k`;
  const { etag = '' } = (await ada.call('PUT', path, { body: 'x' })).headers;
  const get = async (headers: Record<string, string>, status: number) =>
    expect(await ada.call('GET', path, { headers }), status);
  await get({ 'if-match': etag }, 200);
  await get({ 'if-match': '"other"' }, 412);
  const unchanged = await get({ 'if-none-match': etag }, 304);
  assert.equal(unchanged.headers.etag, etag);
  assert.equal(unchanged.bytes.length, 0);
  const future = new Date(Date.now() + 86_400_000).toUTCString();
  await get({ 'if-modified-since': future }, 304);
  await get({ 'if-unmodified-since': new Date(0).toUTCString() }, 412);
});

test('a range of an object that has changed since is the whole object', async () => {
  const bucket = await newBucket();
  const path = `/${bucket}/k`;
  const { etag = '' } = (await ada.call('PUT', path, { body: '0123456789' })).headers;
  const { 'last-modified': modified = '' } = (await ada.call('HEAD', path)).headers;
  const get = async (condition: string, status: number) => {
    const reply = await ada.call('GET', path, { headers: { range: 'bytes=2-3', 'if-range': condition } });
    return expect(reply, status).bytes.toString();
  };
  assert.equal(await get(etag, 206), '23');
  assert.equal(await get(modified, 206), '23');
  for (const other of ['"other"', `W/${etag}`, new Date(0).toUTCString(), 'nonsense']) {
    assert.equal(await get(other, 200), '0123456789', other);
  }
});

test('conditions of writes let one of two writers win', async () => {
  const bucket = await newBucket();
  const path = `/${bucket}/k`;
  const once = { headers: { 'if-none-match': '*' }, body: 'first' };
  const both = await Promise.all([ada.call('PUT', path, once), ada.call('PUT', path, once)]);
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 412]);
  const { etag = '' } = (await ada.call('HEAD', path)).headers;
  expect(await ada.call('PUT', path, { headers: { 'if-match': etag }, body: 'second' }), 200);
  expect(await ada.call('PUT', path, { headers: { 'if-match': etag }, body: 'third' }), 412, 'PreconditionFailed');
  expect(await ada.call('PUT', `/${bucket}/none`, { headers: { 'if-match': etag } }), 404, 'NoSuchKey');
  expect(await ada.call('PUT', path, { headers: { 'if-none-match': '"x"' } }), 501, 'NotImplemented');
});

test('what cannot be stored as asked is refused and changes nothing', async () => {
  const bucket = await newBucket();
  const put = async (headers: Record<string, string>, status: number, code: string) =>
    expect(await ada.call('PUT', `/${bucket}/k`, { headers, body: 'x' }), status, code);
  await put({ 'x-amz-storage-class': 'GLACIER' }, 400, 'InvalidStorageClass');
  await put({ 'x-amz-meta-long': 'v'.repeat(2100) }, 400, 'MetadataTooLarge');
  await put({ 'x-amz-tagging': 'a=1&a=2' }, 400, 'InvalidTag');
  await put({ 'x-amz-acl': 'anything' }, 400, 'InvalidArgument');
  await put({ 'x-amz-server-side-encryption': 'aws:kms' }, 501, 'NotImplemented');
  await put({ 'x-amz-object-lock-legal-hold': 'ON' }, 400, 'InvalidRequest');
  await put({ 'content-md5': Buffer.alloc(16).toString('base64') }, 400, 'BadDigest');
  expect(await ada.call('GET', `/${bucket}/k`), 404, 'NoSuchKey');
});

test('a checksum is kept, and returned on request', async () => {
  const bucket = await newBucket();
  const sum = createHash('sha256').update('hello').digest('base64');
  const put = await ada.call('PUT', `/${bucket}/k`, { body: 'hello', headers: { 'x-amz-checksum-sha256': sum } });
  assert.equal(expect(put, 200).headers['x-amz-checksum-sha256'], sum);
  const plain = await ada.call('GET', `/${bucket}/k`);
  assert.equal(plain.headers['x-amz-checksum-sha256'], undefined);
  const asked = await ada.call('HEAD', `/${bucket}/k`, { headers: { 'x-amz-checksum-mode': 'ENABLED' } });
  assert.equal(asked.headers['x-amz-checksum-sha256'], sum);
  assert.equal(asked.headers['x-amz-checksum-type'], 'FULL_OBJECT');
  const attributes = await ada.call('GET', `/${bucket}/k`, {
    query: { attributes: '' },
    headers: { 'x-amz-object-attributes': 'ETag,Checksum,ObjectSize,StorageClass,ObjectParts' },
  });
  expect(attributes, 200);
  assert.equal(attributes.xml('ETag'), md5('hello'));
  assert.equal(attributes.xml('ChecksumSHA256'), sum);
  assert.equal(attributes.xml('ObjectSize'), '5');
  assert.equal(attributes.xml('ObjectParts'), undefined);
});

test('a copy takes over or replaces metadata and tags, within a policy and across policies', async () => {
  const source = await newBucket();
  const same = await newBucket();
  const other = await newBucket({ 'x-storage-policy': 'three-copies' });
  const body = randomBytes(1_500_000);
  const headers = { 'content-type': 'image/png', 'x-amz-meta-a': '1', 'x-amz-tagging': 't=1' };
  await ada.call('PUT', `/${source}/a b`, { body, headers });
  for (const target of [same, other]) {
    const copy = await ada.call('PUT', `/${target}/copy`, { headers: { 'x-amz-copy-source': `${source}/a%20b` } });
    assert.equal(expect(copy, 200).xml('ETag'), `"${md5(body)}"`);
    const got = await ada.call('GET', `/${target}/copy`);
    assert.deepEqual(got.bytes, body);
    assert.equal(got.headers['content-type'], 'image/png');
    assert.equal(got.headers['x-amz-meta-a'], '1');
    assert.equal(got.headers['x-amz-tagging-count'], '1');
  }
  const replaced = await ada.call('PUT', `/${same}/new`, {
    headers: {
      'x-amz-copy-source': `/${source}/a%20b`,
      'x-amz-metadata-directive': 'REPLACE',
      'x-amz-tagging-directive': 'REPLACE',
      'content-type': 'text/plain',
      'x-amz-meta-b': '2',
    },
  });
  expect(replaced, 200);
  const got = await ada.call('HEAD', `/${same}/new`);
  assert.equal(got.headers['content-type'], 'text/plain');
  assert.equal(got.headers['x-amz-meta-a'], undefined);
  assert.equal(got.headers['x-amz-meta-b'], '2');
  assert.equal(got.headers['x-amz-tagging-count'], undefined);
  // The source may go: the copy's bytes are its own.
  await ada.call('DELETE', `/${source}/a b`);
  assert.deepEqual((await ada.call('GET', `/${same}/new`)).bytes, body);
});

test('a copy is refused onto itself unchanged, of what is not there, and when a condition fails', async () => {
  const bucket = await newBucket();
  await ada.call('PUT', `/${bucket}/k`, { body: 'x' });
  const copy = async (headers: Record<string, string>, status: number, code?: string) =>
    expect(await ada.call('PUT', `/${bucket}/k`, { headers }), status, code);
  await copy({ 'x-amz-copy-source': `${bucket}/k` }, 400, 'InvalidRequest');
  await copy({ 'x-amz-copy-source': `${bucket}/k`, 'x-amz-metadata-directive': 'REPLACE' }, 200);
  await copy({ 'x-amz-copy-source': `${bucket}/none` }, 404, 'NoSuchKey');
  await copy({ 'x-amz-copy-source': `no-such-bucket/k` }, 404, 'NoSuchBucket');
  await copy({ 'x-amz-copy-source': 'nonsense' }, 400, 'InvalidArgument');
  const failing = { 'x-amz-copy-source': `${bucket}/k`, 'x-amz-copy-source-if-match': '"other"' };
  await copy({ ...failing, 'x-amz-metadata-directive': 'REPLACE' }, 412, 'PreconditionFailed');
});

test('versions: each put has its id, a delete leaves a marker, and versions are deleted by id', async () => {
  const bucket = await newBucket();
  const path = `/${bucket}/k`;
  await ada.call('PUT', path, { body: 'before' });
  const configuration = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  expect(await ada.call('PUT', `/${bucket}`, { query: { versioning: '' }, body: configuration }), 200);
  assert.equal((await ada.call('GET', `/${bucket}`, { query: { versioning: '' } })).xml('Status'), 'Enabled');
  const first = (await ada.call('PUT', path, { body: 'one' })).headers['x-amz-version-id'] as string;
  const second = (await ada.call('PUT', path, { body: 'two' })).headers['x-amz-version-id'] as string;
  assert.notEqual(first, second);
  assert.equal((await ada.call('GET', path)).text, 'two');
  assert.equal((await ada.call('GET', path, { query: { versionId: first } })).text, 'one');
  assert.equal((await ada.call('GET', path, { query: { versionId: 'null' } })).text, 'before');
  const deleted = expect(await ada.call('DELETE', path), 204);
  assert.equal(deleted.headers['x-amz-delete-marker'], 'true');
  const marker = deleted.headers['x-amz-version-id'] as string;
  const gone = expect(await ada.call('GET', path), 404, 'NoSuchKey');
  assert.equal(gone.headers['x-amz-delete-marker'], 'true');
  const refused = expect(await ada.call('GET', path, { query: { versionId: marker } }), 405, 'MethodNotAllowed');
  assert.equal(refused.headers.allow, 'DELETE');
  expect(await ada.call('GET', path, { query: { versionId: 'x'.repeat(20) } }), 404, 'NoSuchVersion');

  const listing = expect(await ada.call('GET', `/${bucket}`, { query: { versions: '' } }), 200);
  assert.deepEqual(listing.all('VersionId'), [marker, second, first, 'null']);
  assert.equal(listing.all('DeleteMarker').length, 1);
  assert.deepEqual(listing.all('IsLatest'), ['true', 'false', 'false', 'false']);
  const seen: string[] = [];
  for (let query: Record<string, string> = { versions: '', 'max-keys': '1' }, more = true; more;) {
    const page = await ada.call('GET', `/${bucket}`, { query });
    seen.push(...page.all('VersionId'));
    more = page.xml('IsTruncated') === 'true';
    const [key, version] = [page.xml('NextKeyMarker') ?? '', page.xml('NextVersionIdMarker') ?? ''];
    query = { versions: '', 'max-keys': '1', 'key-marker': key, 'version-id-marker': version };
  }
  assert.deepEqual(seen, [marker, second, first, 'null']);

  const back = await ada.call('PUT', path, { headers: { 'x-amz-copy-source': `${bucket}/k?versionId=${first}` } });
  assert.equal(expect(back, 200).headers['x-amz-copy-source-version-id'], first);
  assert.equal((await ada.call('GET', path)).text, 'one');
  const last = await ada.call('DELETE', path, { query: { versionId: second } });
  assert.equal(expect(last, 204).headers['x-amz-version-id'], second);
  expect(await ada.call('GET', path, { query: { versionId: second } }), 404, 'NoSuchVersion');
  expect(await ada.call('DELETE', `/${bucket}`), 409, 'BucketNotEmpty');
});

test('many keys are deleted at once, each with an answer of its own', async () => {
  const bucket = await newBucket();
  for (const key of ['a', 'b', 'c']) await ada.call('PUT', `/${bucket}/${key}`, { body: key });
  const remove = (body: string, headers: Record<string, string> = {}) =>
    ada.call('POST', `/${bucket}`, {
      query: { delete: '' },
      body,
      headers: { 'content-md5': createHash('md5').update(body).digest('base64'), ...headers },
    });
  const body = '<Delete><Object><Key>a</Key></Object><Object><Key>nothing</Key></Object></Delete>';
  const answer = expect(await remove(body), 200);
  assert.deepEqual(answer.all('Key'), ['a', 'nothing']);
  const quiet = await remove('<Delete><Quiet>true</Quiet><Object><Key>b</Key></Object></Delete>');
  assert.equal(quiet.all('Key').length, 0);
  expect(await ada.call('HEAD', `/${bucket}/b`), 404);
  expect(await ada.call('HEAD', `/${bucket}/c`), 200);
  expect(await remove('<Delete></Delete>'), 400, 'MalformedXML');
  expect(await remove('<Delete><Object/></Delete>'), 400, 'MalformedXML');
  const unsure = await ada.call('POST', `/${bucket}`, { query: { delete: '' }, body });
  expect(unsure, 400, 'InvalidRequest');
  const eve = served.as('eve');
  await ada.call('PUT', `/${bucket}`, { query: { acl: '' }, headers: { 'x-amz-acl': 'public-read' } });
  const foreign = await eve.call('POST', `/${bucket}`, {
    query: { delete: '' },
    body: '<Delete><Object><Key>c</Key></Object></Delete>',
    headers: { 'content-md5': md5base64('<Delete><Object><Key>c</Key></Object></Delete>') },
  });
  assert.equal(expect(foreign, 200).xml('Code'), 'AccessDenied');
  expect(await ada.call('HEAD', `/${bucket}/c`), 200);
});

function md5base64(text: string): string {
  return createHash('md5').update(text).digest('base64');
}

test('tags and ACLs of objects are set, shown and removed', async () => {
  const bucket = await newBucket();
  const path = `/${bucket}/k`;
  await ada.call('PUT', path, { body: 'x' });
  const tagging = '<Tagging><TagSet><Tag><Key>a</Key><Value>1 &amp; 2</Value></Tag></TagSet></Tagging>';
  expect(await ada.call('PUT', path, { query: { tagging: '' }, body: tagging }), 400, 'InvalidTag');
  expect(await ada.call('PUT', path, { query: { tagging: '' }, body: tagging.replace('&amp;', '+') }), 200);
  const shown = await ada.call('GET', path, { query: { tagging: '' } });
  assert.deepEqual([shown.xml('Key'), shown.xml('Value')], ['a', '1 + 2']);
  expect(await ada.call('DELETE', path, { query: { tagging: '' } }), 204);
  assert.equal((await ada.call('GET', path, { query: { tagging: '' } })).all('Tag').length, 0);

  const anonymous = served.as(null);
  expect(await anonymous.call('GET', path), 403, 'AccessDenied');
  expect(await ada.call('PUT', path, { query: { acl: '' }, headers: { 'x-amz-acl': 'public-read' } }), 200);
  const acl = expect(await ada.call('GET', path, { query: { acl: '' } }), 200);
  assert.deepEqual(acl.all('Permission'), ['FULL_CONTROL', 'READ']);
  assert.equal((await anonymous.call('GET', path)).text, 'x');
  const asPage = { query: { 'response-content-type': 'text/html' } };
  expect(await anonymous.call('GET', path, asPage), 400, 'InvalidRequest');
  // The document that was shown can be put back.
  expect(await ada.call('PUT', path, { query: { acl: '' }, body: acl.text }), 200);
  const again = await ada.call('GET', path, { query: { acl: '' } });
  assert.deepEqual(again.all('Permission'), ['FULL_CONTROL', 'READ']);
});

test('object lock: retention and legal hold keep a version', async () => {
  const bucket = await newBucket({ 'x-amz-bucket-object-lock-enabled': 'true' });
  const path = `/${bucket}/k`;
  const until = new Date(Date.now() + 86_400_000).toISOString();
  const put = await ada.call('PUT', path, {
    body: 'x',
    headers: { 'x-amz-object-lock-mode': 'GOVERNANCE', 'x-amz-object-lock-retain-until-date': until },
  });
  const versionId = expect(put, 200).headers['x-amz-version-id'] as string;
  const head = await ada.call('HEAD', path);
  assert.equal(head.headers['x-amz-object-lock-mode'], 'GOVERNANCE');
  assert.equal(head.headers['x-amz-object-lock-retain-until-date'], until);
  const retention = await ada.call('GET', path, { query: { retention: '' } });
  assert.equal(retention.xml('RetainUntilDate'), until);
  expect(await ada.call('DELETE', path, { query: { versionId } }), 403, 'AccessDenied');
  expect(
    await ada.call('PUT', path, { query: { 'legal-hold': '' }, body: '<LegalHold><Status>ON</Status></LegalHold>' }),
    200,
  );
  assert.equal((await ada.call('GET', path, { query: { 'legal-hold': '' } })).xml('Status'), 'ON');
  const bypass = { query: { versionId }, headers: { 'x-amz-bypass-governance-retention': 'true' } };
  expect(await ada.call('DELETE', path, bypass), 403, 'AccessDenied');
  await ada.call('PUT', path, { query: { 'legal-hold': '' }, body: '<LegalHold><Status>OFF</Status></LegalHold>' });
  expect(await ada.call('DELETE', path, bypass), 204);
  const past = '<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>2020-01-01T00:00:00Z</RetainUntilDate></Retention>';
  await ada.call('PUT', path, { body: 'x' });
  expect(await ada.call('PUT', path, { query: { retention: '' }, body: past }), 400, 'InvalidArgument');
  expect(await ada.call('GET', path, { query: { retention: '' } }), 404, 'NoSuchObjectLockConfiguration');
  const suspended = '<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>';
  expect(
    await ada.call('PUT', `/${bucket}`, { query: { versioning: '' }, body: suspended }),
    409,
    'InvalidBucketState',
  );
});

test('what is not offered says so, and never turns into another operation', async () => {
  const bucket = await newBucket();
  await ada.call('PUT', `/${bucket}/k`, { body: 'x' });
  expect(await ada.call('POST', `/${bucket}/k`, { query: { restore: '' } }), 403, 'InvalidObjectState');
  expect(await ada.call('POST', `/${bucket}/k`, { query: { select: '', 'select-type': '2' } }), 501, 'NotImplemented');
  expect(await ada.call('GET', `/${bucket}/k`, { query: { torrent: '' } }), 501, 'NotImplemented');
  expect(await ada.call('DELETE', `/${bucket}`, { query: { inventory: '', id: '1' } }), 501, 'NotImplemented');
  expect(await ada.call('HEAD', `/${bucket}/k`), 200);
});

test("a static large object of Swift's reads as its segments, and a copy of it stands by itself", async () => {
  const bucket = await newBucket();
  const segments = [randomBytes(1_200_000), randomBytes(1000)];
  const { store } = served.context;
  const id = store.bucket('a'.repeat(32), bucket)!.id;
  for (const [at, body] of segments.entries()) await ada.call('PUT', `/${bucket}/segment-${at}`, { body });
  const manifest = Buffer.from(
    JSON.stringify(
      segments.map((body, at) => ({ name: `/${bucket}/segment-${at}`, bytes: body.length, hash: md5(body) })),
    ),
  );
  const whole = Buffer.concat(segments);
  await store.commit('putObject', {
    bucket: id,
    key: 'large',
    content: await store.stage(0, manifest),
    size: manifest.length,
    etag: md5(manifest),
    owner: '1'.repeat(32),
    attributes: { staticManifest: { etag: 'f'.repeat(32), size: whole.length } },
    at: Date.now(),
  });
  const got = expect(await ada.call('GET', `/${bucket}/large`), 200);
  assert.ok(got.bytes.equals(whole));
  assert.equal(got.headers.etag, `"${'f'.repeat(32)}"`);
  const range = await ada.call('GET', `/${bucket}/large`, { headers: { range: 'bytes=1199999-1200001' } });
  assert.deepEqual(range.bytes, whole.subarray(1_199_999, 1_200_002));
  const listed = await ada.call('GET', `/${bucket}`, { query: { prefix: 'large' } });
  assert.equal(listed.xml('Size'), String(whole.length));
  const copy = await ada.call('PUT', `/${bucket}/copy`, { headers: { 'x-amz-copy-source': `${bucket}/large` } });
  assert.equal(expect(copy, 200).xml('ETag'), `"${md5(whole)}"`);
  await ada.call('DELETE', `/${bucket}/segment-0`);
  expect(await ada.call('GET', `/${bucket}/large`), 403, 'InvalidObjectState');
  assert.ok((await ada.call('GET', `/${bucket}/copy`)).bytes.equals(whole));
});

test('an object whose time is over is not there', async () => {
  const bucket = await newBucket();
  await ada.call('PUT', `/${bucket}/k`, { body: 'x' });
  const { store } = served.context;
  const id = store.bucket('a'.repeat(32), bucket)!.id;
  await store.commit('changeVersion', { bucket: id, key: 'k', expiresAt: Date.now() - 1, at: Date.now() });
  expect(await ada.call('GET', `/${bucket}/k`), 404, 'NoSuchKey');
});

test('a copy gets the checksum it asks for', async () => {
  const bucket = await newBucket();
  await ada.call('PUT', `/${bucket}/k`, { body: 'hello' });
  const headers = { 'x-amz-copy-source': `${bucket}/k`, 'x-amz-checksum-algorithm': 'SHA256' };
  const copy = expect(await ada.call('PUT', `/${bucket}/copy`, { headers }), 200);
  assert.equal(copy.xml('ChecksumSHA256'), createHash('sha256').update('hello').digest('base64'));
});

test('metadata beyond ASCII comes back byte for byte', async () => {
  const bucket = await newBucket();
  const bytes = Buffer.from('Grüße 🌍', 'utf8').toString('latin1');
  expect(await ada.call('PUT', `/${bucket}/k`, { body: 'x', headers: { 'x-amz-meta-note': bytes } }), 200);
  assert.equal((await ada.call('HEAD', `/${bucket}/k`)).headers['x-amz-meta-note'], bytes);
  const { store } = served.context;
  const version = store.version(store.bucket('a'.repeat(32), bucket)!.id, 'k');
  assert.deepEqual(version?.attributes.metadata, { note: 'Grüße 🌍' });
});

test('a form of a browser puts an object', async () => {
  const bucket = await newBucket({ 'x-amz-acl': 'public-read-write' });
  const form = new FormData();
  form.set('key', 'up/${filename}');
  form.set('Content-Type', 'text/plain');
  form.set('x-amz-meta-from', 'form');
  form.set('success_action_status', '201');
  form.set('file', new Blob(['posted']), 'note.txt');
  const posted = await fetch(`${served.origin}/${bucket}`, { method: 'POST', body: form });
  assert.equal(posted.status, 201, await posted.clone().text());
  assert.match(await posted.text(), /<Key>up\/note.txt<\/Key>/);
  const got = await ada.call('GET', `/${bucket}/up/note.txt`);
  assert.deepEqual(
    [got.text, got.headers['content-type'], got.headers['x-amz-meta-from']],
    ['posted', 'text/plain', 'form'],
  );
});

test('every request leaves a record of what it was and what it moved', async () => {
  const bucket = await newBucket();
  const begin = served.records.length;
  await ada.call('PUT', `/${bucket}/k`, { body: 'hello' });
  await ada.call('GET', `/${bucket}/k`, { headers: { range: 'bytes=0-1' } });
  await ada.call('DELETE', `/${bucket}/k`);
  while (served.records.length < begin + 3) await new Promise((resolve) => setTimeout(resolve, 5));
  const seen = served.records
    .slice(begin)
    .map(({ action, class: kind, bytesIn, bytesOut, bytesDeleted }) => [action, kind, bytesIn, bytesOut, bytesDeleted]);
  assert.deepEqual(seen, [
    ['PutObject', 'put', 5, 0, 0],
    ['GetObject', 'get', 0, 2, 0],
    ['DeleteObject', 'delete', 0, 0, 5],
  ]);
});

test('a storage class is a storage policy: objects, copies and uploads are put under it and show it', async () => {
  const bucket = await newBucket();
  const CLASS = 'x-amz-storage-class';
  const body = randomBytes(200_000);
  const put = (key: string, name: string, more = {}) =>
    ada.call('PUT', `/${bucket}/${key}`, { body: key === 'copy' ? '' : body, headers: { [CLASS]: name, ...more } });
  expect(await put('plain', 'STANDARD'), 200);
  expect(await put('class', 'Three-Copies'), 200);
  expect(await put('copy', 'three-copies', { 'x-amz-copy-source': `${bucket}/plain` }), 200);
  expect(await put('none', 'GLACIER'), 400, 'InvalidStorageClass');
  for (const [key, shown] of [
    ['plain', undefined],
    ['class', 'three-copies'],
    ['copy', 'three-copies'],
  ] as const) {
    const got = expect(await ada.call('GET', `/${bucket}/${key}`), 200);
    assert.equal(got.headers[CLASS], shown, key);
    assert.deepEqual(got.bytes, body);
  }
  const listed = await ada.call('GET', `/${bucket}`);
  assert.deepEqual(listed.all('StorageClass'), ['three-copies', 'three-copies', 'STANDARD']);
  const back = { 'x-amz-copy-source': `${bucket}/class` };
  expect(await ada.call('PUT', `/${bucket}/class`, { headers: { ...back, [CLASS]: 'STANDARD' } }), 200);
  assert.equal(
    (await ada.call('HEAD', `/${bucket}/class`)).headers[CLASS],
    undefined,
    'copied back under the own policy',
  );
  const query = { uploads: '' };
  const upload = await ada.call('POST', `/${bucket}/parts`, { query, headers: { [CLASS]: 'three-copies' } });
  const uploadId = upload.xml('UploadId')!;
  const part = await ada.call('PUT', `/${bucket}/parts`, { query: { uploadId, partNumber: '1' }, body });
  const parts = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.headers.etag}</ETag></Part></CompleteMultipartUpload>`;
  assert.equal(
    (await ada.call('GET', `/${bucket}/parts`, { query: { uploadId } })).xml('StorageClass'),
    'three-copies',
  );
  expect(await ada.call('POST', `/${bucket}/parts`, { query: { uploadId }, body: parts }), 200);
  const whole = expect(await ada.call('GET', `/${bucket}/parts`), 200);
  assert.deepEqual([whole.headers[CLASS], whole.bytes], ['three-copies', body]);
});
