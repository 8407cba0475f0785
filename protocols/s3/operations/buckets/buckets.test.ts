import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, expect, type S3Client } from '../../testing/client.ts';
import { PEOPLE, serve, type Served } from '../../testing/serve.ts';

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

/** A configuration is not there, is put, is shown, and is removed. */
async function cycle(bucket: string, name: string, body: string, missing: string): Promise<Answer> {
  const query = { [name]: '' };
  expect(await ada.call('GET', `/${bucket}`, { query }), 404, missing);
  assert.ok((await ada.call('PUT', `/${bucket}`, { query, body })).status < 300);
  const shown = expect(await ada.call('GET', `/${bucket}`, { query }), 200);
  expect(await ada.call('DELETE', `/${bucket}`, { query }), 204);
  expect(await ada.call('GET', `/${bucket}`, { query }), 404, missing);
  return shown;
}

test('buckets are made, found, listed in pages and deleted', async () => {
  const made = await ada.call('PUT', '/shelf-b', {
    body: '<CreateBucketConfiguration><LocationConstraint>:three-copies</LocationConstraint></CreateBucketConfiguration>',
  });
  assert.equal(expect(made, 200).headers.location, '/shelf-b');
  assert.equal(served.context.store.bucket(PEOPLE.ada.caller.account, 'shelf-b')?.policy, 1);
  for (const name of ['shelf-a', 'shelf-c']) expect(await ada.call('PUT', `/${name}`), 200);
  // In the region us-east-1 making one's own bucket again is no error.
  expect(await ada.call('PUT', '/shelf-a'), 200);
  const head = expect(await ada.call('HEAD', '/shelf-a'), 200);
  assert.equal(head.headers['x-amz-bucket-region'], 'us-east-1');
  const location = await ada.call('GET', '/shelf-a', { query: { location: '' } });
  assert.match(location.text, /<LocationConstraint [^>]*><\/LocationConstraint>/);

  const names: string[] = [];
  for (let token: string | undefined = ''; token !== undefined;) {
    const query = { prefix: 'shelf-', 'max-buckets': '2', ...(token === '' ? {} : { 'continuation-token': token }) };
    const page: Answer = expect(await ada.call('GET', '/', { query }), 200);
    names.push(...page.all('Name'));
    token = page.xml('ContinuationToken');
  }
  assert.deepEqual(names, ['shelf-a', 'shelf-b', 'shelf-c']);
  const all = await ada.call('GET', '/');
  assert.equal(all.xml('DisplayName'), 'library');
  assert.match(all.xml('CreationDate') ?? '', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(await ada.call('DELETE', '/shelf-a'), 204);
  expect(await ada.call('HEAD', '/shelf-a'), 404);
  expect(await ada.call('GET', '/shelf-a'), 404, 'NoSuchBucket');
  expect(await served.as(null).call('GET', '/'), 403, 'AccessDenied');
});

test('a bucket is refused with a bad name, place, policy or ACL', async () => {
  expect(await ada.call('PUT', '/Bad_Name'), 400, 'InvalidBucketName');
  const body = '<CreateBucketConfiguration><LocationConstraint>mars</LocationConstraint></CreateBucketConfiguration>';
  expect(await ada.call('PUT', '/fine-name', { body }), 400, 'InvalidLocationConstraint');
  expect(await ada.call('PUT', '/fine-name', { headers: { 'x-storage-policy': 'none' } }), 400, 'InvalidArgument');
  expect(await ada.call('PUT', '/fine-name', { headers: { 'x-amz-acl': 'none' } }), 400, 'InvalidArgument');
  expect(await ada.call('PUT', '/fine-name', { body: '<Nonsense/>' }), 400, 'MalformedXML');
  expect(await ada.call('HEAD', '/fine-name'), 404);
});

test('listings go by prefix, delimiter and pages, in both forms', async () => {
  const bucket = await newBucket();
  const keys = ['a', 'b/1', 'b/2', 'c/x/1', 'd', 'e f&g', 'ü'];
  for (const key of keys) await ada.call('PUT', `/${bucket}/${key}`, { body: key });
  const list = async (query: Record<string, string>) => expect(await ada.call('GET', `/${bucket}`, { query }), 200);

  const all = await list({ 'list-type': '2' });
  assert.deepEqual(all.all('Key'), keys);
  assert.equal(all.xml('KeyCount'), '7');
  assert.equal(all.xml('Owner'), undefined);
  assert.equal((await list({ 'list-type': '2', 'fetch-owner': 'true' })).xml('DisplayName'), 'library');
  const folders = await list({ 'list-type': '2', delimiter: '/' });
  assert.deepEqual(folders.all('Key'), ['a', 'd', 'e f&g', 'ü']);
  assert.deepEqual(
    folders.all('CommonPrefixes').map((one) => one.replace(/<\/?Prefix>/g, '')),
    ['b/', 'c/'],
  );
  const encoded = await list({ 'list-type': '2', 'encoding-type': 'url', 'start-after': 'd' });
  assert.deepEqual(encoded.all('Key'), ['e%20f%26g', '%C3%BC']);
  assert.equal(encoded.xml('EncodingType'), 'url');

  const paged: string[] = [];
  for (let token: string | undefined = ''; token !== undefined;) {
    const more = token === '' ? {} : { 'continuation-token': token };
    const page: Answer = await list({ 'list-type': '2', 'max-keys': '2', delimiter: '/', ...more });
    assert.ok(Number(page.xml('KeyCount')) <= 2);
    paged.push(...page.all('Key'), ...page.all('CommonPrefixes'));
    token = page.xml('NextContinuationToken');
    assert.equal(page.xml('IsTruncated'), String(token !== undefined));
  }
  assert.equal(paged.length, 6);

  const first = await list({ 'max-keys': '2', delimiter: '/' });
  assert.equal(first.xml('NextMarker'), 'b/');
  const second = await list({ 'max-keys': '2', delimiter: '/', marker: 'b/' });
  assert.deepEqual([second.xml('Marker'), second.all('Key')], ['b/', ['d']]);
  const none = await list({ 'max-keys': '0' });
  assert.deepEqual([none.xml('IsTruncated'), none.all('Key')], ['false', []]);
  expect(await ada.call('GET', `/${bucket}`, { query: { 'max-keys': '-1' } }), 400, 'InvalidArgument');
  expect(await ada.call('GET', `/${bucket}`, { query: { 'encoding-type': 'x' } }), 400, 'InvalidArgument');
  const bad = { 'list-type': '2', 'continuation-token': '%%' };
  expect(await ada.call('GET', `/${bucket}`, { query: bad }), 400, 'InvalidArgument');
});

test('a bucket policy opens the bucket to others', async () => {
  const bucket = await newBucket();
  await ada.call('PUT', `/${bucket}/k`, { body: 'x' });
  const eve = served.as('eve');
  expect(await eve.call('GET', `/${bucket}/k`), 403);
  const policy = JSON.stringify({
    Version: '2012-10-17',
    Statement: [{ Effect: 'Allow', Principal: '*', Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*` }],
  });
  expect(await ada.call('PUT', `/${bucket}`, { query: { policy: '' }, body: '{}' }), 400, 'MalformedPolicy');
  expect(await ada.call('PUT', `/${bucket}`, { query: { policy: '' }, body: policy }), 204);
  assert.equal((await ada.call('GET', `/${bucket}`, { query: { policy: '' } })).text, policy);
  assert.equal((await ada.call('GET', `/${bucket}`, { query: { policyStatus: '' } })).xml('IsPublic'), 'true');
  assert.equal((await eve.call('GET', `/${bucket}/k`)).text, 'x');
  expect(await eve.call('GET', `/${bucket}/none`), 403, 'AccessDenied');
  expect(await eve.call('PUT', `/${bucket}/k`, { body: 'y' }), 403, 'AccessDenied');
  expect(await ada.call('DELETE', `/${bucket}`, { query: { policy: '' } }), 204);
  expect(await ada.call('GET', `/${bucket}`, { query: { policy: '' } }), 404, 'NoSuchBucketPolicy');
});

test('the ACL of a bucket is given by header, grants or document', async () => {
  const bucket = await newBucket();
  const query = { acl: '' };
  const permissions = async () => (await ada.call('GET', `/${bucket}`, { query })).all('Permission');
  assert.deepEqual(await permissions(), ['FULL_CONTROL']);
  const everyone = 'uri="http://acs.amazonaws.com/groups/global/AllUsers"';
  expect(await ada.call('PUT', `/${bucket}`, { query, headers: { 'x-amz-grant-read': everyone } }), 200);
  // As it was given: the owner is not among those it names, and may do everything all the same.
  assert.deepEqual(await permissions(), ['READ']);
  expect(await served.as(null).call('GET', `/${bucket}`), 200);
  expect(await ada.call('PUT', `/${bucket}`, { query, headers: { 'x-amz-acl': 'private' } }), 200);
  assert.deepEqual(await permissions(), ['FULL_CONTROL']);
  expect(await ada.call('PUT', `/${bucket}`, { query }), 400, 'MissingSecurityHeader');
});

test('CORS rules answer browsers', async () => {
  const bucket = await newBucket();
  const rule = `<CORSRule><ID>r</ID><AllowedMethod>PUT</AllowedMethod><AllowedOrigin>https://*.example.com</AllowedOrigin><AllowedHeader>*</AllowedHeader><ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>60</MaxAgeSeconds></CORSRule>`;
  const body = `<CORSConfiguration>${rule}</CORSConfiguration>`;
  const shown = await cycle(bucket, 'cors', body, 'NoSuchCORSConfiguration');
  assert.ok(shown.text.includes(rule));
  const ask = (origin: string) =>
    served.as(null).call('OPTIONS', `/${bucket}/k`, {
      headers: { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'X-Amz-Date' },
    });
  expect(await ask('https://a.example.com'), 403, 'AccessForbidden');
  await ada.call('PUT', `/${bucket}`, { query: { cors: '' }, body });
  const allowed = expect(await ask('https://a.example.com'), 200);
  assert.equal(allowed.headers['access-control-allow-origin'], 'https://a.example.com');
  assert.equal(allowed.headers['access-control-allow-headers'], 'x-amz-date');
  assert.equal(allowed.headers['access-control-max-age'], '60');
  expect(await ask('https://example.org'), 403, 'AccessForbidden');
  const put = await ada.call('PUT', `/${bucket}/k`, { headers: { origin: 'https://a.example.com' }, body: 'x' });
  assert.equal(put.headers['access-control-allow-origin'], 'https://a.example.com');
  assert.equal(put.headers['access-control-expose-headers'], 'ETag');
  const two = body.replace('https://*', 'https://*.*');
  expect(await ada.call('PUT', `/${bucket}`, { query: { cors: '' }, body: two }), 400, 'InvalidRequest');
  const trace = body.replace('PUT', 'TRACE');
  expect(await ada.call('PUT', `/${bucket}`, { query: { cors: '' }, body: trace }), 400, 'InvalidRequest');
});

test('lifecycle rules are kept, and objects tell when they go', async () => {
  const bucket = await newBucket();
  const body = `<LifecycleConfiguration><Rule><ID>logs</ID><Filter><Prefix>logs/</Prefix></Filter><Status>Enabled</Status><Expiration><Days>3</Days></Expiration></Rule></LifecycleConfiguration>`;
  const shown = await cycle(bucket, 'lifecycle', body, 'NoSuchLifecycleConfiguration');
  assert.equal(shown.xml('Days'), '3');
  await ada.call('PUT', `/${bucket}`, { query: { lifecycle: '' }, body });
  const put = await ada.call('PUT', `/${bucket}/logs/1`, { body: 'x' });
  assert.match(String(put.headers['x-amz-expiration']), /^expiry-date="\w{3}, .* 00:00:00 GMT", rule-id="logs"$/);
  assert.equal(
    (await ada.call('HEAD', `/${bucket}/logs/1`)).headers['x-amz-expiration'],
    put.headers['x-amz-expiration'],
  );
  assert.equal((await ada.call('PUT', `/${bucket}/other`)).headers['x-amz-expiration'], undefined);
});

test('tags, replication and default retention of a bucket are kept', async () => {
  const bucket = await newBucket({ 'x-amz-bucket-object-lock-enabled': 'true' });
  const tags = '<Tagging><TagSet><Tag><Key>team</Key><Value>red</Value></Tag></TagSet></Tagging>';
  assert.equal((await cycle(bucket, 'tagging', tags, 'NoSuchTagSet')).xml('Value'), 'red');
  const rule = (arn: string) =>
    `<ReplicationConfiguration><Role>r</Role><Rule><ID>one</ID><Status>Enabled</Status><Prefix>p/</Prefix><Destination><Bucket>${arn}</Bucket></Destination></Rule></ReplicationConfiguration>`;
  const shown = await cycle(
    bucket,
    'replication',
    rule('arn:aws:s3:obsdst-00000001::target'),
    'ReplicationConfigurationNotFoundError',
  );
  assert.equal(shown.xml('Bucket'), 'arn:aws:s3:obsdst-00000001::target');
  const unnamed = await ada.call('PUT', `/${bucket}`, {
    query: { replication: '' },
    body: rule('arn:aws:s3:::target'),
  });
  expect(unnamed, 400, 'InvalidArgument');

  const query = { 'object-lock': '' };
  assert.equal((await ada.call('GET', `/${bucket}`, { query })).xml('ObjectLockEnabled'), 'Enabled');
  const lock = (length: string) =>
    `<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>COMPLIANCE</Mode>${length}</DefaultRetention></Rule></ObjectLockConfiguration>`;
  expect(await ada.call('PUT', `/${bucket}`, { query, body: lock('<Years>1</Years>') }), 200);
  assert.equal((await ada.call('GET', `/${bucket}`, { query })).xml('Days'), '365');
  expect(await ada.call('PUT', `/${bucket}`, { query, body: lock('<Days>0</Days>') }), 400, 'InvalidArgument');
  const both = lock('<Days>1</Days><Years>1</Years>');
  expect(await ada.call('PUT', `/${bucket}`, { query, body: both }), 400, 'MalformedXML');
  await ada.call('PUT', `/${bucket}/k`, { body: 'x' });
  assert.equal((await ada.call('HEAD', `/${bucket}/k`)).headers['x-amz-object-lock-mode'], 'COMPLIANCE');
  const plain = await newBucket();
  expect(await ada.call('GET', `/${plain}`, { query }), 404, 'ObjectLockConfigurationNotFoundError');
  const early = lock('<Days>1</Days>');
  expect(await ada.call('PUT', `/${plain}`, { query, body: early }), 409, 'InvalidBucketState');
});

test('an element that a document of a bucket cannot have is malformed, and nothing is set', async () => {
  const bucket = await newBucket();
  const documents: Record<string, string> = {
    versioning: '<VersioningConfiguration><Status>Enabled</Status><Junk/></VersioningConfiguration>',
    tagging: '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value><Junk/></Tag></TagSet></Tagging>',
    cors: '<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod><Junk/></CORSRule></CORSConfiguration>',
    'object-lock':
      '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Junk/></ObjectLockConfiguration>',
    publicAccessBlock:
      '<PublicAccessBlockConfiguration><IgnorePublicAcls>true</IgnorePublicAcls><Junk/></PublicAccessBlockConfiguration>',
  };
  for (const [name, body] of Object.entries(documents)) {
    expect(await ada.call('PUT', `/${bucket}`, { query: { [name]: '' }, body }), 400, 'MalformedXML');
  }
  const { settings, versioning } = served.context.store.bucket(PEOPLE.ada.caller.account, bucket)!;
  assert.deepEqual([settings, versioning], [{ owner: PEOPLE.ada.caller.user }, 'off']);
});

test('what is never set answers so, and cannot be set', async () => {
  const bucket = await newBucket();
  const answers: Record<string, [number, string]> = {
    accelerate: [200, 'AccelerateConfiguration'],
    requestPayment: [200, 'BucketOwner'],
    website: [404, 'NoSuchWebsiteConfiguration'],
  };
  for (const [name, [status, text]] of Object.entries(answers)) {
    const answer = expect(await ada.call('GET', `/${bucket}`, { query: { [name]: '' } }), status);
    assert.ok(answer.text.includes(text), answer.text);
    expect(await ada.call('PUT', `/${bucket}`, { query: { [name]: '' }, body: '<X/>' }), 501, 'NotImplemented');
  }
});

test('an array that encrypts says so', async () => {
  const encrypted = await serve({ encrypted: true });
  try {
    const client = encrypted.as('ada');
    await client.call('PUT', '/bucket');
    const headers = { 'x-amz-server-side-encryption': 'AES256' };
    const put = expect(await client.call('PUT', '/bucket/k', { body: 'secret', headers }), 200);
    assert.equal(put.headers['x-amz-server-side-encryption'], 'AES256');
    const got = await client.call('GET', '/bucket/k');
    assert.deepEqual([got.text, got.headers['x-amz-server-side-encryption']], ['secret', 'AES256']);
    assert.equal((await client.call('GET', '/bucket', { query: { encryption: '' } })).xml('SSEAlgorithm'), 'AES256');
  } finally {
    await encrypted.close();
  }
});
