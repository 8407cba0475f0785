import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { allRecords, networkFixture } from '../fixture.ts';

test('a provider is given a VLAN of its cloud once', async (context) => {
  const { vlans, local, admin, fixture, cloudId } = await networkFixture(context);
  const east = await fixture.provider('east', cloudId);
  const message = await vlans.allocate({ provider_id: local, vlan: 1003 }, admin);
  assert.equal(message, 'The request has been submitted for processing: VLAN 1003 goes to provider local.');

  const free = [1000, 1001, 1002, 1004, 1005, 1006, 1007, 1008, 1009];
  assert.deepEqual(vlans.listAvailable(local), free);
  assert.deepEqual(vlans.listAvailable(east), free, 'providers of one cloud share its VLANs');
  await assert.rejects(vlans.allocate({ provider_id: east, vlan: 1003 }, admin), {
    message: 'VLAN 1003 is in use: provider local has it.',
  });
  assert.deepEqual(fixture.titles(), ['VLAN 1003 was given to provider local.']);
});

test('each cloud has VLANs of its own', async (context) => {
  const { vlans, local, admin, fixture } = await networkFixture(context);
  const far = await fixture.provider('far', await fixture.cloud('there', { first: 1003, last: 1004 }));
  await vlans.allocate({ provider_id: local, vlan: 1003 }, admin);
  await vlans.allocate({ provider_id: far, vlan: 1003 }, admin);
  assert.deepEqual(vlans.listAvailable(far), [1004]);
});

test('a VLAN outside the range of the cloud and an unknown provider are refused', async (context) => {
  const { vlans, local, admin } = await networkFixture(context);
  for (const vlan of [999, 1010])
    await assert.rejects(vlans.allocate({ provider_id: local, vlan }, admin), {
      message: 'vlan must be one of 1000-1009, the VLANs of cloud here.',
    });
  await assert.rejects(vlans.allocate({ provider_id: 99, vlan: 1000 }, admin), { message: 'There is no provider 99.' });
  assert.throws(() => vlans.listAvailable(99), { entry: 'not_found' });
});

test('a VLAN is taken back once no network is on it', async (context) => {
  const { vlans, networks, local, admin, ann, add, fixture, cloudId } = await networkFixture(context);
  const east = await fixture.provider('east', cloudId);
  const { id } = await add(ann, { name: 'storage' });
  const vlan = { provider_id: local, vlan: 1000 };
  await assert.rejects(vlans.deallocate(vlan, admin), {
    message: 'VLAN 1000 is in use: network storage is on it and must go first.',
  });
  await assert.rejects(vlans.deallocate({ provider_id: east, vlan: 1000 }, admin), {
    message: 'There is no VLAN 1000 at provider east.',
  });
  await networks.delete({ id, ...vlan }, ann);
  await vlans.deallocate(vlan, admin);
  await assert.rejects(vlans.deallocate(vlan, admin), { entry: 'not_found' });
  assert.equal(vlans.listAvailable(local).length, 10);
});

test('a provider has one default VLAN: the one set last', async (context) => {
  const { vlans, local, admin, fixture, cloudId } = await networkFixture(context);
  const east = await fixture.provider('east', cloudId);
  for (const vlan of [1000, 1001]) await vlans.allocate({ provider_id: local, vlan }, admin);
  await vlans.allocate({ provider_id: east, vlan: 1002 }, admin);
  for (const vlan of [1000, 1001, 1001]) await vlans.setDefault({ provider_id: local, vlan }, admin);
  await vlans.setDefault({ provider_id: east, vlan: 1002 }, admin);

  const defaults = vlans.list(allRecords).vlans.filter((vlan) => vlan.default);
  assert.deepEqual(
    defaults.map((vlan) => vlan.vlan_id),
    [1001, 1002],
  );
  await assert.rejects(vlans.setDefault({ provider_id: east, vlan: 1000 }, admin), { entry: 'not_found' });
  assert.equal(fixture.titles().at(-1), 'VLAN 1002 is now the default of provider east.');
});

test('the list names the networks and arrays on each VLAN, an array once, a page at a time', async (context) => {
  const { vlans, local, admin, ann, add, fixture, interfaces, write } = await networkFixture(context);
  await vlans.allocate({ provider_id: local, vlan: 1005 }, admin);
  const front = await add(ann, { name: 'front', vlan_id: 1005, cidr: '10.0.0.0/24' });
  const back = await add(ann, { name: 'back', vlan_id: 1005, cidr: '10.0.1.0/24' });
  await vlans.allocate({ provider_id: local, vlan: 1001 }, admin);
  const tank = await fixture.array(ann, local, 'tank');
  const lake = await fixture.array(ann, local, 'lake');
  await write((tx) => {
    for (const network of [front, back]) interfaces.reserveAddress(tx, tank, network.id);
    interfaces.reserveAddress(tx, lake, back.id);
  });

  const { vlans: listed, total } = vlans.list(allRecords);
  assert.equal(total, 2);
  assert.deepEqual(listed, [
    { default: false, cloud_id: 1, provider_id: local, vlan_id: 1001, custom_networks: [], arrays: [] },
    {
      default: false,
      cloud_id: 1,
      provider_id: local,
      vlan_id: 1005,
      custom_networks: ['front', 'back'],
      arrays: ['tank', 'lake'],
    },
  ]);
  assert.deepEqual(vlans.list({ start: 1, limit: 1 }), { vlans: [listed[1]], total: 2 });
});

type Step =
  | { readonly act: 'allocate' | 'deallocate'; readonly provider: number; readonly vlan: number }
  | { readonly act: 'create'; readonly provider: number; readonly user: number; readonly vlan: number | undefined }
  | { readonly act: 'delete'; readonly nth: number };

const VLANS = [1000, 1001, 1002, 1003];
const vlan = fc.constantFrom(...VLANS, 999);
const provider = fc.nat(1);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ act: fc.constantFrom('allocate' as const, 'deallocate' as const), provider, vlan }),
  fc.record({
    act: fc.constant('create' as const),
    provider,
    user: fc.nat(1),
    vlan: fc.option(vlan, { nil: undefined }),
  }),
  fc.record({ act: fc.constant('delete' as const), nth: fc.nat(5) }),
);

/**
 * Goal: whatever two users and two providers do with one cloud of four VLANs, every VLAN is free or has exactly one
 * provider, networks are on VLANs of their provider, and users do not meet on one. Method: random steps; a model
 * says which of them must work.
 */
test('VLANs are accounted for after any sequence of steps', async (context) => {
  const { vlans, networks, fixture, admin, ann, bob } = await networkFixture(context);
  let runs = 0;
  let names = 0;

  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const cloud = await fixture.cloud(`cloud-${++runs}`, { first: 1000, last: 1003 });
      const providers = [await fixture.provider(`a-${runs}`, cloud), await fixture.provider(`b-${runs}`, cloud)];
      const owners = new Map<number, number>();
      let live: { id: number; provider_id: number; vlan_id: number; user: number }[] = [];

      const run = async (one: Step): Promise<void> => {
        if (one.act === 'delete') {
          const network = live[one.nth];
          if (!network) return;
          await networks.delete({ id: network.id, provider_id: network.provider_id, vlan: network.vlan_id }, admin);
          live = live.filter((other) => other !== network);
          return;
        }
        const providerId = providers[one.provider] as number;
        const on = (number: number) => live.filter((n) => n.vlan_id === number);
        if (one.act === 'create') {
          const actor = [ann, bob][one.user] as typeof ann;
          const wanted = one.vlan;
          const usable = (number: number) =>
            owners.get(number) === providerId && on(number).every((n) => n.user === one.user);
          const empty = (number: number) =>
            (owners.get(number) ?? providerId) === providerId && on(number).length === 0;
          const works = wanted === undefined ? VLANS.some(empty) : usable(wanted);
          const input = {
            name: `n-${++names}`,
            provider_id: providerId,
            tenant_id: fixture.tenantOf(actor, providerId),
            vlan_id: wanted,
            default_for_tenant: false,
            force: false,
          };
          const made = await networks.create(input, actor).catch(() => undefined);
          assert.equal(made !== undefined, works, JSON.stringify(one));
          if (!made) return;
          live.push({ ...made, user: one.user });
          owners.set(made.vlan_id, providerId);
          return;
        }
        const works =
          one.act === 'allocate'
            ? VLANS.includes(one.vlan) && !owners.has(one.vlan)
            : owners.get(one.vlan) === providerId && on(one.vlan).length === 0;
        const done = vlans[one.act]({ provider_id: providerId, vlan: one.vlan }, admin);
        assert.equal(await done.then(Boolean, () => false), works, JSON.stringify(one));
        if (!works) return;
        if (one.act === 'allocate') owners.set(one.vlan, providerId);
        else owners.delete(one.vlan);
      };

      for (const one of steps) {
        await run(one);
        const free = vlans.listAvailable(providers[0] as number);
        assert.deepEqual(
          free,
          VLANS.filter((number) => !owners.has(number)),
        );
        const listed = vlans.list(allRecords).vlans.filter((row) => row.cloud_id === cloud);
        assert.deepEqual(
          new Map(listed.map((row) => [row.vlan_id, row.provider_id])),
          new Map([...owners].sort(([a], [b]) => a - b)),
        );
        for (const network of live) {
          assert.equal(owners.get(network.vlan_id), network.provider_id);
          assert.ok(live.every((other) => other.vlan_id !== network.vlan_id || other.user === network.user));
        }
      }
    }),
    { numRuns: 40 },
  );
});
