import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { refused, startTestPortal } from '../testing/portal.ts';

/** Goal: what a caller asks for at the edge is what the network, the VLAN or the array's address is. */
const portal = await startTestPortal();
after(() => portal.stop());

const { admin, friend, otherUser, name } = portal;
const { virtualNetworks } = friend.client;

/** Another provider of the cloud, with the friend's tenant at it. */
async function elsewhere() {
  const key = name('provider');
  const { provider_id } = (await admin.client.providers.create({ name: key, key, cloud_id: 1 })).data;
  const tenant = (await friend.client.tenants.list()).data.find((one) => one.provider_id === provider_id)!;
  return { provider_id, tenant_id: tenant.id, key };
}

const freeVlan = async (provider_id: number) =>
  (await admin.client.vlans.listAvailable({ provider_id })).data.at(-1) as number;

const vlansOf = async (provider_id: number) =>
  (await admin.client.vlans.list()).data.filter((one) => one.provider_id === provider_id);

const interfaceOf = async (array_id: number) =>
  (await friend.client.arrays.get({ array_id })).data.virtual_network_interfaces[0]!;

test('a network belongs to the tenant and the provider that are named, and is on the VLAN that is named', async () => {
  const { provider_id, tenant_id } = await elsewhere();
  const vlan_id = await freeVlan(provider_id);
  await admin.client.vlans.allocate({ provider_id, vlan: vlan_id });
  const { data } = await admin.client.virtualNetworks.create({ name: 'back', provider_id, tenant_id, vlan_id });
  assert.deepEqual(data, { id: data.id, name: 'back', provider_id, tenant_id, vlan_id });
  const own = { name: 'front', provider_id, tenant_id: await portal.tenantOf(otherUser) };
  await refused(virtualNetworks.create(own), 404, /There is no tenant/);
});

test('arrays get addresses of the ranges that are named, and the gateway of their zone', async () => {
  const network = await portal.network(friend, {
    cidr: '10.200.0.0/24',
    gateway: '10.200.0.1',
    gateway_zone_1: '10.200.0.2',
    allocatable_ip_ranges: '10.200.0.10-10.200.0.19,10.200.0.100-10.200.0.109',
    ipv6_cidr: 'fd00:c8::/64',
    ipv6_gateway: 'fd00:c8::1',
    ipv6_gateway_zone_1: 'fd00:c8::2',
    ipv6_allocatable_ip_ranges: 'fd00:c8::10-fd00:c8::1f,fd00:c8::100-fd00:c8::10f',
  });
  for (const [allocation_zone, addresses] of [
    ['zone_0', ['10.200.0.10', '10.200.0.1', 'fd00:c8::10', 'fd00:c8::1']],
    ['zone_1', ['10.200.0.100', '10.200.0.2', 'fd00:c8::100', 'fd00:c8::2']],
  ] as const) {
    const { id } = await portal.array(friend, { allocation_zone, custom_network_id: network });
    const { ip_address, gateway, ipv6_address, ipv6_gateway } = await interfaceOf(id);
    assert.deepEqual([ip_address, gateway, ipv6_address, ipv6_gateway], addresses, allocation_zone);
  }
});

test('a new array joins the network that is the default of its tenant', async () => {
  await portal.network(friend);
  const main = await portal.network(friend, { default_for_tenant: true });
  await portal.network(friend);
  const { id } = await portal.array(friend);
  assert.equal((await interfaceOf(id)).virtual_network_id, main);
});

test("a range that another network has is accepted by an administrator's force alone", async () => {
  const network = { name: 'first', provider_id: 1, tenant_id: await portal.tenantOf(friend), cidr: '10.201.0.0/24' };
  await virtualNetworks.create(network);
  const again = { ...network, name: 'second' };
  await refused(admin.client.virtualNetworks.create(again), 409, /overlaps/);
  await refused(virtualNetworks.create({ ...again, force: true }), 400, /force is for administrators/);
  const { data } = await admin.client.virtualNetworks.create({ ...again, force: true });
  assert.equal(data.name, 'second');
});

test('the network that is named is deleted, if its provider and VLAN are named as well', async () => {
  const [id, other] = [await portal.network(friend), await portal.network(friend)];
  const own = async () => (await virtualNetworks.list()).data.filter((one) => [id, other].includes(one.id));
  const { provider_id, vlan_id: vlan } = (await own()).find((one) => one.id === id)!;
  await refused(virtualNetworks.delete({ id, provider_id: provider_id + 1, vlan }), 400, /provider_id must be/);
  await refused(virtualNetworks.delete({ id, provider_id, vlan: vlan + 1 }), 400, /vlan must be/);
  await virtualNetworks.delete({ id, provider_id, vlan });
  assert.deepEqual(
    (await own()).map((one) => one.id),
    [other],
  );
});

test('a VLAN is given to the provider that is named, is its default, and is taken back', async () => {
  const { provider_id } = await elsewhere();
  const vlan = await freeVlan(provider_id);
  const { vlans } = admin.client;
  await vlans.allocate({ provider_id, vlan });
  await vlans.allocate({ provider_id, vlan: await freeVlan(provider_id) });
  assert.ok(!(await vlans.listAvailable({ provider_id })).data.includes(vlan));
  assert.equal((await vlansOf(provider_id)).length, 2);
  await vlans.setDefault({ provider_id, vlan });
  const defaults = (await vlansOf(provider_id)).filter((one) => one.default);
  assert.deepEqual(
    defaults.map((one) => one.vlan_id),
    [vlan],
  );
  await vlans.deallocate({ provider_id, vlan });
  assert.ok((await vlans.listAvailable({ provider_id })).data.includes(vlan));
  assert.equal((await vlansOf(provider_id)).length, 1);
});
