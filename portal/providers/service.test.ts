import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { readBill } from '../billing/testing/read-bill.ts';
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

test('a provider that is created closed is shown to users once it is opened', async () => {
  const { id, name: called } = await newProvider({ enabled: false });
  assert.equal((await admin.client.providers.get({ id })).data.enabled, 'false');
  await refused(owner.client.providers.get({ id }), 404, /There is no provider/);
  await admin.client.providers.update({ id, name: called, enabled: true });
  assert.equal((await owner.client.providers.get({ id })).data.enabled, 'true');
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

test('a provider with arrays or VLANs is not removed; each refusal says what to do', async () => {
  const { id, key } = await newProvider();
  await portal.array(friend, { provider: key });
  await refused(admin.client.providers.delete({ id }), 409, /it has 1 arrays; delete them first/);
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

test('a removed provider and user keep their names on past bills, and the names are free', async () => {
  const provider = await newProvider();
  const username = name('seen-on-bills');
  const password = 'correct horse battery';
  const { data: user } = await admin.client.users.create({ username, password, auto_approved: true });
  const array = await portal.array(portal.person(username, password), { provider: provider.key });
  await admin.client.arrays.delete({ array_id: array.id });
  await portal.until(array.id, 'deleted');
  await admin.client.providers.update({ id: provider.id, name: provider.name, enabled: false });
  await admin.client.providers.delete({ id: provider.id });
  await admin.client.users.delete({ id: user.id });
  await refused(admin.client.providers.get({ id: provider.id }), 404, /There is no provider/);
  assert.ok((await admin.client.providers.list()).data.every((one) => one.id !== String(provider.id)));
  assert.ok((await admin.client.tenants.list()).data.every((one) => one.provider_id !== provider.id));
  const { data: deleted } = await admin.client.arrays.get({ array_id: array.id });
  assert.deepEqual(deleted.provider, { name: provider.name, key: provider.key });
  const minute = (ms: number) => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
  const bill = async () => {
    const span = { start_datetime: minute(Date.now() - 3_600_000), end_datetime: minute(Date.now() + 60_000) };
    const { bytes } = await admin.client.billing.download({ ...span, user_id: String(user.id) });
    return readBill(bytes).arrays.map((line) => [line['array'], line['user'], line['provider']]);
  };
  assert.deepEqual(await bill(), [[array.name, username, provider.name]]);
  const again = { name: provider.name, key: provider.key, cloud_id: 1 };
  const { data: next } = await admin.client.providers.create(again);
  assert.notEqual(next.provider_id, provider.id);
  await admin.client.providers.update({ id: next.provider_id, name: name('renamed') });
  assert.deepEqual(await bill(), [[array.name, username, provider.name]]);
});

test('a hidden provider is not shown to users and takes no orders of theirs; their arrays at it run on', async () => {
  const { id, key, name: called } = await newProvider();
  const { id: arrayId } = await portal.array(friend, { provider: key });
  await admin.client.providers.update({ id, name: called, hidden: true });
  assert.equal((await admin.client.providers.get({ id })).data.hidden, 'true');
  await refused(owner.client.providers.get({ id }), 404, /There is no provider/);
  assert.ok((await owner.client.providers.list()).data.every((one) => one.id !== String(id)));
  assert.equal((await owner.client.pricing.get()).data.io_engines[`provider${id}`], undefined);
  const order = { name: name('tank'), provider: key, engine: 'engine_small', drives: { SSD_10GB: 2 } };
  await refused(friend.client.arrays.create(order), 400, /not a provider you can order from/);
  assert.equal((await friend.client.arrays.get({ array_id: arrayId })).data.provider.key, key);
  await admin.client.arrays.create(order);
  await admin.client.providers.update({ id, name: called, hidden: false });
  assert.equal((await owner.client.providers.get({ id })).data.hidden, 'false');
  const { data } = await admin.client.providers.create({ name: name('s'), key: name('s'), cloud_id: 1, hidden: true });
  await refused(owner.client.providers.get({ id: data.provider_id }), 404, /There is no provider/);
});

test('a provider joins a group, stays in it when something else is changed, and leaves it', async () => {
  const { data: group } = await admin.client.providerGroups.create({ name: name('group') });
  const provider_group_id = String(group.provider_group_id);
  const { id, name: called } = await newProvider();
  const groupNow = async () => (await admin.client.providers.get({ id })).data.provider_group_id;
  await admin.client.providers.update({ id, name: called, provider_group_id });
  assert.equal(await groupNow(), provider_group_id);
  await admin.client.providers.update({ id, name: called, hidden: true });
  assert.equal(await groupNow(), provider_group_id);
  const remove = () => admin.client.providerGroups.delete({ id: group.provider_group_id });
  await refused(remove(), 409, /1 provider is in it/);
  const unknown = { id, name: 'not stored', provider_group_id: '99999' };
  await refused(admin.client.providers.update(unknown), 404, /There is no provider group 99999/);
  await refused(
    admin.client.providers.update({ ...unknown, provider_group_id: 'europe' }),
    400,
    /provider_group_id must be/,
  );
  await admin.client.providers.update({ id, name: called, provider_group_id: 'null' });
  assert.equal(await groupNow(), 'null');
  const { data } = await admin.client.providers.create({
    name: name('s'),
    key: name('s'),
    cloud_id: 1,
    provider_group_id,
  });
  assert.equal((await admin.client.providers.get({ id: data.provider_id })).data.provider_group_id, provider_group_id);
  await admin.client.providers.delete({ id: data.provider_id });
  await remove();
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
