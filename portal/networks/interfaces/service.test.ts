import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Tx } from '@granary/kernel';
import fc from 'fast-check';
import { cpuMs } from '../../../testing/timing.ts';
import { networkFixture } from '../fixture.ts';
import { interfacesOfArray } from './service.ts';

test('an array gets the first free address, with the network it is in', async (context) => {
  const { ann, local, add, fixture, interfaces, write } = await networkFixture(context);
  const network = await add(ann, { name: 'storage', cidr: '10.20.0.0/24', gateway: '10.20.0.1' });
  const tank = await fixture.array(ann, local, 'tank');
  const made = await write((tx) => interfaces.reserveAddress(tx, tank, network.id, 'ann'));
  assert.deepEqual(made, {
    id: 1,
    arrayId: tank,
    networkId: network.id,
    address: '10.20.0.2',
    ipv6Address: null,
    attached: false,
    bound: false,
    problem: null,
    name: 'storage',
    vlanId: 1000,
    netmask: '255.255.255.0',
    gateway: '10.20.0.1',
    gatewayZone1: null,
    ipv6: null,
    forced: false,
  });
  await write((tx) => {
    interfaces.attachInterface(tx, made.id);
    interfaces.attachInterface(tx, made.id);
  });
  assert.deepEqual(
    fixture.tools.store.read((db) => interfacesOfArray(db, tank)),
    [{ ...made, attached: true }],
  );
  assert.deepEqual(fixture.titles().slice(2), [
    'Address 10.20.0.2 in virtual network storage was reserved.',
    'The array joined virtual network storage as 10.20.0.2.',
  ]);
});

test('a network with both families hands out an address of each, one with IPv6 alone IPv6', async (context) => {
  const { ann, local, add, fixture, interfaces, write } = await networkFixture(context);
  const both = await add(ann, {
    cidr: '10.0.0.0/24',
    ipv6_cidr: 'fd00::/64',
    ipv6_gateway: 'fd00::1',
    ipv6_gateway_zone_1: 'fd00::2',
    ipv6_allocatable_ip_ranges: 'fd00::1-fd00::ff',
  });
  const six = await add(ann, { ipv6_cidr: 'fd00:6::/64', ipv6_gateway: 'fd00:6::1' });
  const tank = await fixture.array(ann, local);
  const [first, second] = await write((tx) => [both, six].map(({ id }) => interfaces.reserveAddress(tx, tank, id)));
  assert.deepEqual([first?.address, first?.netmask, first?.gateway], ['10.0.0.1', '255.255.255.0', null]);
  assert.equal(first?.ipv6Address, 'fd00::3');
  const masks = { netmask: 'ffff:ffff:ffff:ffff::', gateway: 'fd00::1', gatewayZone1: 'fd00::2' };
  assert.deepEqual(first.ipv6, masks);
  assert.equal(fixture.titles().at(-2), 'Address 10.0.0.1 and fd00::3 in virtual network network-1 was reserved.');
  assert.deepEqual([second?.ipv6Address, second?.ipv6], [null, null]);
  assert.deepEqual(
    [second?.address, second?.netmask, second?.gateway],
    ['fd00:6::2', 'ffff:ffff:ffff:ffff::', 'fd00:6::1'],
  );
});

test('no address of either family is handed out twice, and both are free again once they are given back', async (context) => {
  const { ann, admin, local, add, fixture, interfaces, write } = await networkFixture(context);
  const one = await add(ann, { cidr: '10.0.0.0/29', ipv6_cidr: 'fd00::/125' });
  const two = await add(ann, { cidr: '10.0.0.0/29', ipv6_cidr: 'fd00::/125', force: true }, admin);
  const join = async (network: number) => {
    const array = await fixture.array(ann, local);
    const { id, address, ipv6Address } = await write((tx) => interfaces.reserveAddress(tx, array, network));
    return { id, given: [address, ipv6Address] };
  };
  const first = await join(one.id);
  assert.deepEqual(first.given, ['10.0.0.1', 'fd00::1']);
  assert.deepEqual((await join(two.id)).given, ['10.0.0.2', 'fd00::2']);
  assert.deepEqual((await join(one.id)).given, ['10.0.0.3', 'fd00::3']);
  await write((tx) => interfaces.releaseInterface(tx, first.id));
  assert.deepEqual((await join(one.id)).given, ['10.0.0.1', 'fd00::1']);
});

test('an array in the second zone of its cloud gets an address of the second range', async (context) => {
  const { ann, local, add, fixture, cloudId, interfaces, write } = await networkFixture(context);
  const network = await add(ann, {
    cidr: '10.0.0.0/24',
    allocatable_ip_ranges: '10.0.0.10-10.0.0.19,10.0.0.100-10.0.0.100',
  });
  const inventory = JSON.stringify({ zones: [{ name: 'zone_0' }, { name: 'zone_1' }, { name: 'zone_2' }] });
  await write((tx) => tx.run('UPDATE clouds SET inventory = :inventory WHERE id = :cloudId', { inventory, cloudId }));
  const given: Record<string, string> = {};
  for (const zone of ['zone_0', 'zone_1', 'zone_2']) {
    const array = await fixture.array(ann, local);
    const zones = JSON.stringify([zone]);
    await write((tx) => tx.run('UPDATE arrays SET zones = :zones WHERE id = :array', { zones, array }));
    given[zone] = (await write((tx) => interfaces.reserveAddress(tx, array, network.id))).address;
  }
  assert.deepEqual(given, { zone_0: '10.0.0.10', zone_1: '10.0.0.100', zone_2: '10.0.0.11' });
  const late = await fixture.array(ann, local);
  await write((tx) => tx.run(`UPDATE arrays SET zones = '["zone_1"]' WHERE id = :late`, { late }));
  await assert.rejects(
    write((tx) => interfaces.reserveAddress(tx, late, network.id)),
    /No free address is left in 10\.0\.0\.100-10\.0\.0\.100 of virtual network/,
  );
});

test('a network without addresses, a full one and one the array is in say so', async (context) => {
  const { ann, local, add, fixture, interfaces, write } = await networkFixture(context);
  const bare = await add(ann, { name: 'bare' });
  const tiny = await add(ann, { name: 'tiny', cidr: '10.0.0.0/30', gateway: '10.0.0.1' });
  const [tank, lake] = [await fixture.array(ann, local), await fixture.array(ann, local)];
  const join = (array: number, network: number) => write((tx) => interfaces.reserveAddress(tx, array, network));

  await assert.rejects(join(tank, bare.id), {
    message: 'No free address is left in virtual network bare, which has no cidr.',
  });
  await join(tank, tiny.id);
  await assert.rejects(join(tank, tiny.id), {
    message: 'Virtual network tiny is in use: the array is in it already, as 10.0.0.2.',
  });
  await assert.rejects(join(lake, tiny.id), {
    entry: 'no_address',
    message: 'No free address is left in 10.0.0.1-10.0.0.2 of virtual network tiny.',
  });
});

test("an array joins its owner's networks at its provider, for every caller", async (context) => {
  const { ann, bob, local, add, fixture, cloudId, interfaces, write } = await networkFixture(context);
  const east = await fixture.provider('east', cloudId);
  const tank = await fixture.array(ann, local);
  const foreign = await add(bob, { cidr: '10.0.0.0/24' });
  const elsewhere = await add(ann, { cidr: '10.0.1.0/24', provider_id: east });
  for (const id of [foreign.id, elsewhere.id, 99])
    await assert.rejects(
      write((tx) => interfaces.reserveAddress(tx, tank, id)),
      { message: `There is no virtual network ${id}.` },
    );
});

test('what an array gives back is free again; giving back twice is harmless', async (context) => {
  const { ann, local, add, fixture, interfaces, write } = await networkFixture(context);
  const one = await add(ann, { cidr: '10.0.0.0/24' });
  const two = await add(ann, { cidr: '10.0.1.0/24' });
  const [tank, lake] = [await fixture.array(ann, local), await fixture.array(ann, local)];
  const made = await write((tx) => [one, two].map(({ id }) => interfaces.reserveAddress(tx, tank, id)));
  await write((tx) => {
    interfaces.releaseInterface(tx, made[0]?.id ?? 0);
    interfaces.releaseInterface(tx, made[0]?.id ?? 0);
    interfaces.attachInterface(tx, made[0]?.id ?? 0);
  });
  assert.equal((await write((tx) => interfaces.reserveAddress(tx, lake, one.id))).address, '10.0.0.1');
  await write((tx) => {
    interfaces.releaseAllOfArray(tx, tank);
    interfaces.releaseAllOfArray(tx, tank);
  });
  assert.deepEqual(
    fixture.tools.store.read((db) => interfacesOfArray(db, tank)),
    [],
  );
  assert.equal(fixture.titles().filter((title) => title.endsWith('given back.')).length, 2);
});

test('two networks that an administrator let overlap never hand out the same address', async (context) => {
  const { ann, bob, admin, local, add, fixture, interfaces, write } = await networkFixture(context);
  const hers = await add(ann, { cidr: '10.0.0.0/29' });
  const his = await add(bob, { cidr: '10.0.0.0/29', force: true }, admin);
  const given: string[] = [];
  for (const owner of [ann, bob, ann, bob]) {
    const array = await fixture.array(owner, local);
    const network = owner === ann ? hers : his;
    given.push((await write((tx) => interfaces.reserveAddress(tx, array, network.id))).address);
  }
  assert.deepEqual(given, ['10.0.0.1', '10.0.0.2', '10.0.0.3', '10.0.0.4']);
});

test("addresses the machine has by now are passed over, unless the network's range was forced", async (context) => {
  const { ann, admin, local, add, fixture, cloudId, interfaces, write } = await networkFixture(context);
  const plain = await add(ann, { cidr: '10.0.0.0/29' });
  const forced = await add(ann, { cidr: '10.0.1.0/29', force: true }, admin);
  const inventory = JSON.stringify({ reserved_ranges: ['10.0.0.1/32', '10.0.0.4/30', '10.0.1.1/32', 'fd00::1/128'] });
  await write((tx) => tx.run('UPDATE clouds SET inventory = :inventory WHERE id = :cloudId', { inventory, cloudId }));
  const join = async (network: number) => {
    const array = await fixture.array(ann, local);
    return (await write((tx) => interfaces.reserveAddress(tx, array, network))).address;
  };
  assert.deepEqual([await join(plain.id), await join(plain.id)], ['10.0.0.2', '10.0.0.3']);
  await assert.rejects(join(plain.id), { entry: 'no_address' });
  assert.equal(await join(forced.id), '10.0.1.1');
});

test('what the cloud says of an address is kept, and a change of it is an event', async (context) => {
  const { ann, local, add, fixture, interfaces, write } = await networkFixture(context);
  const { id: network } = await add(ann, { name: 'storage', cidr: '10.0.0.0/29' });
  const array = await fixture.array(ann, local);
  const { id } = await write((tx) => interfaces.reserveAddress(tx, array, network));
  const before = fixture.titles().length;
  const problem = 'this machine does not have the address.';
  const said = [
    { id, bound: false, problem },
    { id, bound: false, problem },
    { id, bound: true, problem: null },
    { id, bound: false, problem: null },
  ];
  const changed: boolean[] = [];
  for (const one of said) changed.push(await write((tx) => interfaces.recordBindings(tx, array, [one])));
  assert.deepEqual(changed, [true, false, true, true]);
  assert.deepEqual(fixture.titles().slice(before), [
    `The array does not listen on 10.0.0.1 in virtual network storage: ${problem}`,
    'The array listens on 10.0.0.1 in virtual network storage now.',
  ]);
});

/**
 * Goal: addresses are unique, inside the range, never a gateway, the network's or the broadcast address; and always
 * the lowest that is free. Method: random joins and leaves of twelve arrays; the model is the set of taken hosts.
 */
test('addresses are handed out once each, lowest first, and only from the range', async (context) => {
  const { ann, local, fixture, interfaces, networks, write } = await networkFixture(context);
  const arrays: number[] = [];
  for (let count = 0; count < 12; count++) arrays.push(await fixture.array(ann, local));
  const plan = fc
    .record({
      prefix: fc.integer({ min: 28, max: 29 }),
      gateways: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 2 }),
      bounds: fc.option(fc.tuple(fc.nat(7), fc.nat(7)), { nil: undefined }),
    })
    .map(({ prefix, gateways, bounds }) => {
      const size = 2 ** (32 - prefix);
      const [low, high] = bounds ? [Math.min(...bounds), Math.max(...bounds)] : [1, size - 2];
      const hosts = Array.from({ length: high - low + 1 }, (_, index) => low + index);
      const usable = hosts.filter((host) => host !== 0 && host !== size - 1 && !gateways.includes(host));
      return { prefix, gateways, range: bounds && `10.9.0.${low}-10.9.0.${high}`, usable };
    })
    .filter(({ usable }) => usable.length > 0);
  const steps = fc.array(fc.nat(arrays.length - 1), { maxLength: 40 });
  let runs = 0;

  await fc.assert(
    fc.asyncProperty(plan, steps, async ({ prefix, gateways, range, usable }, toggled) => {
      const [gateway, second] = gateways.map((host) => `10.9.0.${host}`);
      const network = await networks.create(
        {
          name: `n-${++runs}`,
          provider_id: local,
          tenant_id: fixture.tenantOf(ann, local),
          cidr: `10.9.0.0/${prefix}`,
          gateway,
          gateway_zone_1: second,
          allocatable_ip_ranges: range,
          default_for_tenant: false,
          force: false,
        },
        ann,
      );
      const held = new Map<number, { id: number; host: number }>();
      for (const nth of toggled) {
        const array = arrays[nth] as number;
        const mine = held.get(array);
        if (mine) {
          await write((tx) => {
            interfaces.releaseInterface(tx, mine.id);
          });
          held.delete(array);
          continue;
        }
        const taken = new Set([...held.values()].map(({ host }) => host));
        const expected = usable.find((host) => !taken.has(host));
        const joined = write((tx) => interfaces.reserveAddress(tx, array, network.id));
        if (expected === undefined) {
          await assert.rejects(joined, { entry: 'no_address' });
          continue;
        }
        const { id, address } = await joined;
        assert.equal(address, `10.9.0.${expected}`);
        held.set(array, { id, host: expected });
      }
      await write((tx) => {
        for (const array of arrays) interfaces.releaseAllOfArray(tx, array);
      });
      await networks.delete({ id: network.id, provider_id: local, vlan: network.vlan_id }, ann);
    }),
    { numRuns: 40 },
  );
});

test('changes that share a commit, or are undone, leave no address out', async (context) => {
  const { ann, local, add, fixture, interfaces, write } = await networkFixture(context);
  const { id } = await add(ann, { cidr: '10.0.0.0/24' });
  const arrays: number[] = [];
  for (let count = 0; count < 6; count++) arrays.push(await fixture.array(ann, local));
  const join = (nth: number) => write((tx) => interfaces.reserveAddress(tx, arrays[nth] ?? 0, id));
  const undone = (work: (tx: Tx) => void) =>
    assert.rejects(
      write((tx) => {
        work(tx);
        throw new Error('undone');
      }),
      { message: 'undone' },
    );

  const first = await join(0);
  const shared = await Promise.all([
    join(1),
    write((tx) => {
      interfaces.releaseInterface(tx, first.id);
    }),
    undone((tx) => interfaces.reserveAddress(tx, arrays[2] ?? 0, id)),
  ]);
  assert.equal(shared[0].address, '10.0.0.2', 'reserved before the other gave its address back');
  assert.equal((await join(2)).address, '10.0.0.1');
  await undone((tx) => {
    interfaces.releaseInterface(tx, shared[0].id);
    interfaces.reserveAddress(tx, arrays[3] ?? 0, id);
  });
  const both = await Promise.all([join(3), join(4)]);
  assert.deepEqual(
    both.map(({ address }) => address),
    ['10.0.0.3', '10.0.0.4'],
  );
  assert.equal((await join(5)).address, '10.0.0.5');
});

test('a /8 with thousands of addresses taken hands out the next one quickly', async (context) => {
  const { ann, admin, local, add, fixture, interfaces, write } = await networkFixture(context);
  const { id } = await add(ann, { cidr: '10.0.0.0/8', gateway: '10.0.3.7' }, admin);
  const [tank, lake] = [await fixture.array(ann, local), await fixture.array(ann, local)];
  const taken = 5000;
  // Straight into the table: five thousand arrays would only take time.
  await write((tx) => {
    tx.run(
      `WITH RECURSIVE host (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM host WHERE n < :taken)
       INSERT INTO arrays (uuid, name, status, product, owner_id, provider_id, cloud_id, spec,
         initial_passcode_sealed, internal_key_sealed, created_at)
       SELECT 'u' || n, 'filler-' || n, 'created', 'storage_array', :ownerId, :local, 1, '{}', '', '', 0 FROM host`,
      { taken, ownerId: ann.userId, local },
    );
    tx.run(
      `INSERT INTO interfaces (array_id, virtual_network_id, address)
       SELECT id, :id, printf('10.%d.%d.%d', (id - :lake) >> 16, ((id - :lake) >> 8) & 255, (id - :lake) & 255)
       FROM arrays WHERE id > :lake AND id - :lake <> 775`,
      { id, lake },
    );
  });
  let made: { readonly address: string } | undefined;
  const spentMs = await cpuMs(async () => (made = await write((tx) => interfaces.reserveAddress(tx, tank, id))));
  context.diagnostic(`${spentMs.toFixed(1)} ms`);
  assert.equal(made?.address, '10.0.19.137', 'the host after 5000');
  assert.ok(spentMs < 1000);
  await write((tx) => {
    const row = tx.get<{ id: number }>(`SELECT id FROM interfaces WHERE address = '10.0.2.9'`);
    interfaces.releaseInterface(tx, row?.id ?? 0);
  });
  assert.equal((await write((tx) => interfaces.reserveAddress(tx, lake, id))).address, '10.0.2.9');
});
