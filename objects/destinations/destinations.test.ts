import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { makeKnown, replicate } from '../testing/remote.ts';
import { testObjects, type TestObjects } from '../testing/test-objects.ts';
import { endpointUrls } from './endpoint.ts';
import { remoteAddress } from './lookup.ts';

const { destinations, messages, settings } = objectsApi.groups;

const ends: (() => Promise<void> | void)[] = [];
const lasting = { after: (end: () => Promise<void> | void) => ends.push(end) };
let here: TestObjects;
let there: TestObjects;

before(async () => {
  here = await testObjects(lasting);
  there = await testObjects(lasting);
});
after(async () => {
  for (const end of ends) await end();
});

const asked = (changes: object = {}) => ({
  name: 'cloud',
  type: 'EXT_S3' as const,
  endpoint: there.dataUrl,
  region: 'us-east-1',
  username: there.owner.s3.access,
  password: there.owner.s3.secret,
  connectVia: 'outnet' as const,
  ...changes,
});

test('a remote endpoint is kept once it answered, with its secret sealed and shown', async () => {
  await here.client.call(destinations.create, asked());
  const { target } = await here.client.call(destinations.get, { 'target-ext-name': 'obsdst-00000001' });
  assert.deepEqual(
    { ...target, created_at: '', modified_at: '' },
    {
      id: 1,
      job_count: 0,
      state: 'Enabled',
      endpoint: there.dataUrl,
      access: there.owner.s3.access,
      secret: there.owner.s3.secret,
      region: 'us-east-1',
      network: 'outnet',
      type: 'EXT_S3',
      ext_name: 'obsdst-00000001',
      display_name: 'cloud',
      created_at: '',
      modified_at: '',
    },
  );
  const files = ['objects.db', 'objects.db-wal'].map((name) =>
    readFileSync(join(here.configuration.folder, name), 'latin1'),
  );
  assert.ok(!files.join().includes(there.owner.s3.secret));
  assert.equal((await here.client.refused(destinations.create, asked())).code, 10096, 'the name is taken');
});

test('a host without a scheme is tried encrypted, then in the clear', async () => {
  const endpoint = there.dataUrl.replace('http://', '');
  await here.client.call(destinations.create, asked({ name: 'by host', endpoint }));
  assert.deepEqual(endpointUrls('endpoint', 's3.example.org'), ['https://s3.example.org', 'http://s3.example.org']);
  assert.deepEqual(endpointUrls('endpoint', 'HTTPS://[2001:db8::1]:8443/'), ['https://[2001:db8::1]:8443']);
  for (const bad of ['', 'http://', 'ftp://x', 'http://user@host', 'http://host/path', 'a b', 'host:99999'])
    assert.throws(() => endpointUrls('endpoint', bad), /endpoint/, bad);
});

test('what does not answer, or answers no, is not kept, and the reason is reported', async () => {
  const count = async () => (await here.client.call(destinations.list, {})).count;
  const before = await count();
  const closed = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => closed.once('listening', resolve));
  const { port } = closed.address() as AddressInfo;
  await new Promise((resolve) => closed.close(resolve));
  const refusals = [
    [asked({ name: 'n1', endpoint: `127.0.0.1:${port}` }), 50012, /nothing listens there/],
    [asked({ name: 'n2', password: 'wrong' }), 50012, /refused the access key or its secret/],
    [asked({ name: 'n3', username: 'nobody' }), 50012, /InvalidAccessKeyId/],
    [asked({ name: 'n4', endpoint: '169.254.169.254' }), 13, /metadata addresses are refused/],
    [asked({ name: 'n5', endpoint: 'http://no-such-host.invalid' }), 50012, /name/],
    [asked({ name: 'n6', endpoint: undefined }), 7, /endpoint is required for EXT_S3/],
    [asked({ name: 'n7', type: 'OBJS_S3' }), 7, /endpoint_url is required for OBJS_S3/],
    [asked({ name: 'n8', endpoint: 'http://host/path' }), 7, /endpoint/],
  ] as const;
  for (const [request, code, message] of refusals) {
    const refused = await here.client.refused(destinations.create, request);
    assert.equal(refused.code, code, refused.message);
    assert.match(refused.message, message);
    assert.ok(!refused.message.includes(there.owner.s3.secret));
  }
  assert.equal(await count(), before);
});

test('a change is tested, too, and changes nothing when it fails', async () => {
  const name = await makeKnown(here, there, 'changing');
  const bad = { 'ext-name': name, type: 'OBJS_S3' as const, password: 'wrong', region_name: 'eu-1' };
  assert.equal((await here.client.refused(destinations.update, bad)).code, 50012);
  assert.equal((await here.client.call(destinations.get, { 'target-ext-name': name })).target.region, 'us-east-1');
  await here.client.call(destinations.update, {
    'ext-name': name,
    type: 'OBJS_S3',
    name: 'changed',
    connectVia: 'outnet',
  });
  const { target } = await here.client.call(destinations.get, { 'target-ext-name': name });
  assert.deepEqual([target.display_name, target.network, target.type], ['changed', 'outnet', 'OBJS_S3']);
  const unknown = await here.client.refused(destinations.update, { 'ext-name': 'obsdst-0000ffff', type: 'OBJS_S3' });
  assert.equal(unknown.code, 50009);
});

test('a change gives another type, region and access key, each tried at the endpoint first', async () => {
  const name = await makeKnown(here, there, 'renewed');
  const shown = async () => (await here.client.call(destinations.get, { 'target-ext-name': name })).target;
  const wanted = { 'ext-name': name, type: 'OBJS_S3' as const };
  const change = (changes: object) => here.client.call(destinations.update, { ...wanted, ...changes });
  const refuse = async (changes: object) =>
    assert.equal((await here.client.refused(destinations.update, { ...wanted, ...changes })).code, 50012);

  for (const field of ['region_name', 'region_name_text']) {
    const region = field.replaceAll('_', '-');
    await refuse({ [field]: region });
    await there.client.call(settings.setRegion, { region });
    await change({ [field]: region });
    assert.equal((await shown()).region, region);
  }

  const { s3 } = await there.user(there.owner.accountId, 'copier', 'objs_admin');
  await refuse({ username: s3.access });
  await change({ username: s3.access, password: s3.secret });
  const { access, secret } = await shown();
  assert.deepEqual([access, secret], [s3.access, s3.secret]);

  await change({ type: 'EXT_S3' });
  assert.equal((await shown()).type, 'EXT_S3');
  await there.client.call(settings.setRegion, { region: 'us-east-1' });
});

test('the name servers that are set are asked for names in the private domain alone', async (t) => {
  const remote = createServer((_, reply) => reply.end()).listen(0, 'localhost');
  await new Promise((resolve) => remote.once('listening', resolve));
  t.after(() => {
    remote.closeAllConnections();
    remote.close();
  });
  const { port } = remote.address() as AddressInfo;
  const tryOne = (name: string) => asked({ name, endpoint: `http://localhost:${port}` });
  // Nothing answers questions at this address.
  const servers = { custom_name_servers: here.configuration.management.host };
  await here.client.call(settings.setDnsServers, { ...servers, dns_lookup_domain: 'localhost' });
  assert.equal((await here.client.refused(destinations.create, tryOne('private'))).code, 50012);
  await here.client.call(settings.setDnsServers, { dns_lookup_domain: 'corp.example.org' });
  await here.client.call(destinations.create, tryOne('public'));
  await here.client.call(settings.setDnsServers, { dns_lookup_domain: 'localhost', custom_name_servers: '' });
  await here.client.call(destinations.create, tryOne('without servers'));
  await here.client.call(settings.setDnsServers, { ...servers, dns_lookup_domain: '' });
  await here.client.call(destinations.create, tryOne('without a domain'));
});

test('one that buckets are replicated to goes only by force, and only known ones can be named', async () => {
  const name = await makeKnown(here, there, 'used');
  const client = here.s3(here.owner);
  await client.call('PUT', '/replicated');
  assert.equal((await replicate(client, 'replicated', 'obsdst-0000ffff')).status, 400);
  assert.equal((await replicate(client, 'replicated', name)).status, 200);
  const { target } = await here.client.call(destinations.get, { 'target-ext-name': name });
  assert.equal(target.job_count, 1);
  const own = await here.client.call(destinations.list, { container_account: here.owner.accountId });
  assert.deepEqual(
    own.container_replication_targets.map(({ ext_name }) => ext_name),
    [name],
  );
  assert.equal((await here.client.call(destinations.list, { container_account: 'f'.repeat(32) })).count, 0);
  assert.equal((await here.client.refused(destinations.delete, { 'ext-name': name })).code, 50100);
  await here.client.call(destinations.delete, { 'ext-name': name, force: true });
  assert.equal((await here.client.refused(destinations.get, { 'target-ext-name': name })).code, 50009);
  assert.equal((await replicate(client, 'replicated', name)).status, 400, 'it is known no longer');
  client.close();
  const { messages: recorded } = await here.client.call(messages.list, {});
  assert.ok(recorded.some(({ msg_title }) => /^Remote endpoint used .* was removed/.test(msg_title)));
});

test('names in the private domain are asked of its own servers', async (t) => {
  const server = createSocket('udp4');
  const askedFor: string[] = [];
  server.on('message', (question, { port, address }) => {
    const { name, answer } = answerTo(question);
    askedFor.push(name);
    server.send(answer, port, address);
  });
  await new Promise<void>((resolve) => server.bind(0, '127.0.0.1', resolve));
  t.after(() => void server.close());
  const servers = [`127.0.0.1:${server.address().port}`];
  assert.equal(await remoteAddress('s3.corp.example', { servers, domain: 'corp.example' }), '127.0.0.9');
  assert.equal(await remoteAddress('localhost', { servers, domain: 'corp.example' }), '127.0.0.1');
  assert.equal(await remoteAddress('127.0.0.3', { servers, domain: 'corp.example' }), '127.0.0.3');
  assert.deepEqual(askedFor, ['s3.corp.example']);
  await assert.rejects(remoteAddress('metadata.corp.example', { servers, domain: 'corp.example' }), /refused/);
});

/** An answer of one A record: 127.0.0.9, or for `metadata…` an address that is forbidden. */
function answerTo(question: Buffer): { name: string; answer: Buffer } {
  const labels: string[] = [];
  let at = 12;
  for (let length = question[at] ?? 0; length > 0; length = question[at] ?? 0) {
    labels.push(question.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  const asked = question.subarray(12, at + 5);
  const address = labels[0] === 'metadata' ? [169, 254, 169, 254] : [127, 0, 0, 9];
  const head = Buffer.concat([question.subarray(0, 2), Buffer.from([0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])]);
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address]);
  return { name: labels.join('.'), answer: Buffer.concat([head, asked, record]) };
}
