import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { refused, startTestPortal } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner, friend, name } = portal;

async function newProvider(changes: { enabled?: boolean } = {}) {
  const key = name('seller');
  const { data } = await admin.client.providers.create({ name: `${key} Ltd`, key, cloud_id: 1, ...changes });
  return { id: data.provider_id, key, name: `${key} Ltd` };
}

test('a new provider is open, seen by users, and sells at the prices of its cloud', async () => {
  const { id, key } = await newProvider();
  const { data } = await owner.client.providers.get({ id });
  assert.deepEqual([data.key, data.enabled, data.hidden, data.cloud_id], [key, 'true', 'false', '1']);
  const prices = (await owner.client.pricing.get()).data.io_engines[`provider${id}`];
  assert.equal(prices?.data['engine_small']?.value, '0.10');
});

test('every user has a tenant with a new provider', async () => {
  const { id } = await newProvider();
  const { data } = await owner.client.tenants.list();
  assert.ok(data.some((tenant) => tenant.provider_id === id && tenant.user_id === owner.id));
});

test('a provider needs a cloud that exists', async () => {
  const provider = { name: name('seller'), key: name('seller'), cloud_id: 99 };
  await refused(admin.client.providers.create(provider), 404, /There is no cloud 99/);
});

test('the name and the key of a provider are its own', async () => {
  const { id, key, name: taken } = await newProvider();
  const another = { name: name('seller'), key: name('seller'), cloud_id: 1 };
  await refused(admin.client.providers.create({ ...another, key }), 409, new RegExp(`The name ${key} is taken`));
  await refused(admin.client.providers.create({ ...another, name: taken }), 409, /is taken/);
  const other = await newProvider();
  await refused(admin.client.providers.update({ id: other.id, name: taken }), 409, /is taken/);
  await admin.client.providers.update({ id, name: taken });
});

test('a provider that is closed is invisible to users and accepts no order', async () => {
  const { id, key, name: called } = await newProvider();
  await admin.client.providers.update({ id, name: called, enabled: false });
  assert.equal((await admin.client.providers.get({ id })).data.enabled, 'false');
  await refused(owner.client.providers.get({ id }), 404, /There is no provider/);
  assert.ok((await owner.client.providers.list()).data.every((one) => one.id !== String(id)));
  const order = { name: name('tank'), moderate: false, provider: key, engine: 'engine_small', drives: { SSD_10GB: 2 } };
  await refused(owner.client.arrays.create(order), 400, /not a provider you can order from/);
  await refused(admin.client.arrays.create(order), 400, /is closed/);
  await admin.client.providers.update({ id, name: 'renamed', enabled: true });
  assert.deepEqual((await owner.client.providers.get({ id })).data.name, 'renamed');
});

test('a renamed provider is renamed in the records of its arrays', async () => {
  const { id, key } = await newProvider();
  const array = await portal.array(friend, { provider: key });
  assert.equal((await friend.client.arrays.get({ array_id: array.id })).data.provider.name, `${key} Ltd`);
  const renamed = name('renamed');
  await admin.client.providers.update({ id, name: renamed });
  assert.deepEqual((await friend.client.arrays.get({ array_id: array.id })).data.provider, { name: renamed, key });
});

test('a provider with arrays, networks or VLANs is not removed; each refusal says what to do', async () => {
  const { id, key } = await newProvider();
  const array = await portal.array(friend, { provider: key });
  await refused(admin.client.providers.delete({ id }), 409, /it has 1 arrays; delete them first/);
  await friend.client.arrays.delete({ array_id: array.id });
  await portal.until(array.id, 'deleted');
  await refused(admin.client.providers.delete({ id }), 409, /1 deleted arrays are on its bills; set enabled=false/);

  const other = await newProvider();
  const { data } = await admin.client.vlans.listAvailable({ provider_id: other.id });
  const vlan = { provider_id: other.id, vlan: data[0]! };
  await admin.client.vlans.allocate(vlan);
  await refused(admin.client.providers.delete({ id: other.id }), 409, /it has 1 VLANs; deallocate them first/);
  await admin.client.vlans.deallocate(vlan);
  await admin.client.providers.delete({ id: other.id });
  await refused(admin.client.providers.get({ id: other.id }), 404, /There is no provider/);
  assert.ok(!(await admin.client.tenants.list()).data.some((tenant) => tenant.provider_id === other.id));
});

test('a provider with a network is not removed', async () => {
  const { id } = await newProvider();
  const tenant = (await owner.client.tenants.list()).data.find((one) => one.provider_id === id);
  await portal.network(owner, { provider_id: id, tenant_id: tenant!.id });
  await refused(admin.client.providers.delete({ id }), 409, /it has 1 virtual networks; delete them first/);
});

test('two providers of one key at the same time make one provider', async () => {
  const key = name('seller');
  const create = (called: string) => admin.client.providers.create({ name: called, key, cloud_id: 1 });
  const results = await Promise.allSettled([create(name()), create(name()), create(name())]);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
});
