import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { until } from '../../../testing/waiting.ts';
import { startFakeObjects } from '../../testing/fake-objects.ts';
import { readBill } from '../../billing/testing/read-bill.ts';
import type { ArrayId } from '../../ids.ts';
import { refused, startTestPortal, type Person } from '../../testing/portal.ts';
import { servedPlace } from './place.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, friend, otherUser, cloud } = portal;
const { publicObjects } = friend.client;
const objects = await startFakeObjects();
portal.onStop(() => objects.stop());

const service = () => ({
  account_name: portal.name('public'),
  admin_username: 'carol',
  admin_password: 'correct horse battery',
  ip: '127.0.0.1:8080',
  host: 'objects.example.org',
});

/** An object storage array whose management answers. */
async function bucket(person: Person = friend): Promise<{ id: number; name: string }> {
  cloud.managementUrl = objects.url;
  const array = await portal.objectArray(person);
  cloud.managementUrl = undefined;
  return array;
}

const accountAt = (name: string) => [...objects.accounts.values()].find((one) => one.name === name);
const shown = async (id: number) => (await friend.client.arrays.get({ array_id: id })).data.public_objs;
const nothingOf = async (id: number, account: string) => {
  assert.equal(accountAt(account), undefined);
  assert.equal(await shown(id), null);
  const { name } = (await friend.client.arrays.get({ array_id: id })).data;
  assert.equal(cloud.specOf(name).public_service ?? null, null);
};

test('a public service makes its account with its administrator, and is served at its address and host', async () => {
  const { id, name } = await bucket();
  await refused(publicObjects.get({ array_id: id }), 404, /There is no public object service of array bucket-\d+/);
  const input = service();
  const { data, message } = await publicObjects.create({ array_id: id, ...input, host: 'Objects.Example.org' });
  assert.match(message, /was created/);
  const { id: number, ...rest } = data;
  assert.deepEqual(rest, {
    array_id: id,
    account_name: input.account_name,
    username: 'carol',
    ip: '127.0.0.1:8080',
    host: 'objects.example.org',
    auto_approve: false,
    price: '0.04',
  });
  const { username, password } = accountAt(input.account_name)?.admin ?? {};
  assert.deepEqual([username, password], ['carol', input.admin_password]);
  assert.deepEqual(cloud.specOf(name).public_service, {
    address: '127.0.0.1',
    port: 8080,
    host: 'objects.example.org',
  });
  assert.deepEqual(await shown(id), data);
  assert.equal((await publicObjects.get({ array_id: id })).data.id, number);
});

test('deleting a public service takes its account and its address away', async () => {
  const { id } = await bucket();
  const input = service();
  await publicObjects.create({ array_id: id, ...input });
  await publicObjects.delete({ array_id: id });
  await nothingOf(id, input.account_name);
  await refused(publicObjects.delete({ array_id: id }), 404, /There is no public object service/);
  await refused(publicObjects.update({ array_id: id, host: 'x.org' }), 404, /There is no public object service/);
});

test('a new address, host and password hold at the array; other names are refused', async () => {
  const { id, name } = await bucket();
  const input = service();
  await publicObjects.create({ array_id: id, ...input });
  const changes = {
    ip: '127.0.0.1:9090',
    host: 'new.example.org',
    admin_password: 'another horse',
    auto_approve: true,
  };
  const { data } = await publicObjects.update({ array_id: id, ...changes, account_name: input.account_name });
  assert.deepEqual([data.ip, data.host, data.auto_approve], ['127.0.0.1:9090', 'new.example.org', true]);
  assert.deepEqual(cloud.specOf(name).public_service, { address: '127.0.0.1', port: 9090, host: 'new.example.org' });
  assert.equal(accountAt(input.account_name)?.admin?.password, 'another horse');
  for (const other of [{ account_name: 'renamed' }, { admin_username: 'dave' }]) {
    const call = publicObjects.update({ array_id: id, ...other, host: 'third.example.org' });
    await refused(call, 400, new RegExp(`^${Object.keys(other)[0]} cannot be changed from`));
  }
  assert.deepEqual((await publicObjects.get({ array_id: id })).data, data);
});

test('a password that was changed at the array is not overwritten, and everything stays as it was', async () => {
  const { id, name } = await bucket();
  const input = service();
  const { data } = await publicObjects.create({ array_id: id, ...input });
  accountAt(input.account_name)!.admin!.password = 'set at the array';
  const call = publicObjects.update({ array_id: id, admin_password: 'another horse', ip: '127.0.0.1:9091' });
  await refused(call, 409, /The password of carol was changed at array bucket-\d+ itself/);
  assert.equal(accountAt(input.account_name)?.admin?.password, 'set at the array');
  assert.equal(cloud.specOf(name).public_service?.port, 8080);
  assert.deepEqual((await publicObjects.get({ array_id: id })).data, data);
});

test('an address at which the array cannot serve leaves nothing of the service', async () => {
  const { id } = await bucket();
  const input = service();
  cloud.serviceProblem = 'Port 8080 is taken by another program.';
  await refused(publicObjects.create({ array_id: id, ...input }), 409, /^Port 8080 is taken by another program\.$/);
  cloud.serviceProblem = null;
  await nothingOf(id, input.account_name);
});

test('an account that was opened at the array itself is never taken over', async () => {
  const { id } = await bucket();
  const input = service();
  objects.accounts.set('e'.repeat(32), { name: input.account_name });
  await refused(publicObjects.create({ array_id: id, ...input }), 409, /has an account public-\d+ already/);
  assert.ok(accountAt(input.account_name));
  assert.equal(await shown(id), null);
});

for (const step of ['create', 'user', 'password'] as const) {
  test(`a public service is opened once and whole when the portal is cut off after it asked for ${step}`, async () => {
    const { id } = await bucket();
    const input = service();
    objects.losesAnswerTo = step;
    await publicObjects.create({ array_id: id, ...input });
    const made = [...objects.accounts.values()].filter((one) => one.name === input.account_name);
    assert.deepEqual(
      made.map(({ admin: one }) => [one?.username, one?.password]),
      [['carol', input.admin_password]],
    );
  });
}

test('a service that an older version had on record, without an account, is served nowhere', async () => {
  const { id } = await bucket();
  await publicObjects.create({ array_id: id, ...service() });
  const place = () => portal.store.read((db) => servedPlace(db, id as ArrayId));
  assert.equal(place()?.port, 8080);
  await portal.store.write((tx) => tx.run('UPDATE public_services SET remote_id = NULL WHERE array_id = :id', { id }));
  assert.equal(place(), null);
});

test('an array has one public service', async () => {
  const { id } = await bucket();
  await publicObjects.create({ array_id: id, ...service() });
  const again = publicObjects.create({ array_id: id, ...service(), host: 'other.example.org' });
  await refused(again, 409, /is there already, as objects\.example\.org/);
});

test('a public service is for object storage that is up', async () => {
  const block = await portal.array(friend);
  await refused(publicObjects.create({ array_id: block.id, ...service() }), 409, /is not an object storage array/);
  const { id } = await bucket();
  await friend.client.arrays.hibernate({ array_id: id });
  await portal.until(id, 'hibernated');
  await refused(publicObjects.create({ array_id: id, ...service() }), 409, /is hibernated; .* needs it to be created/);
});

test('the address must be one of the array, with a port of its own', async () => {
  const { id } = await bucket();
  const refusedIp = async (ip: string, problem: RegExp) => {
    const { problems } = await refused(publicObjects.create({ array_id: id, ...service(), ip }), 400, problem);
    assert.deepEqual(
      problems.map(({ field }) => field),
      ['ip'],
    );
  };
  for (const ip of ['127.0.0.1', 'objects.example.org:80', '300.1.1.1:80', '127.0.0.1:0', '127.0.0.1:99999', ':80'])
    await refusedIp(ip, /ip /);
  for (const ip of ['192.0.2.7:8080', '0.0.0.0:8080', '169.254.169.254:80', '[::1]:443'])
    await refusedIp(ip, /must be at an address of array bucket-\d+: it has 127\.0\.0\.1/);
  await refusedIp(`127.0.0.1:${new URL(objects.url).port}`, /has the port of the array's management/);
  await friend.client.arrays.addPublicIp({ array_id: id });
  const { name } = (await friend.client.arrays.get({ array_id: id })).data;
  const address = [...cloud.hosted.values()].find(({ spec }) => spec.name === name)?.hosted.public_ip;
  const { data } = await publicObjects.create({ array_id: id, ...service(), ip: `${address}:443` });
  assert.equal(data.ip, `${address}:443`);
});

test('the public service of another array owner is not found', async () => {
  const { id } = await bucket();
  await publicObjects.create({ array_id: id, ...service() });
  await refused(otherUser.client.publicObjects.get({ array_id: id }), 404, new RegExp(`^There is no array ${id}\\.$`));
  await refused(otherUser.client.publicObjects.delete({ array_id: id }), 404, /There is no array/);
});

test('no reply carries the password of the public service', async () => {
  const { id } = await bucket();
  const path = `/api/arrays/${id}/public_objs`;
  const made = await portal.send(friend, { method: 'POST', path, body: service() });
  const read = await portal.send(friend, { method: 'GET', path });
  for (const { text } of [made, read]) assert.doesNotMatch(text, /password|correct horse/);
});

test('the price is that of the provider, in the record and on the bill with the proxies', async () => {
  const { id, name } = await bucket();
  await friend.client.arrays.addProxyController({ array_id: id, allocation_zone_id: 0 });
  await publicObjects.create({ array_id: id, ...service() });
  const file = Buffer.from('kind,key,hourly_price_usd\npublic_objs,public_objs,0.5\nproxy,proxy,0.25\n');
  const form = new FormData();
  form.set('provider_ids', '1');
  form.set('file', new Blob([file]), 'prices.csv');
  const sent = await fetch(`${portal.url}/api/pricing`, {
    method: 'POST',
    headers: { 'x-token': admin.token },
    body: form,
  });
  assert.equal(sent.status, 200, await sent.text());
  assert.equal((await shown(id))?.price, '0.5');
  const { bytes } = await admin.client.billing.download({
    start_datetime: new Date(Date.now() - 3_600_000).toISOString().slice(0, 16).replace('T', ' '),
    end_datetime: new Date(Date.now() + 3_600_000).toISOString().slice(0, 16).replace('T', ' '),
  });
  const items = readBill(bytes).items.filter((line) => line['array'] === name);
  const priced = (item: string) => items.filter((line) => line['item'] === item).map((line) => line['unit_price_usd']);
  assert.deepEqual(priced('public_objs').at(-1), '0.5');
  assert.deepEqual(priced('proxy').at(-1), '0.25');
});

const asked = (person: Person, arrayId: number) => ({
  array_id: arrayId,
  object_storage_account_name: portal.name('account'),
  object_storage_admin_username: 'dana',
  object_storage_admin_password: 'correct horse battery',
  user_id: person.id,
});

test('users ask for accounts on a public array; auto_approve opens them at once, else an administrator decides', async () => {
  const { id } = await bucket();
  const { objectAccounts } = otherUser.client;
  const early = objectAccounts.create(asked(otherUser, id));
  await refused(early, 404, new RegExp(`^There is no array ${id}\\.$`));
  await publicObjects.create({ array_id: id, ...service() });
  const { data: waiting } = await objectAccounts.create(asked(otherUser, id));
  assert.equal(waiting.status, 'waiting_for_approval');
  await refused(objectAccounts.create(asked(friend, id)), 404, /There is no user/);
  await publicObjects.update({ array_id: id, auto_approve: true });
  const { data: opened } = await objectAccounts.create(asked(otherUser, id));
  assert.equal(opened.status, 'created');
  assert.ok(accountAt(opened.account_name));
  const { data: moderated } = await objectAccounts.create({ ...asked(otherUser, id), moderate: true });
  assert.equal(moderated.status, 'waiting_for_approval');
});

test('a public service that is created with auto_approve opens accounts at once from the start', async () => {
  const { id } = await bucket();
  const { data } = await publicObjects.create({ array_id: id, ...service(), auto_approve: true });
  assert.equal(data.auto_approve, true);
  const { data: opened } = await otherUser.client.objectAccounts.create(asked(otherUser, id));
  assert.equal(opened.status, 'created');
});

test('sign-ups at an array are approved by the portal where the public service says so, and only there', async () => {
  const { id, name } = await bucket();
  objects.accounts.set('1'.repeat(32), { name: 'taken' });
  objects.signUps.set(1, { account: 'webhosting', state: 'pending' });
  objects.signUps.set(2, { account: 'taken', state: 'pending' });
  objects.signUps.set(3, { account: 'shop', state: 'pending' });
  const states = () => [...objects.signUps.values()].map(({ state }) => state);
  // The same management answers for the other arrays of this file.
  await portal.store.write((tx) => tx.run('UPDATE public_services SET auto_approve = 0'));
  await publicObjects.create({ array_id: id, ...service() });
  await portal.services.signUps.poll();
  assert.deepEqual(states(), ['pending', 'pending', 'pending']);
  await publicObjects.update({ array_id: id, auto_approve: true });
  await portal.services.signUps.poll();
  assert.deepEqual(states(), ['approved', 'denied', 'approved']);
  const { data } = await portal.admin.client.events.list();
  const recorded = data.filter(({ msg_title: title }) => title.includes(`at array ${name} and approved`));
  assert.equal(recorded.length, 2);
  await publicObjects.delete({ array_id: id });
  objects.signUps.set(4, { account: 'late', state: 'pending' });
  await portal.services.signUps.poll();
  assert.equal(objects.signUps.get(4)?.state, 'pending');
});

test('the address a public service is at is kept in one spelling, and cannot be taken away from under it', async () => {
  const { id, name } = await bucket();
  await friend.client.arrays.addPublicIp({ array_id: id });
  const input = service();
  await publicObjects.create({ array_id: id, ...input, ip: '[::ffff:127.0.0.1]:8080' });
  assert.equal((await shown(id))?.ip, '127.0.0.1:8080');
  assert.equal(cloud.specOf(name).public_service?.address, '127.0.0.1');
  await friend.client.arrays.removePublicIp({ array_id: id });
  const { message } = await friend.client.arrays.addPublicIp({ array_id: id });
  const address = /The address is (.+)\.$/.exec(message)?.[1] ?? '';
  await publicObjects.update({ array_id: id, ip: `${address}:8080` });
  await refused(
    friend.client.arrays.removePublicIp({ array_id: id }),
    409,
    /public object service of array bucket-\d+ is at .+; move it to another address or delete it first/,
  );
  await publicObjects.delete({ array_id: id });
  await friend.client.arrays.removePublicIp({ array_id: id });
});

test('a change that fails is undone at the array, too: the service is served where its record says', async () => {
  const { id, name } = await bucket();
  await publicObjects.create({ array_id: id, ...service() });
  cloud.serviceProblem = 'the port is taken';
  await refused(publicObjects.update({ array_id: id, ip: '127.0.0.1:9090' }), 409, /the port is taken/);
  cloud.serviceProblem = null;
  const titles = async () => (await admin.client.events.list()).data.map((event) => event.msg_title);
  await until(async () =>
    (await titles()).some((title) => title.includes(`array ${name} is`) && title.includes('served at 127.0.0.1:8080')),
  );
  assert.equal(cloud.specOf(name).public_service?.port, 8080);
  assert.equal((await shown(id))?.ip, '127.0.0.1:8080');
});
