import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { expect } from '../../protocols/s3/testing/client.ts';
import { until } from '../../testing/waiting.ts';
import { twoCopies } from '../testing/drives.ts';
import { testObjects } from '../testing/test-objects.ts';

/**
 * Goal: rules move objects to another policy, and nothing of them changes but where their bytes are.
 * Method: a policy of copies and one of fragments; rules whose date has passed take effect at the next start.
 */
const fragments = { name: 'Cold', typeId: 2, typeName: '2+1', replicas: 0, dataFragments: 2, parityFragments: 1 };
const objects = await testObjects({ after }, { policies: [twoCopies, fragments] });
for (const number of [5, 6, 7, 8]) await objects.addDrive(number, { policy: 'Cold' });
const s3 = objects.s3(objects.owner);
after(() => s3.close());

const PAST = '2020-01-01T00:00:00Z';
const MIB = 2 ** 20;
const CLASS = 'x-amz-storage-class';
const KEY = randomBytes(32);
const SSE_C = {
  'x-amz-server-side-encryption-customer-algorithm': 'AES256',
  'x-amz-server-side-encryption-customer-key': KEY.toString('base64'),
  'x-amz-server-side-encryption-customer-key-md5': createHash('md5').update(KEY).digest('base64'),
};

const rule = (inner: string, filter = '<Filter/>') =>
  `<LifecycleConfiguration><Rule><ID>move</ID>${filter}<Status>Enabled</Status>${inner}</Rule></LifecycleConfiguration>`;
const transition = (at: string, storageClass = 'cold') =>
  `<Transition>${at}<StorageClass>${storageClass}</StorageClass></Transition>`;
const setRules = (bucket: string, body: string) => s3.call('PUT', `/${bucket}`, { query: { lifecycle: '' }, body });
const classOf = async (path: string, headers = {}) =>
  expect(await s3.call('HEAD', path, { headers }), 200).headers[CLASS];

/** Objects and bytes under the policy of fragments. */
async function inCold(): Promise<[number, number]> {
  const { headers } = await objects.swift(objects.owner, 'HEAD', '');
  const of = (what: string) => Number(headers.get(`x-account-storage-policy-cold-${what}`) ?? 0);
  return [of('object-count'), of('bytes-used')];
}

test('a rule moves objects of all kinds, and they are what they were', async () => {
  expect(await s3.call('PUT', '/kinds'), 200);
  const whole = randomBytes(300_000);
  const parts = [randomBytes(5 * MIB), randomBytes(70_000)];
  const headers = { 'content-type': 'text/css', 'x-amz-meta-a': 'b', 'x-amz-tagging': 't=1' };
  expect(
    await s3.call('PUT', '/kinds/plain', {
      body: whole,
      headers: { ...headers, 'x-amz-checksum-sha256': createHash('sha256').update(whole).digest('base64') },
    }),
    200,
  );
  expect(await s3.call('PUT', '/kinds/empty'), 200);
  const sse = { 'x-amz-server-side-encryption': 'AES256' };
  expect(await s3.call('PUT', '/kinds/encrypted', { body: whole, headers: sse }), 200);
  expect(await s3.call('PUT', '/kinds/sealed', { body: whole, headers: SSE_C }), 200);
  expect(await s3.call('PUT', '/kinds/shared', { headers: { 'x-amz-copy-source': 'kinds/plain' } }), 200);
  const uploadId = (await s3.call('POST', '/kinds/parts', { query: { uploads: '' }, headers: SSE_C })).xml('UploadId')!;
  const etags = [];
  for (const [at, body] of parts.entries()) {
    const query = { uploadId, partNumber: String(at + 1) };
    etags.push((await s3.call('PUT', '/kinds/parts', { query, body, headers: SSE_C })).headers.etag);
  }
  const list = etags.map((etag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${etag}</ETag></Part>`).join('');
  const body = `<CompleteMultipartUpload>${list}</CompleteMultipartUpload>`;
  expect(await s3.call('POST', '/kinds/parts', { query: { uploadId }, body }), 200);

  const keys = { plain: {}, empty: {}, encrypted: {}, sealed: SSE_C, shared: {}, parts: SSE_C };
  const shown = async (name: string, more: Record<string, string>) => {
    const got = expect(
      await s3.call('GET', `/kinds/${name}`, { headers: { ...more, 'x-amz-checksum-mode': 'ENABLED' } }),
      200,
    );
    const { date: _d, [CLASS]: storageClass, 'x-amz-request-id': _r, 'x-amz-id-2': _i, ...rest } = got.headers;
    return { storageClass, headers: rest, bytes: got.bytes };
  };
  const before = await Promise.all(Object.entries(keys).map(([name, more]) => shown(name, more)));
  const coldBefore = await inCold();

  expect(await setRules('kinds', rule(transition(`<Date>${PAST}</Date>`))), 200);
  await objects.restart();
  for (const [name, more] of Object.entries(keys)) {
    await until(async () => (await classOf(`/kinds/${name}`, more)) === 'Cold', `${name} has moved`);
  }
  const now = await Promise.all(Object.entries(keys).map(([name, more]) => shown(name, more)));
  for (const [at, one] of now.entries()) {
    assert.deepEqual(one.bytes, before[at]!.bytes);
    assert.deepEqual(one.headers, before[at]!.headers);
    assert.deepEqual([before[at]!.storageClass, one.storageClass], [undefined, 'Cold']);
  }
  const second = await s3.call('GET', '/kinds/parts', { query: { partNumber: '2' }, headers: SSE_C });
  assert.deepEqual(expect(second, 206).bytes, parts[1]);
  for (const query of [{}, { versions: '' }] as Record<string, string>[]) {
    assert.deepEqual(new Set((await s3.call('GET', '/kinds', { query })).all('StorageClass')), new Set(['Cold']));
  }
  const bytes = 4 * whole.length + parts[0]!.length + parts[1]!.length;
  const [count, held] = await inCold();
  assert.deepEqual([count - coldBefore[0], held - coldBefore[1]], [6, bytes]);
  const { messages } = await objects.client.call(objectsApi.groups.messages.list, {});
  assert.ok(
    messages.some(({ msg_title: title }) => title === 'Lifecycle rules moved 6 objects to other storage policies.'),
  );
});

test('a move is reported to the webhook of the bucket', async (t) => {
  let posted = '';
  const receiver = createServer((request, response) => {
    request.on('data', (piece: Buffer) => (posted += piece.toString()));
    request.on('end', () => response.end());
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  t.after(() => receiver.close());
  const { settings } = objectsApi.groups;
  await objects.client.call(settings.setNotificationHosts, { notification_hosts: '127.0.0.1' });
  expect(await s3.call('PUT', '/told'), 200);
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const topic = `<TopicConfiguration><Id>moves</Id><Topic>${address}</Topic><Event>s3:LifecycleTransition</Event></TopicConfiguration>`;
  const body = `<NotificationConfiguration>${topic}</NotificationConfiguration>`;
  const headers = { 'x-amz-skip-destination-validation': 'true' };
  expect(await s3.call('PUT', '/told', { query: { notification: '' }, body, headers }), 200);
  expect(await s3.call('PUT', '/told/k', { body: 'x' }), 200);
  expect(await setRules('told', rule(transition(`<Date>${PAST}</Date>`))), 200);
  await objects.restart();
  await until(() => posted.includes('LifecycleTransition'), 'the move is posted');
  assert.match(posted, /"eventName":"LifecycleTransition".*"key":"k"/);
  assert.equal(await classOf('/told/k'), 'Cold');
});

test('versions under a lock move, and stay locked', async () => {
  expect(await s3.call('PUT', '/locked', { headers: { 'x-amz-bucket-object-lock-enabled': 'true' } }), 200);
  const hold = { 'x-amz-object-lock-legal-hold': 'ON' };
  const old = expect(await s3.call('PUT', '/locked/a', { body: 'old', headers: hold }), 200).headers[
    'x-amz-version-id'
  ];
  expect(await s3.call('PUT', '/locked/a', { body: 'new', headers: hold }), 200);
  expect(await setRules('locked', rule(transition(`<Date>${PAST}</Date>`))), 200);
  await objects.restart();
  await until(async () => (await classOf('/locked/a')) === 'Cold', 'the current version has moved');
  const query = { versionId: String(old) };
  const older = expect(await s3.call('GET', '/locked/a', { query }), 200);
  assert.deepEqual(
    [older.text, older.headers[CLASS]],
    ['old', undefined],
    'rules of current versions leave older ones',
  );
  const newest = expect(await s3.call('GET', '/locked/a'), 200);
  assert.deepEqual([newest.text, newest.headers['x-amz-object-lock-legal-hold']], ['new', 'ON']);
  const versionId = String(newest.headers['x-amz-version-id']);
  expect(await s3.call('DELETE', '/locked/a', { query: { versionId } }), 403, 'AccessDenied');
});

test('rules are shown as they were given, and unknown classes are refused', async () => {
  expect(await s3.call('PUT', '/rules'), 200);
  const given = rule(
    `${transition('<Days>3</Days>', 'COLD')}<NoncurrentVersionTransition><NoncurrentDays>0</NoncurrentDays>` +
      '<NewerNoncurrentVersions>2</NewerNoncurrentVersions><StorageClass>policy-00000002</StorageClass></NoncurrentVersionTransition>' +
      '<Expiration><Days>9</Days></Expiration>',
    '<Filter><Prefix>a</Prefix></Filter>',
  );
  expect(await setRules('rules', given), 200);
  const shown = (await s3.call('GET', '/rules', { query: { lifecycle: '' } })).text;
  assert.ok(shown.includes(given.slice(given.indexOf('<Transition>'), given.indexOf('</Rule>'))), shown);
  expect(await setRules('rules', rule(transition('<Days>1</Days>', 'GLACIER'))), 400, 'InvalidStorageClass');
  const late = transition('<Days>9</Days>') + '<Expiration><Days>9</Days></Expiration>';
  expect(await setRules('rules', rule(late)), 400, 'InvalidArgument');
  const mixed = transition(`<Date>${PAST}</Date>`) + '<Expiration><Days>9</Days></Expiration>';
  expect(await setRules('rules', rule(mixed)), 400, 'InvalidRequest');
  assert.equal((await s3.call('GET', '/rules', { query: { lifecycle: '' } })).text, shown, 'nothing has changed');
});
