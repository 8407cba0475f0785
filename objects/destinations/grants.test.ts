import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, before, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { until } from '../../testing/waiting.ts';
import { expect, type S3Client } from '../../protocols/s3/testing/client.ts';
import { makeKnown, put, replicate, statusOf } from '../testing/remote.ts';
import { testObjects, type TestObjects } from '../testing/test-objects.ts';

/** Accounts share remote endpoints only as the administrator says, and never each other's objects there. */

const { destinations, messages } = objectsApi.groups;
const ends: (() => Promise<void> | void)[] = [];
const lasting = { after: (end: () => Promise<void> | void) => ends.unshift(end) };
let here: TestObjects;
let there: TestObjects;
let far: S3Client;
let one: { account: string; client: S3Client };
let other: { account: string; client: S3Client };

before(async () => {
  [here, there] = await Promise.all([testObjects(lasting), testObjects(lasting)]);
  far = there.s3(there.owner);
  [one, other] = [await tenant('one'), await tenant('other')];
});
after(async () => {
  for (const client of [far, one.client, other.client]) client.close();
  for (const end of ends) await end();
});

async function tenant(name: string): Promise<{ account: string; client: S3Client }> {
  const account = await here.account(name);
  return { account, client: here.s3(await here.user(account, name, 'account_admin')) };
}

/** An endpoint without grants. */
async function newEndpoint(name: string): Promise<string> {
  const asked = {
    name,
    type: 'OBJS_S3' as const,
    endpoint_url: there.dataUrl,
    region: 'us-east-1',
    username: there.owner.s3.access,
    password: there.owner.s3.secret,
    connectVia: 'fe' as const,
  };
  await here.client.call(destinations.create, asked);
  const { container_replication_targets: known } = await here.client.call(destinations.list, {});
  return known.find(({ display_name: shown }) => shown === name)!.ext_name;
}

const grant = (name: string, account: string, ownPrefix?: boolean) =>
  here.client.call(destinations.grant, {
    'ext-name': name,
    account_id: account,
    ...(ownPrefix !== undefined && { own_prefix: ownPrefix }),
  });
const grantsOf = async (name: string) =>
  (await here.client.call(destinations.listGrants, { 'ext-name': name })).grants.map((each) => [
    each.account_id,
    each.prefix,
  ]);
const isCompleted = (client: S3Client, path: string) =>
  until(async () => (await statusOf(client, path)) === 'COMPLETED', `${path} is replicated`);
const isFailed = (client: S3Client, path: string) =>
  until(async () => (await statusOf(client, path)) === 'FAILED', `${path} is given up`);

test('without a grant an endpoint does not exist for an account', async () => {
  const name = await newEndpoint('granted to one');
  for (const { client } of [one, other]) expect(await client.call('PUT', '/alone'), 200);
  const unknown = await other.client.call('PUT', '/alone', { query: { replication: '' } });
  assert.equal(unknown.status, 400);
  assert.equal((await replicate(one.client, 'alone', name)).status, 400);
  await grant(name, one.account);
  assert.equal((await replicate(one.client, 'alone', name)).status, 200);
  const granted = async ({ account }: { account: string }) =>
    (await here.client.call(destinations.listGranted, { account_id: account })).endpoints;
  assert.deepEqual(await granted(one), [
    { ext_name: name, display_name: 'granted to one', type: 'OBJS_S3', prefix: `${one.account}/` },
  ]);
  assert.deepEqual(await granted(other), []);
  const [refused, missing] = [
    await replicate(other.client, 'alone', name),
    await replicate(other.client, 'alone', 'obsdst-0000ffff'),
  ];
  const shape = (text: string) => text.replace(/<RequestId>.*?<\/RequestId>/, '').replaceAll(/obsdst-\w+/g, '');
  assert.deepEqual([refused.status, shape(refused.text)], [400, shape(missing.text)]);
  assert.deepEqual(await grantsOf(name), [[one.account, `${one.account}/`]]);
});

test('accounts that share an endpoint and a bucket there do not reach each other’s objects', async () => {
  const name = await newEndpoint('shared');
  expect(await far.call('PUT', '/offsite'), 200);
  for (const { account, client } of [one, other]) {
    await grant(name, account);
    expect(await client.call('PUT', '/shared'), 200);
    expect(await replicate(client, 'shared', name, { target: 'offsite', deletes: true }), 200);
  }
  await put(one.client, '/shared/report', 'of one');
  await isCompleted(one.client, '/shared/report');
  await put(other.client, '/shared/report', 'of the other');
  await put(other.client, `/shared/${one.account}/report`, 'forged');
  await isCompleted(other.client, '/shared/report');
  await isCompleted(other.client, `/shared/${one.account}/report`);
  expect(await other.client.call('DELETE', '/shared/report'), 204);
  const theirs = `/offsite/${other.account}/report`;
  await until(async () => (await far.call('HEAD', theirs)).status === 404, 'the deletion');
  assert.equal((await far.call('GET', `/offsite/${one.account}/report`)).text, 'of one');
});

test('what was granted can be revoked, and comes back with the same prefix', async () => {
  const name = await newEndpoint('revoked');
  expect(await far.call('PUT', '/taken'), 200);
  expect(await one.client.call('PUT', '/taken'), 200);
  await grant(name, one.account, false);
  expect(await replicate(one.client, 'taken', name), 200);
  await put(one.client, '/taken/a', 'a');
  await isCompleted(one.client, '/taken/a');
  await here.client.call(destinations.revoke, { 'ext-name': name, account_id: one.account });
  assert.deepEqual(await grantsOf(name), []);
  await put(one.client, '/taken/b', 'b');
  await isFailed(one.client, '/taken/b');
  assert.equal((await replicate(one.client, 'taken', name)).status, 400);
  const again = await here.client.refused(destinations.revoke, { 'ext-name': name, account_id: one.account });
  assert.equal(again.code, 10097);
  await grant(name, one.account);
  assert.deepEqual(await grantsOf(name), [[one.account, '']]);
  await put(one.client, '/taken/c', 'c');
  await isCompleted(one.client, '/taken/c');
  assert.equal((await far.call('GET', '/taken/c')).text, 'c');
  assert.equal((await far.call('HEAD', '/taken/b')).status, 404);
});

test('one account may do without a prefix, and stays out of what others have', async () => {
  const name = await newEndpoint('plain');
  expect(await far.call('PUT', '/plain'), 200);
  await grant(name, one.account, false);
  const asked = { 'ext-name': name, account_id: other.account, own_prefix: false };
  assert.equal((await here.client.refused(destinations.grant, asked)).code, 50100);
  await grant(name, other.account);
  expect(await one.client.call('PUT', '/plain'), 200);
  expect(await replicate(one.client, 'plain', name), 200);
  await put(one.client, `/plain/${other.account}/x`, 'forged');
  await isFailed(one.client, `/plain/${other.account}/x`);
  assert.equal((await far.call('HEAD', `/plain/${other.account}/x`)).status, 404);
  const unknown = { 'ext-name': name, account_id: 'f'.repeat(32) };
  assert.equal((await here.client.refused(destinations.grant, unknown)).code, 50001);
  const nowhere = { 'ext-name': 'obsdst-0000ffff', account_id: one.account };
  assert.equal((await here.client.refused(destinations.grant, nowhere)).code, 50009);
});

test('no name leads to where another account has its objects, or will have them', async () => {
  const name = await newEndpoint('detours');
  expect(await far.call('PUT', '/detours'), 200);
  await grant(name, one.account, false);
  expect(await one.client.call('PUT', '/detours'), 200);
  expect(await replicate(one.client, 'detours', name), 200);
  const { account } = other;
  const keys = [`${account}/x`, `/${account}/x`, `./${account}/x`, `a/../${account}/x`, `${account.toUpperCase()}/x`];
  for (const key of keys) await put(one.client, `/detours/${key}`, 'forged');
  for (const key of keys) await isFailed(one.client, `/detours/${key}`);
  const fine = [`${one.account}/x`, `a/${account}/x`, `${'d'.repeat(32)}/x`, '.../x', 'a..b/.c', `x${account}/x`];
  for (const key of fine) await put(one.client, `/detours/${key}`, 'plain');
  for (const key of fine) await isCompleted(one.client, `/detours/${key}`);
  await grant(name, account);
  expect(await other.client.call('PUT', '/detours'), 200);
  expect(await replicate(other.client, 'detours', name), 200);
  await put(other.client, '/detours/../x', 'out of the prefix');
  await isFailed(other.client, '/detours/../x');
});

test('an endpoint of before there were grants is granted to those who use it, where their objects are', async (t) => {
  const old = await testObjects(t);
  const client = old.s3(old.owner);
  const name = await makeKnown(old, there, 'used');
  const idle = await makeKnown(old, there, 'idle');
  for (const each of [client, far]) expect(await each.call('PUT', '/legacy'), 200);
  expect(await replicate(client, 'legacy', name), 200);
  await put(client, '/legacy/before', 'before');
  await isCompleted(client, '/legacy/before');
  await old.stop();
  const db = new DatabaseSync(join(old.configuration.folder, 'objects.db'));
  db.exec('DELETE FROM destination_grants; UPDATE destinations SET has_grants = 0');
  db.close();
  await old.start();
  const list = async (each: string) =>
    (await old.client.call(destinations.listGrants, { 'ext-name': each })).grants.map(({ prefix }) => prefix);
  assert.deepEqual([await list(name), await list(idle)], [[''], []]);
  const again = old.s3(old.owner);
  await put(again, '/legacy/after', 'after');
  await isCompleted(again, '/legacy/after');
  assert.equal((await far.call('GET', '/legacy/after')).text, 'after');
  assert.equal((await replicate(again, 'legacy', idle)).status, 400);
  const { messages: recorded } = await old.client.call(messages.list, {});
  assert.ok(recorded.some(({ msg_title }) => /was granted to account .*, which used it before/.test(msg_title)));
  for (const each of [client, again]) each.close();
});

test('connectVia decides where connections come from', async (t) => {
  const from: string[] = [];
  const server = createServer((request, response) => {
    from.push(request.socket.remoteAddress ?? '');
    response.end();
  }).listen(0, '127.0.0.1');
  t.after(() => void server.close());
  await new Promise((resolve) => server.once('listening', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const asked = { type: 'EXT_S3' as const, endpoint, region: 'r', username: 'u', password: 'p' };
  await here.client.call(destinations.create, { ...asked, name: 'via fe', connectVia: 'fe' });
  await here.client.call(destinations.create, { ...asked, name: 'via outnet', connectVia: 'outnet' });
  const { host } = here.configuration.management;
  assert.notEqual(host, '127.0.0.1');
  assert.deepEqual(from, [host, '127.0.0.1']);
});
