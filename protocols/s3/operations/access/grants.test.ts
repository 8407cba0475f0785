import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Answer, expect, type S3Client } from '../../testing/client.ts';
import { PEOPLE, serve, type Served } from '../../testing/serve.ts';

const EVERYONE = 'uri="http://acs.amazonaws.com/groups/global/AllUsers"';
const LIBRARY = PEOPLE.ada.caller.account;
const ELSEWHERE = PEOPLE.eve.caller.account;

let served: Served;
let ada: S3Client;
let eve: S3Client;
let fay: S3Client;
let count = 0;

before(async () => {
  served = await serve();
  [ada, eve, fay] = [served.as('ada'), served.as('eve'), served.as('fay')];
});

after(async () => {
  await served.close();
  assert.deepEqual(served.errors, []);
});

async function newBucket(headers: Record<string, string> = {}): Promise<string> {
  const name = `granted-${++count}`;
  expect(await ada.call('PUT', `/${name}`, { headers }), 200);
  return name;
}

/** As others than the owner name it. */
function foreign(bucket: string, key = ''): string {
  return `/${LIBRARY}:${bucket}${key}`;
}

function grants(answer: Answer): string[] {
  return answer.all('Grant').map((grant) => {
    const text = (name: string) => new RegExp(`<${name}>([^<]*)</${name}>`).exec(grant)?.[1];
    return `${text('ID') ?? text('URI')?.split('/').at(-1)} ${text('Permission')}`;
  });
}

function document(...list: readonly string[]): string {
  const inner = list.map((each) => {
    const [grantee, permission] = each.split(' ');
    return `<Grant><Grantee>${grantee}</Grantee><Permission>${permission}</Permission></Grant>`;
  });
  return `<AccessControlPolicy><Owner><ID>${LIBRARY}</ID></Owner><AccessControlList>${inner.join('')}</AccessControlList></AccessControlPolicy>`;
}

test('grants go to accounts by id and by mail address, and open what they name', async () => {
  const bucket = await newBucket();
  await ada.call('PUT', `/${bucket}/k`, { body: 'text' });
  expect(await eve.call('GET', foreign(bucket)), 403, 'AccessDenied');
  const headers = {
    'x-amz-grant-read': `id="${ELSEWHERE}"`,
    'x-amz-grant-write': 'emailAddress="eve@example.org"',
    'x-amz-grant-read-acp': `id=${ELSEWHERE}`,
  };
  expect(await ada.call('PUT', `/${bucket}`, { query: { acl: '' }, headers }), 200);
  const shown = expect(await eve.call('GET', foreign(bucket), { query: { acl: '' } }), 200);
  assert.deepEqual(grants(shown), [`${ELSEWHERE} READ`, `${ELSEWHERE} WRITE`, `${ELSEWHERE} READ_ACP`]);
  assert.deepEqual(shown.all('DisplayName'), ['library', 'elsewhere', 'elsewhere', 'elsewhere']);
  expect(await eve.call('GET', foreign(bucket)), 200);
  expect(await eve.call('PUT', foreign(bucket, '/by-eve'), { body: 'x' }), 200);
  expect(await eve.call('PUT', foreign(bucket), { query: { acl: '' }, headers: { 'x-amz-acl': 'private' } }), 403);
  expect(await eve.call('GET', foreign(bucket, '/k')), 403, 'AccessDenied');
  expect(await fay.call('GET', foreign(bucket)), 403, 'AccessDenied');

  const body = document(`<EmailAddress>eve@example.org</EmailAddress> READ`, `<ID>${ELSEWHERE}</ID> WRITE_ACP`);
  expect(await ada.call('PUT', `/${bucket}/k`, { query: { acl: '' }, body }), 200);
  assert.equal(expect(await eve.call('GET', foreign(bucket, '/k')), 200).text, 'text');
  expect(await fay.call('GET', foreign(bucket, '/k')), 403);
  expect(await eve.call('GET', foreign(bucket, '/k'), { query: { acl: '' } }), 403);
  const open = { query: { acl: '' }, headers: { 'x-amz-acl': 'public-read' } };
  expect(await eve.call('PUT', foreign(bucket, '/k'), open), 200);
  expect(await fay.call('GET', foreign(bucket, '/k')), 200);
});

test('an object is put with grants, and a list is returned as it was given', async () => {
  const bucket = await newBucket();
  const headers = { 'x-amz-grant-read': `id="${ELSEWHERE}"`, 'x-amz-grant-full-control': `id="${LIBRARY}"` };
  expect(await ada.call('PUT', `/${bucket}/k`, { body: 'x', headers }), 200);
  expect(await eve.call('GET', foreign(bucket, '/k')), 200);
  const acl = async () => grants(await ada.call('GET', `/${bucket}/k`, { query: { acl: '' } }));
  assert.deepEqual(await acl(), [`${LIBRARY} FULL_CONTROL`, `${ELSEWHERE} READ`]);
  expect(await ada.call('PUT', `/${bucket}/k`, { query: { acl: '' }, body: document() }), 200);
  assert.deepEqual(await acl(), []);
  expect(await eve.call('GET', foreign(bucket, '/k')), 403, 'AccessDenied');
  expect(await ada.call('GET', `/${bucket}/k`), 200);
});

test('grants to what is not there are refused by their own codes and change nothing', async () => {
  const bucket = await newBucket();
  const put = (headers: Record<string, string>) => ada.call('PUT', `/${bucket}`, { query: { acl: '' }, headers });
  expect(await put({ 'x-amz-grant-read': `id="${'9'.repeat(32)}"` }), 400, 'InvalidArgument');
  expect(await put({ 'x-amz-grant-read': 'uri="http://example.org/group"' }), 400, 'InvalidArgument');
  expect(await put({ 'x-amz-grant-read': 'emailAddress="no@example.org"' }), 400, 'UnresolvableGrantByEmailAddress');
  expect(await put({ 'x-amz-grant-read': 'emailAddress="all@example.org"' }), 400, 'AmbiguousGrantByEmailAddress');
  expect(await put({ 'x-amz-acl': 'private', 'x-amz-grant-read': EVERYONE }), 400, 'InvalidRequest');
  const body = document(`<ID>${ELSEWHERE}</ID> EVERYTHING`);
  expect(await ada.call('PUT', `/${bucket}`, { query: { acl: '' }, body }), 400, 'MalformedACLError');
  const shown = await ada.call('GET', `/${bucket}`, { query: { acl: '' } });
  assert.deepEqual(grants(shown), [`${LIBRARY} FULL_CONTROL`]);
});

test('each grantee is looked up once, and by mail address only for who may set grants', async (t) => {
  const bucket = await newBucket();
  const { directory } = served.context;
  const search = t.mock.method(directory, 'accountsByMail');
  const twice = Array<string>(20).fill('emailAddress="eve@example.org"').join(',');
  const headers = { 'x-amz-grant-read': twice, 'x-amz-grant-read-acp': twice };
  expect(await ada.call('PUT', `/${bucket}`, { query: { acl: '' }, headers }), 200);
  assert.equal(search.mock.callCount(), 1);

  const Resource = `arn:aws:s3:::${bucket}/*`;
  const policy = { Statement: { Effect: 'Allow', Principal: { AWS: ELSEWHERE }, Action: 's3:PutObject', Resource } };
  expect(await ada.call('PUT', `/${bucket}`, { query: { policy: '' }, body: JSON.stringify(policy) }), 204);
  for (const address of ['all@example.org', 'no@example.org', 'fay@example.org']) {
    const put = { body: 'x', headers: { 'x-amz-grant-read': `emailAddress="${address}"` } };
    expect(await eve.call('PUT', foreign(bucket, '/k'), put), 403, 'AccessDenied');
  }
  assert.equal(search.mock.callCount(), 1);
  expect(await eve.call('PUT', foreign(bucket, '/k'), { body: 'x' }), 200);
});

test('ownership controls are put, shown and removed, and kept when set at creation', async () => {
  const bucket = await newBucket();
  const query = { ownershipControls: '' };
  const controls = (value: string) =>
    `<OwnershipControls><Rule><ObjectOwnership>${value}</ObjectOwnership></Rule></OwnershipControls>`;
  expect(await ada.call('GET', `/${bucket}`, { query }), 404, 'OwnershipControlsNotFoundError');
  for (const value of ['BucketOwnerPreferred', 'ObjectWriter', 'BucketOwnerEnforced']) {
    expect(await ada.call('PUT', `/${bucket}`, { query, body: controls(value) }), 200);
    assert.equal((await ada.call('GET', `/${bucket}`, { query })).xml('ObjectOwnership'), value);
  }
  for (const body of [
    controls('Nobody'),
    '<OwnershipControls/>',
    controls('ObjectWriter').replace('<Rule>', '<Rule><X/>'),
  ])
    expect(await ada.call('PUT', `/${bucket}`, { query, body }), 400, 'MalformedXML');
  expect(await ada.call('DELETE', `/${bucket}`, { query }), 204);
  expect(await ada.call('GET', `/${bucket}`, { query }), 404, 'OwnershipControlsNotFoundError');

  const made = await newBucket({ 'x-amz-object-ownership': 'BucketOwnerEnforced' });
  assert.equal((await ada.call('GET', `/${made}`, { query })).xml('ObjectOwnership'), 'BucketOwnerEnforced');
  const bad = { 'x-amz-object-ownership': 'Nobody' };
  expect(await ada.call('PUT', '/never-made', { headers: bad }), 400, 'InvalidArgument');
  const both = { 'x-amz-object-ownership': 'BucketOwnerEnforced', 'x-amz-acl': 'public-read' };
  expect(await ada.call('PUT', '/never-made', { headers: both }), 400, 'InvalidBucketAclWithObjectOwnership');
  expect(await ada.call('HEAD', '/never-made'), 404);
});

test('a bucket whose owner is enforced takes no ACLs and obeys none', async () => {
  const bucket = await newBucket({ 'x-amz-acl': 'public-read' });
  await ada.call('PUT', `/${bucket}/open`, { body: 'x', headers: { 'x-amz-acl': 'public-read' } });
  const query = { ownershipControls: '' };
  const body =
    '<OwnershipControls><Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule></OwnershipControls>';
  expect(await ada.call('PUT', `/${bucket}`, { query, body }), 400, 'InvalidBucketAclWithObjectOwnership');
  await ada.call('PUT', `/${bucket}`, { query: { acl: '' }, headers: { 'x-amz-acl': 'private' } });
  expect(await served.as(null).call('GET', `/${bucket}/open`), 200);
  expect(await ada.call('PUT', `/${bucket}`, { query, body }), 200);
  expect(await served.as(null).call('GET', `/${bucket}/open`), 403);
  assert.deepEqual(grants(await ada.call('GET', `/${bucket}/open`, { query: { acl: '' } })), [
    `${LIBRARY} FULL_CONTROL`,
  ]);
  const open = { 'x-amz-acl': 'public-read' };
  for (const path of [`/${bucket}`, `/${bucket}/open`])
    expect(await ada.call('PUT', path, { query: { acl: '' }, headers: open }), 400, 'AccessControlListNotSupported');
  expect(await ada.call('PUT', `/${bucket}/k`, { body: 'x', headers: open }), 400, 'AccessControlListNotSupported');
  const owners = { 'x-amz-acl': 'bucket-owner-full-control' };
  expect(await ada.call('PUT', `/${bucket}/k`, { body: 'x', headers: owners }), 200);
});

test('an object of another account belongs to its writer where ownership says so, and to the bucket elsewhere', async () => {
  const owner = async (ownership: string | undefined, headers: Record<string, string> = {}) => {
    const bucket = await newBucket({
      'x-amz-acl': 'public-read-write',
      ...(ownership !== undefined && { 'x-amz-object-ownership': ownership }),
    });
    expect(await eve.call('PUT', foreign(bucket, '/k'), { body: 'x', headers }), 200);
    // Its writer reads it only where it is the writer's.
    const status = (await eve.call('GET', foreign(bucket, '/k'))).status;
    const listed = await ada.call('GET', `/${bucket}`, { query: { 'list-type': '2', 'fetch-owner': 'true' } });
    const versions = await ada.call('GET', `/${bucket}`, { query: { versions: '' } });
    assert.equal(listed.xml('ID'), versions.xml('ID'));
    expect(await ada.call('GET', `/${bucket}/k`), 200);
    return [listed.xml('ID'), status];
  };
  const full = { 'x-amz-acl': 'bucket-owner-full-control' };
  assert.deepEqual(await owner(undefined), [LIBRARY, 403]);
  assert.deepEqual(await owner('ObjectWriter'), [ELSEWHERE, 200]);
  assert.deepEqual(await owner('ObjectWriter', full), [ELSEWHERE, 200]);
  assert.deepEqual(await owner('BucketOwnerPreferred'), [ELSEWHERE, 200]);
  assert.deepEqual(await owner('BucketOwnerPreferred', full), [LIBRARY, 403]);
});

const BLOCK = ['BlockPublicAcls', 'IgnorePublicAcls', 'BlockPublicPolicy', 'RestrictPublicBuckets'];

function block(...set: readonly string[]): { query: Record<string, string>; body: string } {
  const inner = set.map((name) => `<${name}>TRUE</${name}>`).join('');
  const body = `<PublicAccessBlockConfiguration>${inner}</PublicAccessBlockConfiguration>`;
  return { query: { publicAccessBlock: '' }, body };
}

test('a public access block is put, shown and removed', async () => {
  const bucket = await newBucket();
  const query = { publicAccessBlock: '' };
  expect(await ada.call('GET', `/${bucket}`, { query }), 404, 'NoSuchPublicAccessBlockConfiguration');
  expect(await ada.call('PUT', `/${bucket}`, block('BlockPublicAcls', 'BlockPublicPolicy')), 200);
  const shown = expect(await ada.call('GET', `/${bucket}`, { query }), 200);
  assert.deepEqual(
    BLOCK.map((name) => shown.xml(name)),
    ['true', 'false', 'true', 'false'],
  );
  const bodies = [block('Everything').body, block('BlockPublicAcls').body.replace('TRUE', 'perhaps'), '<X/>'];
  for (const body of bodies) expect(await ada.call('PUT', `/${bucket}`, { query, body }), 400, 'MalformedXML');
  expect(await ada.call('DELETE', `/${bucket}`, { query }), 204);
  expect(await ada.call('GET', `/${bucket}`, { query }), 404, 'NoSuchPublicAccessBlockConfiguration');
});

test('a public access block refuses public ACLs and policies, or takes their effect', async () => {
  const nobody = served.as(null);
  const bucket = await newBucket({ 'x-amz-acl': 'public-read' });
  const open = { 'x-amz-acl': 'public-read' };
  await ada.call('PUT', `/${bucket}/open`, { body: 'x', headers: open });
  expect(await ada.call('PUT', `/${bucket}`, block('BlockPublicAcls')), 200);
  expect(await ada.call('PUT', `/${bucket}`, { query: { acl: '' }, headers: open }), 403, 'AccessDenied');
  expect(await ada.call('PUT', `/${bucket}/open`, { query: { acl: '' }, headers: open }), 403, 'AccessDenied');
  expect(await ada.call('PUT', `/${bucket}/k`, { body: 'x', headers: open }), 403, 'AccessDenied');
  const signed = { 'x-amz-grant-read': 'uri="http://acs.amazonaws.com/groups/global/AuthenticatedUsers"' };
  expect(await ada.call('PUT', `/${bucket}/k`, { body: 'x', headers: signed }), 403, 'AccessDenied');
  const toEve = { 'x-amz-grant-read': `id="${ELSEWHERE}"` };
  expect(await ada.call('PUT', `/${bucket}/k`, { body: 'x', headers: toEve }), 200);
  // What is public already stays so until it is ignored.
  expect(await nobody.call('GET', `/${bucket}/open`), 200);
  expect(await ada.call('PUT', `/${bucket}`, block('IgnorePublicAcls')), 200);
  expect(await nobody.call('GET', `/${bucket}/open`), 403);
  expect(await nobody.call('GET', foreign(bucket)), 403);
  expect(await eve.call('GET', foreign(bucket, '/k')), 200);

  const policy = (principal: unknown) =>
    JSON.stringify({
      Statement: [
        { Effect: 'Allow', Principal: principal, Action: 's3:GetObject', Resource: `arn:aws:s3:::${bucket}/*` },
      ],
    });
  const put = (body: string) => ada.call('PUT', `/${bucket}`, { query: { policy: '' }, body });
  expect(await ada.call('PUT', `/${bucket}`, block('BlockPublicPolicy')), 200);
  expect(await put(policy('*')), 403, 'AccessDenied');
  expect(await put(policy({ AWS: ELSEWHERE })), 204);
  expect(await ada.call('PUT', `/${bucket}`, block('RestrictPublicBuckets')), 200);
  expect(await eve.call('GET', foreign(bucket, '/open')), 200);
  expect(await put(policy('*')), 204);
  expect(await ada.call('PUT', `/${bucket}/open`, { query: { acl: '' }, headers: { 'x-amz-acl': 'private' } }), 200);
  expect(await nobody.call('GET', foreign(bucket, '/open')), 403);
  expect(await eve.call('GET', foreign(bucket, '/open')), 403);
  expect(await ada.call('GET', `/${bucket}/open`), 200);
  expect(await ada.call('DELETE', `/${bucket}`, { query: { publicAccessBlock: '' } }), 204);
  expect(await nobody.call('GET', foreign(bucket, '/open')), 200);
});
