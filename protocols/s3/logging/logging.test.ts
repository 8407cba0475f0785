import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import { until } from '../../../testing/waiting.ts';
import { expect } from '../testing/client.ts';
import { PEOPLE, serve } from '../testing/serve.ts';
import { loggedOperation } from './operation-name.ts';

const served = await serve();
const ada = served.as('ada');
after(() => served.close());
const { account, user } = PEOPLE.ada.caller;
const FIELD = /\[[^\]]*\]|"[^"]*"|\S+/g;
const NAMES = [
  ...['owner', 'bucket', 'time', 'ip', 'requester', 'id', 'operation', 'key', 'line', 'status', 'code', 'sent', 'size'],
  ...[
    'total',
    'turn',
    'referer',
    'agent',
    'version',
    'host_id',
    'signature',
    'cipher',
    'auth',
    'host',
    'tls',
    'arn',
    'acl',
  ],
];

function enabled(target: string, more = '', prefix = 'p/'): string {
  return `<BucketLoggingStatus><LoggingEnabled><TargetBucket>${target}</TargetBucket>${more}<TargetPrefix>${prefix}</TargetPrefix></LoggingEnabled></BucketLoggingStatus>`;
}

const log = (bucket: string, body: string) => ada.call('PUT', `/${bucket}`, { query: { logging: '' }, body });

async function bucketLogging(name: string, more = ''): Promise<void> {
  for (const each of [name, `${name}-logs`]) expect(await ada.call('PUT', `/${each}`), 200);
  expect(await log(name, enabled(`${name}-logs`, more)), 200);
}

/** The fields of each line that names a bucket. */
function linesOf(bucket: string): Readonly<Record<string, string>>[] {
  return served.records
    .flatMap(({ logged = [] }) => logged)
    .map(({ line }) => line.match(FIELD) ?? [])
    .filter(([, name]) => name === bucket)
    .map((fields) => Object.fromEntries(NAMES.map((name, at) => [name, fields[at] ?? 'none'])));
}

async function lineOf(bucket: string, operation: string): Promise<Readonly<Record<string, string>>> {
  return until(() => linesOf(bucket).find((line) => line['operation'] === operation), `${operation} of ${bucket}`);
}

test('logging of a bucket is kept as it was given, and taken away', async () => {
  const format =
    '<TargetObjectKeyFormat><PartitionedPrefix><PartitionDateSource>EventTime</PartitionDateSource></PartitionedPrefix></TargetObjectKeyFormat>';
  const grants = `<TargetGrants><Grant><Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser"><ID>${PEOPLE.eve.caller.account}</ID></Grantee><Permission>READ</Permission></Grant></TargetGrants>`;
  await bucketLogging('kept', format + grants);
  const query = { logging: '' };
  const { text } = expect(await ada.call('GET', '/kept', { query }), 200);
  assert.match(text, /<TargetBucket>kept-logs<\/TargetBucket><TargetGrants><Grant>.*<Permission>READ<\/Permission>/);
  assert.match(
    text,
    /<TargetPrefix>p\/<\/TargetPrefix><TargetObjectKeyFormat><PartitionedPrefix><PartitionDateSource>EventTime/,
  );
  expect(await log('kept', '<BucketLoggingStatus/>'), 200);
  assert.doesNotMatch((await ada.call('GET', '/kept', { query })).text, /LoggingEnabled/);
});

test('a target of logging that is not there, not the account’s own or locked is refused', async () => {
  expect(await ada.call('PUT', '/wrong'), 200);
  expect(await served.as('eve').call('PUT', '/eves-logs'), 200);
  for (const target of ['never-made', 'eves-logs'])
    expect(await log('wrong', enabled(target)), 400, 'InvalidTargetBucketForLogging');
  const locked = { 'x-amz-bucket-object-lock-enabled': 'true' };
  expect(await ada.call('PUT', '/locked-logs', { headers: locked }), 200);
  const rule =
    '<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled><Rule><DefaultRetention><Mode>GOVERNANCE</Mode><Days>1</Days></DefaultRetention></Rule></ObjectLockConfiguration>';
  expect(await ada.call('PUT', '/locked-logs', { query: { 'object-lock': '' }, body: rule }), 200);
  expect(await log('wrong', enabled('locked-logs')), 400, 'InvalidTargetBucketForLogging');
  expect(await log('wrong', enabled('wrong', '<Other/>')), 400, 'MalformedXML');
  expect(await log('wrong', enabled('wrong', '', 'x'.repeat(513))), 400, 'InvalidArgument');
  const both = '<TargetObjectKeyFormat><SimplePrefix/><PartitionedPrefix/></TargetObjectKeyFormat>';
  expect(await log('wrong', enabled('wrong', both)), 400, 'MalformedXML');
  assert.doesNotMatch((await ada.call('GET', '/wrong', { query: { logging: '' } })).text, /LoggingEnabled/);
});

test('each request to a bucket that logs leaves a line with the fields of S3', async () => {
  await bucketLogging('photos');
  const headers = { referer: 'http://example.org/"quoted"', 'user-agent': 'tool 1' };
  expect(await ada.call('PUT', '/photos/summer fun/beach.jpg', { body: 'waves', headers }), 200);
  const put = await lineOf('photos', 'REST.PUT.OBJECT');
  assert.deepEqual(
    [put['owner'], put['requester'], put['key'], put['status'], put['code']],
    [account, user, 'summer%20fun/beach.jpg', '200', '-'],
  );
  assert.match(put['time'] ?? '', /^\[\d\d\/[A-Z][a-z]{2}\/\d{4}:\d\d:\d\d:\d\d \+0000\]$/);
  assert.equal(put['line'], '"PUT /photos/summer%20fun/beach.jpg HTTP/1.1"');
  assert.deepEqual([put['sent'], put['size'], put['signature'], put['auth']], ['-', '5', 'SigV4', 'AuthHeader']);
  assert.deepEqual([put['referer'], put['agent']], ['"http://example.org/%22quoted%22"', '"tool 1"']);
  assert.deepEqual([put['cipher'], put['tls'], put['arn'], put['acl']], ['-', '-', '-', '-']);
  assert.match(put['total'] ?? '', /^\d+$/);
  assert.match(put['turn'] ?? '', /^\d+$/);
  const range = { range: 'bytes=0-1' };
  expect(await ada.call('GET', '/photos/summer fun/beach.jpg', { headers: range }), 206);
  const got = await lineOf('photos', 'REST.GET.OBJECT');
  assert.deepEqual([got['status'], got['sent'], got['size']], ['206', '2', '5']);
  expect(await ada.call('GET', '/photos', { query: { 'list-type': '2' } }), 200);
  assert.match((await lineOf('photos', 'REST.GET.BUCKET'))['sent'] ?? '', /^[1-9]\d+$/);
});

test('the signature of a presigned address is not in the log', async () => {
  await bucketLogging('signed');
  const url = `${served.origin}/signed/k?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Signature=0123abcd&x=1`;
  await fetch(url, { headers: { connection: 'close' } }).then((reply) => reply.text());
  const { line = '' } = await lineOf('signed', 'REST.GET.OBJECT');
  assert.match(line, /&X-Amz-Signature=XXXX&x=1 /);
});

test('requests that are refused are in the log, too', async () => {
  await bucketLogging('closed');
  expect(await served.as('eve').call('GET', '/closed/k'), 403);
  const refused = await lineOf('closed', 'REST.GET.OBJECT');
  assert.deepEqual(
    [refused['status'], refused['code'], refused['requester']],
    ['403', 'AccessDenied', PEOPLE.eve.caller.user],
  );
  expect(await served.as(null).call('HEAD', '/closed/k'), 403);
  assert.equal((await lineOf('closed', 'REST.HEAD.OBJECT'))['requester'], '-');
});

test('a copy is in the log of its source, and each key of a deletion of many in that of its bucket', async () => {
  await bucketLogging('source');
  await bucketLogging('copies');
  expect(await ada.call('PUT', '/source/k', { body: 'x' }), 200);
  expect(await ada.call('PUT', '/copies/k', { headers: { 'x-amz-copy-source': '/source/k' } }), 200);
  assert.equal((await lineOf('source', 'REST.COPY.OBJECT_GET'))['key'], 'k');
  assert.equal((await lineOf('copies', 'REST.COPY.OBJECT'))['key'], 'k');
  const body = '<Delete><Object><Key>k</Key></Object></Delete>';
  const headers = { 'content-md5': createHash('md5').update(body).digest('base64') };
  expect(await ada.call('POST', '/copies', { query: { delete: '' }, body, headers }), 200);
  assert.equal((await lineOf('copies', 'REST.POST.MULTI_OBJECT_DELETE'))['status'], '200');
  const one = await lineOf('copies', 'BATCH.DELETE.OBJECT');
  assert.deepEqual([one['key'], one['status'], one['size']], ['k', '204', '1']);
});

test('a bucket that logs nothing costs no line', async () => {
  expect(await ada.call('PUT', '/plain'), 200);
  expect(await ada.call('PUT', '/plain/k', { body: 'x' }), 200);
  await until(() => served.records.some(({ bucket, key }) => bucket === 'plain' && key === 'k'));
  assert.deepEqual(linesOf('plain'), []);
});

test('operations are called what S3 calls them', () => {
  const names = {
    GetObjectTagging: 'REST.GET.OBJECT_TAGGING',
    GetBucketAcl: 'REST.GET.ACL',
    GetObjectAcl: 'REST.GET.OBJECT_ACL',
    GetBucketVersioning: 'REST.GET.VERSIONING',
    GetBucketLocation: 'REST.GET.LOCATION',
    GetBucketNotification: 'REST.GET.NOTIFICATION',
    GetBucketOwnershipControls: 'REST.GET.OWNERSHIP_CONTROLS',
    ListParts: 'REST.GET.UPLOAD',
  };
  for (const [operation, name] of Object.entries(names)) assert.equal(loggedOperation(operation, 'GET'), name);
});
