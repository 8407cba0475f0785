import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allRecords, networkFixture } from '../fixture.ts';
import { compatibleNetworks, networkForOrder, type OrderedNetwork } from './joining.ts';

test("the networks an array could join are its owner's, with addresses, that it is not in", async (context) => {
  const { ann, bob, local, add, fixture, cloudId, interfaces, write } = await networkFixture(context);
  const east = await fixture.provider('east', cloudId);
  const front = await add(ann, { name: 'front', cidr: '10.0.0.0/24', gateway: '10.0.0.1' });
  const back = await add(ann, { name: 'back', ipv6_cidr: 'fd00::/64' });
  await add(ann, { name: 'bare' });
  await add(ann, { provider_id: east, cidr: '10.0.2.0/24' });
  await add(bob, { cidr: '10.0.3.0/24' });
  const tank = { id: await fixture.array(ann, local), ownerId: ann.userId, providerId: local };
  const compatible = (page = allRecords) => fixture.tools.store.read((db) => compatibleNetworks(db, tank, page));

  const frontView = {
    name: 'front',
    vlan: front.vlan_id,
    custom_network_id: front.id,
    netmask: '255.255.255.0',
    cidr: '10.0.0.0/24',
    gateway: '10.0.0.1',
  };
  const backView = {
    name: 'back',
    vlan: back.vlan_id,
    custom_network_id: back.id,
    netmask: 'ffff:ffff:ffff:ffff::',
    cidr: 'fd00::/64',
    gateway: null,
  };
  assert.deepEqual(compatible(), { interfaces: [frontView, backView], total: 2 });
  assert.deepEqual(compatible({ start: 1, limit: 1 }), { interfaces: [backView], total: 2 });
  await write((tx) => interfaces.reserveAddress(tx, tank.id, front.id));
  assert.deepEqual(compatible(), { interfaces: [backView], total: 1 });
});

async function orderFixture(...[context]: Parameters<typeof networkFixture>) {
  const parts = await networkFixture(context);
  const { fixture, ann, local } = parts;
  const order = (wish: Partial<OrderedNetwork> = {}) =>
    fixture.tools.store.read((db) => networkForOrder(db, { ownerId: ann.userId, providerId: local, ...wish }));
  return { ...parts, order };
}

test('an order without a wish joins the only network, or the default of several', async (context) => {
  const { ann, bob, add, order } = await orderFixture(context);
  await add(bob, { cidr: '10.0.9.0/24', default_for_tenant: true });
  await add(ann, { name: 'bare', default_for_tenant: true });
  assert.equal(order(), undefined, 'a network without addresses is not joined by itself');
  const front = await add(ann, { cidr: '10.0.0.0/24' });
  assert.equal(order(), front.id);
  const back = await add(ann, { cidr: '10.0.1.0/24' });
  assert.equal(order(), undefined, 'of two equal ones neither');
  const main = await add(ann, { cidr: '10.0.2.0/24', default_for_tenant: true });
  assert.equal(order(), main.id);
  assert.notEqual(back.id, main.id);
});

test("a network that is named must be the owner's at the provider", async (context) => {
  const { ann, bob, add, order, fixture, cloudId } = await orderFixture(context);
  const east = await fixture.provider('east', cloudId);
  const front = await add(ann, { cidr: '10.0.0.0/24' });
  const foreign = await add(bob, { cidr: '10.0.1.0/24' });
  const elsewhere = await add(ann, { cidr: '10.0.2.0/24', provider_id: east });
  const bare = await add(ann, { name: 'bare' });
  assert.equal(order({ customNetworkId: front.id }), front.id);
  assert.equal(order({ customNetworkId: front.id, vlanId: front.vlan_id }), front.id);
  for (const id of [foreign.id, elsewhere.id, 99])
    assert.throws(() => order({ customNetworkId: id }), {
      message: "custom_network_id must be a virtual network of the array's owner at the provider.",
    });
  assert.throws(() => order({ customNetworkId: front.id, vlanId: 1 }), {
    message: `vlan_id must be ${front.vlan_id}, the VLAN of virtual network network-1.`,
  });
  assert.throws(() => order({ customNetworkId: bare.id }), {
    message: 'custom_network_id names virtual network bare, which has no cidr and so no address to give.',
  });
});

test("a VLAN that is named stands for the owner's network on it", async (context) => {
  const { ann, bob, admin, add, order } = await orderFixture(context);
  const front = await add(ann, { cidr: '10.0.0.0/24' });
  const vlanId = front.vlan_id;
  await add(bob, { cidr: '10.0.5.0/24', vlan_id: vlanId }, admin);
  const foreign = await add(bob);
  assert.equal(order({ vlanId }), front.id);
  for (const other of [foreign.vlan_id, 1009])
    assert.throws(() => order({ vlanId: other }), {
      message: "vlan_id must be a VLAN that a virtual network of the array's owner is on.",
    });
  await add(ann, { cidr: '10.0.1.0/24', vlan_id: vlanId }, admin);
  assert.throws(() => order({ vlanId }), {
    message: 'vlan_id has several virtual networks; name one with custom_network_id.',
  });
  const main = await add(ann, { cidr: '10.0.2.0/24', vlan_id: vlanId, default_for_tenant: true }, admin);
  assert.equal(order({ vlanId }), main.id);
});
