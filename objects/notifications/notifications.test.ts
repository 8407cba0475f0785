import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { expect } from '../../protocols/s3/testing/client.ts';
import { until } from '../../testing/waiting.ts';
import { testObjects } from '../testing/test-objects.ts';

/**
 * Goal: whatever changes an object, by whichever protocol, is posted to the webhook that a rule of its bucket names.
 * Method: one array and one receiver; each test has a bucket of its own.
 */
const { settings } = objectsApi.groups;
const objects = await testObjects({ after });
const { client } = objects;
const account = await objects.account('acme');
const ada = await objects.user(account, 'ada', 'account_admin');
const s3 = objects.s3(ada);
after(() => s3.close());

interface Record {
  readonly eventName: string;
  readonly eventVersion: string;
  readonly userIdentity: { readonly principalId: string };
  readonly requestParameters: { readonly sourceIPAddress: string };
  readonly s3: {
    readonly configurationId: string;
    readonly bucket: { readonly name: string; readonly ownerIdentity: { readonly principalId: string } };
    readonly object: {
      readonly key: string;
      readonly size?: number;
      readonly eTag?: string;
      readonly versionId?: string;
      readonly sequencer: string;
    };
  };
}

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly message: { readonly Event?: string; readonly Bucket?: string; readonly Records?: readonly Record[] };
}

const received: Delivery[] = [];
let answer = 200;
const receiver = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (piece: string) => (body += piece));
  request.on('end', () => {
    const message = JSON.parse(body) as Delivery['message'];
    received.push({ headers: request.headers, body, message });
    response.writeHead(answer).end();
  });
}).listen(0, '127.0.0.1');
await once(receiver, 'listening');
after(() => receiver.close());
const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;

const topic = (events: readonly string[], { to = address, filter = '', id = 'all' } = {}) =>
  `<TopicConfiguration><Id>${id}</Id><Topic>${to}</Topic>${events.map((event) => `<Event>${event}</Event>`).join('')}${filter}</TopicConfiguration>`;
const filterOf = (name: string, value: string) =>
  `<Filter><S3Key><FilterRule><Name>${name}</Name><Value>${value}</Value></FilterRule></S3Key></Filter>`;
const ALL = ['s3:ObjectCreated:*', 's3:ObjectRemoved:*', 's3:ObjectTagging:*', 's3:ObjectAcl:Put'];

function notify(bucket: string, rules: string, headers: Readonly<{ [name: string]: string }> = {}) {
  const body = `<NotificationConfiguration>${rules}</NotificationConfiguration>`;
  return s3.call('PUT', `/${bucket}`, { query: { notification: '' }, body, headers });
}

async function bucketWith(bucket: string, rules: string): Promise<void> {
  expect(await s3.call('PUT', `/${bucket}`), 200);
  expect(await notify(bucket, rules, { 'x-amz-skip-destination-validation': 'true' }), 200);
}

const recordsOf = (bucket: string) =>
  received.flatMap(({ message }) => message.Records ?? []).filter((record) => record.s3.bucket.name === bucket);
const namesOf = (bucket: string) =>
  recordsOf(bucket)
    .toSorted((one, other) => (one.s3.object.sequencer < other.s3.object.sequencer ? -1 : 1))
    .map(({ eventName }) => eventName);

test('no host may be posted to before an operator allows it', async () => {
  expect(await s3.call('PUT', '/closed'), 200);
  const refused = await notify('closed', topic(ALL));
  expect(refused, 400, 'InvalidArgument');
  assert.match(refused.text, /Unable to validate the following destination configurations/);
  await client.call(settings.setNotificationHosts, { notification_hosts: '127.0.0.1, hooks.example.org' });
  assert.equal(
    (await client.call(settings.getNotificationHosts, {})).notification_hosts,
    '127.0.0.1,hooks.example.org',
  );
  expect(await notify('closed', topic(ALL, { to: 'https://elsewhere.example.org' })), 400, 'InvalidArgument');
  const { text } = await s3.call('GET', '/closed', { query: { notification: '' } });
  assert.doesNotMatch(text, /TopicConfiguration/);
});

test('rules for notifications are kept as they were given, test the address, and are taken away', async () => {
  expect(await s3.call('PUT', '/kept'), 200);
  const rule = topic(['s3:ObjectCreated:*'], { filter: filterOf('Prefix', 'summer/'), id: 'one' });
  const set = expect(await notify('kept', rule), 200);
  const secret = set.headers['x-granary-notification-secret'] as string;
  const { text } = await s3.call('GET', '/kept', { query: { notification: '' } });
  assert.match(text, /<Id>one<\/Id>/);
  assert.match(text, new RegExp(`<Topic>${address}</Topic><Event>s3:ObjectCreated:\\*</Event>`));
  assert.match(text, /<FilterRule><Name>prefix<\/Name><Value>summer\/<\/Value>/);
  const arrived = () => received.find(({ message }) => message.Bucket === 'kept');
  await until(() => arrived()?.message.Event === 's3:TestEvent');
  const { headers, body } = arrived()!;
  const digest = createHmac('sha256', secret)
    .update(`${headers['granary-timestamp'] as string}.${body}`)
    .digest('hex');
  assert.equal(headers['granary-signature'], `v1=${digest}`);
  const again = await notify('kept', rule, { 'x-amz-skip-destination-validation': 'true' });
  assert.equal(again.headers['x-granary-notification-secret'], secret);
  expect(await notify('kept', ''), 200);
  const none = await s3.call('GET', '/kept', { query: { notification: '' } });
  assert.doesNotMatch(none.text, /TopicConfiguration/);
});

test('each change of an object is posted once, with what became of it', async () => {
  await bucketWith('events', topic(ALL));
  const key = '/events/summer fun/bäch.jpg';
  expect(await s3.call('PUT', key, { body: 'waves' }), 200);
  expect(await s3.call('PUT', '/events/copy', { headers: { 'x-amz-copy-source': encodeURI(key) } }), 200);
  const tags = '<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>';
  expect(await s3.call('PUT', '/events/copy', { query: { tagging: '' }, body: tags }), 200);
  expect(await s3.call('DELETE', '/events/copy', { query: { tagging: '' } }), 204);
  expect(await s3.call('PUT', '/events/copy', { query: { acl: '' }, headers: { 'x-amz-acl': 'public-read' } }), 200);
  expect(await s3.call('DELETE', '/events/copy'), 204);
  expect(await s3.call('DELETE', '/events/never-there'), 204);
  const names = [
    'ObjectCreated:Put',
    'ObjectCreated:Copy',
    'ObjectTagging:Put',
    'ObjectTagging:Delete',
    'ObjectAcl:Put',
    'ObjectRemoved:Delete',
  ];
  await until(() => namesOf('events').length >= names.length);
  assert.deepEqual(namesOf('events').toSorted(), names.toSorted());
  const put = recordsOf('events').find(({ eventName }) => eventName === 'ObjectCreated:Put')!;
  assert.equal(put.eventVersion, '2.1');
  assert.equal(put.userIdentity.principalId, ada.id);
  assert.ok(put.requestParameters.sourceIPAddress.startsWith('127.'));
  assert.equal(put.s3.configurationId, 'all');
  assert.equal(put.s3.bucket.ownerIdentity.principalId, account);
  const { key: shown, size, eTag, versionId } = put.s3.object;
  assert.deepEqual([shown, size, versionId], ['summer+fun/b%C3%A4ch.jpg', 5, undefined]);
  assert.match(eTag ?? '', /^[0-9a-f]{32}$/);
});

test('versions, uploads in parts, forms of Swift and filters are reported as what they are', async () => {
  await bucketWith('versions', topic(ALL, { filter: filterOf('suffix', '.jpg') }));
  const enabled = '<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>';
  expect(await s3.call('PUT', '/versions', { query: { versioning: '' }, body: enabled }), 200);
  expect(await s3.call('PUT', '/versions/a.txt', { body: 'not wanted' }), 200);
  const put = await objects.swift(ada, 'PUT', '/versions/a.jpg', { body: 'over Swift' });
  assert.equal(put.status, 201);
  const begun = await s3.call('POST', '/versions/b.jpg', { query: { uploads: '' } });
  const uploadId = /<UploadId>(.*?)</.exec(begun.text)![1]!;
  const part = await s3.call('PUT', '/versions/b.jpg', { query: { uploadId, partNumber: '1' }, body: 'part' });
  const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.headers['etag'] as string}</ETag></Part></CompleteMultipartUpload>`;
  expect(await s3.call('POST', '/versions/b.jpg', { query: { uploadId }, body }), 200);
  expect(await s3.call('POST', '/versions/b.jpg', { query: { uploadId }, body }), 200);
  const gone = expect(await s3.call('DELETE', '/versions/b.jpg'), 204);
  const versionId = gone.headers['x-amz-version-id'] as string;
  expect(await s3.call('DELETE', '/versions/b.jpg', { query: { versionId } }), 204);
  const names = [
    'ObjectCreated:CompleteMultipartUpload',
    'ObjectCreated:Put',
    'ObjectRemoved:Delete',
    'ObjectRemoved:DeleteMarkerCreated',
  ];
  await until(() => namesOf('versions').length >= names.length);
  assert.deepEqual(namesOf('versions').toSorted(), names);
  const marker = recordsOf('versions').find(({ eventName }) => eventName.endsWith('MarkerCreated'))!;
  assert.equal(marker.s3.object.versionId, versionId);
});

test('a receiver that fails gets the event again, also after a restart, under the same name', async () => {
  await bucketWith('again', topic(ALL));
  answer = 503;
  expect(await s3.call('PUT', '/again/a', { body: 'x' }), 200);
  await until(() => recordsOf('again').length > 0);
  await objects.restart();
  answer = 200;
  const deliveries = () =>
    received
      .filter(({ message }) => message.Records?.[0]?.s3.bucket.name === 'again')
      .map(({ headers }) => headers['granary-delivery']);
  await until(() => deliveries().length > 1);
  assert.equal(new Set(deliveries()).size, 1);
});

test('what cannot be reported, and what is ambiguous, is refused', async () => {
  expect(await s3.call('PUT', '/refused'), 200);
  const refused = async (rules: string, code: string, words: RegExp) => {
    const reply = await notify('refused', rules);
    expect(reply, 400, code);
    assert.match(reply.text, words);
  };
  const queue =
    '<QueueConfiguration><Queue>arn:aws:sqs:x:1:q</Queue><Event>s3:ObjectCreated:*</Event></QueueConfiguration>';
  await refused(queue, 'InvalidArgument', /no queues/);
  await refused('<CloudFunctionConfiguration/>', 'InvalidArgument', /no functions/);
  await refused('<EventBridgeConfiguration/>', 'InvalidArgument', /no event bridge/);
  await refused(topic(['s3:ObjectRestore:*']), 'InvalidArgument', /not supported/);
  await refused(topic(ALL, { to: 'arn:aws:sns:us-east-1:1:topic' }), 'InvalidArgument', /could not be parsed/);
  await refused(topic(ALL, { to: 'http://ada:secret@127.0.0.1/' }), 'InvalidArgument', /could not be parsed/);
  await refused(topic([]), 'MalformedXML', /Event/);
  await refused('<Other/>', 'MalformedXML', /Other/);
  await refused(topic(ALL, { filter: filterOf('middle', 'x') }), 'InvalidArgument', /prefix or suffix/);
  const created = ['s3:ObjectCreated:Put'];
  await refused(topic(ALL) + topic(created, { id: 'two' }), 'InvalidArgument', /ambiguously/);
  await refused(topic(ALL) + topic(created), 'InvalidArgument', /unique/);
  const [jpg, png] = [filterOf('suffix', '.jpg'), filterOf('suffix', '.png')];
  const both = topic(created, { filter: jpg }) + topic(created, { filter: png, id: 'two' });
  expect(await notify('refused', both, { 'x-amz-skip-destination-validation': 'true' }), 200);
});
