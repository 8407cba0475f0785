import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { NETWORKS_PER_USER } from '../settings/networks-per-user.ts';
import { writeSetting } from '../settings/repository.ts';
import { allRecords, networkFixture } from './fixture.ts';

test('a network is created and listed for its owner and the administrator only', async (context) => {
  const { networks, ann, bob, admin, local, fixture, add } = await networkFixture(context);
  const network = await add(ann, { name: 'storage', cidr: '10.20.0.0/24', gateway: '10.20.0.1' });
  assert.deepEqual(network, {
    id: 1,
    vlan_id: 1000,
    tenant_id: fixture.tenantOf(ann, local),
    provider_id: local,
    name: 'storage',
  });
  assert.deepEqual(networks.list(ann, allRecords), { networks: [network], total: 1 });
  assert.deepEqual(networks.list(admin, allRecords), { networks: [network], total: 1 });
  assert.deepEqual(networks.list(bob, allRecords), { networks: [], total: 0 });
  assert.deepEqual(fixture.titles(), [
    'VLAN 1000 was given to provider local.',
    'Virtual network storage was added on VLAN 1000.',
  ]);
});

test('a user adds no network for the tenant of another; an administrator does', async (context) => {
  const { ann, bob, admin, add, networks } = await networkFixture(context);
  await assert.rejects(add(ann, {}, bob), { entry: 'not_found' });
  const { id } = await add(ann, {}, admin);
  assert.equal(networks.list(ann, allRecords).networks[0]?.id, id);
});

test('provider and tenant must exist and belong together', async (context) => {
  const { ann, add, fixture, cloudId, local } = await networkFixture(context);
  const east = await fixture.provider('east', cloudId);
  const tenant = fixture.tenantOf(ann, local);
  await assert.rejects(add(ann, { provider_id: east, tenant_id: tenant }), {
    message: `There is no tenant ${tenant} at provider east.`,
  });
  await assert.rejects(add(ann, { tenant_id: 99 }), { message: 'There is no tenant 99 at provider local.' });
});

test('a name is taken within its tenant only', async (context) => {
  const { ann, bob, add } = await networkFixture(context);
  await add(ann, { name: 'storage' });
  await assert.rejects(add(ann, { name: 'storage' }), { message: 'The name storage is taken; choose another.' });
  await add(bob, { name: 'storage' });
});

test('a refused network leaves no VLAN behind', async (context) => {
  const { ann, add, vlans, local } = await networkFixture(context);
  await add(ann, { cidr: '10.0.0.0/16' });
  await assert.rejects(add(ann, { name: 'x', cidr: '10.0.7.0/24' }), {
    entry: 'overlap',
    message: 'cidr 10.0.7.0/24 overlaps 10.0.0.0/16 of virtual network network-1; choose another range.',
  });
  assert.equal(vlans.listAvailable(local).length, 9);
});

test('a range that any network of the cloud has is refused, whatever its VLAN, owner or provider', async (context) => {
  const { ann, bob, admin, add, fixture, cloudId } = await networkFixture(context);
  const east = await fixture.provider('east', cloudId);
  const elsewhere = await fixture.provider('elsewhere', await fixture.cloud('there'));
  const cidr = '10.0.0.0/24';
  const { vlan_id: shared } = await add(ann, { cidr, ipv6_cidr: 'fd00::/64' });
  await assert.rejects(add(bob, { cidr: '10.0.0.128/25' }), {
    entry: 'overlap',
    message: 'cidr 10.0.0.128/25 overlaps a range that is taken; choose another range.',
  });
  await assert.rejects(add(ann, { cidr, provider_id: east }), { entry: 'overlap' });
  await assert.rejects(add(bob, { ipv6_cidr: 'fd00::/60', vlan_id: shared }, admin), {
    message: 'ipv6_cidr fd00::/60 overlaps fd00::/64 of virtual network network-1; choose another range.',
  });
  await add(bob, { cidr: '10.0.1.0/24', vlan_id: shared }, admin);
  await add(bob, { cidr, provider_id: elsewhere });
});

test("a range with addresses of the cloud or of its machine is refused; an administrator's force accepts it", async (context) => {
  const { ann, admin, add, fixture } = await networkFixture(context);
  const reserved = ['10.64.0.0/16', '192.168.7.1/32', 'fd00:7::1/128'];
  const cloud = await fixture.cloud('there', { first: 1, last: 9 }, reserved);
  const provider_id = await fixture.provider('elsewhere', cloud);
  for (const network of [{ cidr: '10.64.7.0/24' }, { cidr: '192.168.0.0/16' }, { ipv6_cidr: 'fd00:7::/64' }]) {
    await assert.rejects(add(ann, { provider_id, ...network }), {
      entry: 'overlap',
      message: /overlaps a range that is taken; choose another range/,
    });
    await assert.rejects(add(ann, { provider_id, ...network }, admin), {
      entry: 'overlap',
      message: /its machine has/,
    });
    await assert.rejects(add(ann, { provider_id, ...network, force: true }), {
      message: 'force is for administrators only.',
    });
    await add(ann, { provider_id, ...network, force: true }, admin);
  }
});

test('a VLAN that is asked for must be one of the provider', async (context) => {
  const { ann, add } = await networkFixture(context);
  await assert.rejects(add(ann, { vlan_id: 1004 }), {
    message: 'vlan_id must be a VLAN that provider local has and that can be had; leave it out to be given one.',
  });
});

test('users do not meet on a VLAN unless an administrator puts them there', async (context) => {
  const { ann, bob, admin, add } = await networkFixture(context);
  const { vlan_id: vlan } = await add(ann);
  await add(ann, { vlan_id: vlan });
  await assert.rejects(add(bob, { vlan_id: vlan }), {
    message: 'vlan_id must be a VLAN that provider local has and that can be had; leave it out to be given one.',
  });
  assert.equal((await add(bob, { vlan_id: vlan }, admin)).vlan_id, vlan);
});

test('without a wish the VLAN is the default, else an empty one, else a new one', async (context) => {
  const { ann, bob, admin, add, vlans, local } = await networkFixture(context);
  for (const vlan of [1004, 1007, 1009]) await vlans.allocate({ provider_id: local, vlan }, admin);
  await vlans.setDefault({ provider_id: local, vlan: 1007 }, admin);
  const given = async (actor: typeof ann) => (await add(actor)).vlan_id;
  assert.deepEqual([await given(ann), await given(ann)], [1007, 1007], 'the default, as long as it is hers alone');
  assert.deepEqual([await given(bob), await given(bob)], [1004, 1009], 'empty ones of the provider');
  assert.equal(await given(bob), 1000, 'the next of the cloud');
});

test('when every VLAN is taken, a network is refused with the reason', async (context) => {
  const { ann, add } = await networkFixture(context);
  for (let count = 0; count < 10; count++) await add(ann);
  await assert.rejects(add(ann), {
    entry: 'in_use',
    message:
      'VLAN range 1000-1009 of cloud here is in use: none is free for another network; delete a network or take a VLAN from another provider first.',
  });
});

test('a user has a share of the networks and addresses of a cloud, whatever the provider; administrators may add more', async (context) => {
  const { ann, bob, admin, add, fixture, cloudId, write } = await networkFixture(context);
  const east = await fixture.provider('east', cloudId);
  await write((tx) => writeSetting(tx, NETWORKS_PER_USER, '2'));
  const { vlan_id: vlan } = await add(ann);
  await add(ann, { provider_id: east });
  await assert.rejects(add(ann, { vlan_id: vlan }), {
    entry: 'limit_reached',
    message: 'A user may have 2 virtual networks at a cloud; delete some, or ask an administrator for more.',
  });
  await assert.rejects(add(bob, { cidr: '10.0.0.0/8' }), { entry: 'bad_parameter', message: /\/16 or longer/ });
  await add(bob, { cidr: '10.0.0.0/16' });
  await add(ann, { cidr: '11.0.0.0/8' }, admin);
});

test('a tenant has one default network: the newest that was made so', async (context) => {
  const { ann, bob, add, fixture } = await networkFixture(context);
  await add(ann, { default_for_tenant: true });
  await add(bob, { default_for_tenant: true });
  await add(ann, { default_for_tenant: true });
  await add(ann);
  const defaults = fixture.tools.store.read((db) =>
    db.all<{ id: number }>('SELECT id FROM virtual_networks WHERE default_for_tenant = 1 ORDER BY id'),
  );
  assert.deepEqual(
    defaults.map((row) => row.id),
    [2, 3],
  );
});

test('a network is deleted by its owner who names its provider and VLAN', async (context) => {
  const { networks, ann, bob, local, add, fixture } = await networkFixture(context);
  const { id, vlan_id: vlan } = await add(ann, { name: 'storage' });
  const remove = { id, provider_id: local, vlan };
  await assert.rejects(networks.delete(remove, bob), { message: `There is no virtual network ${id}.` });
  await assert.rejects(networks.delete({ ...remove, provider_id: 9 }, ann), {
    message: `provider_id must be ${local}, the provider of virtual network storage.`,
  });
  await assert.rejects(networks.delete({ ...remove, vlan: 1001 }, ann), {
    message: `vlan must be ${vlan}, the VLAN of virtual network storage.`,
  });
  assert.equal(await networks.delete(remove, ann), 'Virtual network storage was removed from VLAN 1000.');
  await assert.rejects(networks.delete(remove, ann), { entry: 'not_found' });
  assert.equal(fixture.titles().at(-1), 'Virtual network storage was removed from VLAN 1000.');
});

test('a network with arrays in it stays', async (context) => {
  const { networks, interfaces, ann, local, add, fixture, write } = await networkFixture(context);
  const { id, vlan_id: vlan } = await add(ann, { name: 'storage', cidr: '10.0.0.0/24' });
  for (const name of ['tank', 'lake']) {
    const array = await fixture.array(ann, local, name);
    await write((tx) => interfaces.reserveAddress(tx, array, id));
  }
  await assert.rejects(networks.delete({ id, provider_id: local, vlan }, ann), {
    message: 'Virtual network storage is in use: arrays tank, lake are in it; remove the interfaces first.',
  });
});

const small = fc.record({ host: fc.nat(63), prefix: fc.integer({ min: 26, max: 30 }) });

/**
 * Goal: a network is refused for overlap exactly when it shares an address with another at its cloud.
 * Method: random small networks of two users on two VLANs, made by the administrator; the model lists every address.
 */
test('overlap is found exactly where addresses are shared', async (context) => {
  const { admin, ann, bob, fixture, networks, vlans } = await networkFixture(context);
  const wanted = fc.record({ cidr: small, user: fc.nat(1), vlan: fc.constantFrom(1000, 1001) });
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(wanted, { minLength: 2, maxLength: 12 }), async (list) => {
      const provider = await fixture.provider(`p-${++runs}`, await fixture.cloud(`c-${runs}`));
      for (const vlan of [1000, 1001]) await vlans.allocate({ provider_id: provider, vlan }, admin);
      const kept: Set<number>[] = [];
      for (const [index, { cidr, user, vlan }] of list.entries()) {
        const size = 2 ** (32 - cidr.prefix);
        const first = Math.floor(cidr.host / size) * size;
        const addresses = new Set(Array.from({ length: size }, (_, offset) => first + offset));
        const free = kept.every((other) => other.isDisjointFrom(addresses));
        const owner = [ann, bob][user] as typeof ann;
        const input = {
          name: `n-${index}`,
          provider_id: provider,
          tenant_id: fixture.tenantOf(owner, provider),
          vlan_id: vlan,
          cidr: `10.0.0.${first}/${cidr.prefix}`,
          default_for_tenant: false,
          force: false,
        };
        const outcome = await networks.create(input, admin).then(
          () => 'made',
          (error: unknown) => (error as { entry: string }).entry,
        );
        assert.equal(outcome, free ? 'made' : 'overlap');
        if (free) kept.push(addresses);
      }
    }),
    { numRuns: 40 },
  );
});
