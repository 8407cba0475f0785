import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PROXIES_MAX } from '@granary/contract/cloud';
import type { PortalClient } from '@granary/client';
import { until } from '../../testing/waiting.ts';
import { startFakeObjects } from '../testing/fake-objects.ts';
import { refused, startTestPortal } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner, friend, otherUser, name, cloud } = portal;

const shown = async (id: number) => (await admin.client.arrays.get({ array_id: id })).data;
const free = async (key: string) =>
  (await portal.services.clouds.freshInventory(1)).drive_types.find((type) => type.key === key)?.free ?? 0;

test('an engine is changed together with its app engine', async () => {
  const { id, name: array } = await portal.array(friend);
  const { message } = await friend.client.arrays.setEngine({
    array_id: id,
    engine: 'engine_small',
    app_engine: 'app_small',
  });
  assert.match(message, /change of engine to engine_small is done/);
  const { engine, app_engine: app } = await shown(id);
  assert.deepEqual(engine, { name: 'engine_small', key: 'engine_small', specs: '2 vCPU' });
  assert.deepEqual(app, { name: 'Small', key: 'app_small', specs: '1 vCPU, 1 GB', type: 'small' });
  assert.deepEqual([cloud.specOf(array).engine, cloud.specOf(array).app_engine], ['engine_small', 'app_small']);
});

test('an engine that is too small for the drives or the cache is refused', async () => {
  const { id } = await portal.array(friend, { drives: { SSD_10GB: 10 }, flash_cache_capacity: 800 });
  const call = friend.client.arrays.setEngine({ array_id: id, engine: 'engine_small', app_engine: 'app_small' });
  const { problems } = await refused(
    call,
    400,
    /engine engine_small takes at most 8.*engine engine_small takes at most 380 GiB/,
  );
  assert.deepEqual(
    problems.map(({ field }) => field),
    ['engine', 'engine'],
  );
  const unknown = friend.client.arrays.setEngine({ array_id: id, engine: 'engine_x', app_engine: 'app_x' });
  const refusal = await refused(
    unknown,
    400,
    /engine must be one of engine_small, engine_medium; app_engine must be one of/,
  );
  assert.deepEqual(
    refusal.problems.map(({ field }) => field),
    ['engine', 'app_engine'],
  );
  assert.equal((await shown(id)).engine?.key, 'engine_medium');
});

test('cache grows and shrinks in the steps of the cloud, up to what the engine takes', async () => {
  const { id, name: array } = await portal.array(friend);
  const setCache = (gb: number) => friend.client.arrays.setCache({ array_id: id, flash_cache_capacity: gb });
  await setCache(800);
  assert.deepEqual((await shown(id)).cache, {
    extra_gb: 800,
    extra_partitions: 40,
    included_gb: 20,
    included_partitions: 1,
    total_gb: 820,
    total_partitions: 41,
    in_effect_gb: 800.5,
  });
  assert.equal(cloud.specOf(array).extra_cache_gb, 800);
  await refused(setCache(100), 400, /flash_cache_capacity must be a multiple of 200 GiB/);
  await refused(setCache(1000), 400, /flash_cache_capacity is 1000 GiB; engine engine_medium takes at most 980 GiB/);
  await setCache(0);
  assert.equal((await shown(id)).cache.extra_gb, 0);
});

test('drives are added to those that are there and taken from the stock', async () => {
  const { id, name: array } = await portal.array(friend);
  const before = await free('SSD_100GB');
  const { message } = await friend.client.arrays.addDrives({ array_id: id, drives: { SSD_10GB: 1, SSD_100GB: 3 } });
  assert.match(message, /adding 1 × SSD_10GB, 3 × SSD_100GB is done/);
  const { drives, drive_count: count } = await shown(id);
  assert.deepEqual([drives, count], [{ SSD_10GB: 3, SSD_100GB: 3 }, 6]);
  assert.deepEqual(cloud.specOf(array).drives, { SSD_10GB: 3, SSD_100GB: 3 });
  assert.equal(await free('SSD_100GB'), before - 3);
});

test('drives beyond the engine, the catalogue or the stock are refused', async () => {
  const { id } = await portal.array(friend);
  const add = (drives: Record<string, number>) => friend.client.arrays.addDrives({ array_id: id, drives });
  await refused(add({ SSD_10GB: 23 }), 400, /drives are 25 in all; engine engine_medium takes at most 24/);
  await refused(add({ NVME: 1 }), 400, /drives names NVME/);
  const { id: bucket, name: policy } = await bucketWithPolicy();
  const more = friend.client.arrays.addDrives({
    array_id: bucket,
    drives: { HDD_1000GB: 700 },
    storage_policy: policy,
  });
  await refused(more, 409, /drives of type HDD_1000GB are free; 700 were asked for/);
});

async function bucketWithPolicy() {
  const { id } = await portal.objectArray(friend, { storage_profile: 'hot' });
  return { id, name: 'hot' };
}

test('drives of object storage go to a policy that is named, and are of its one type', async () => {
  const { id, name: array } = await portal.objectArray(friend, { storage_profile: 'hot' });
  const add = (drives: Record<string, number>, policy?: string) =>
    friend.client.arrays.addDrives({ array_id: id, drives, storage_policy: policy });
  const missing = await refused(add({ HDD_1000GB: 1 }), 400, /storage_policy is required for object storage/);
  assert.deepEqual(
    missing.problems.map(({ field }) => field),
    ['storage_policy'],
  );
  await refused(add({ HDD_1000GB: 1 }, 'cold'), 400, /storage_policy must be one of hot/);
  await refused(add({ SSD_10GB: 1 }, 'hot'), 400, /drives must be of one type for storage policy hot/);
  await add({ HDD_1000GB: 2 }, 'hot');
  assert.deepEqual((await shown(id)).drives, { HDD_1000GB: 4 });
  assert.deepEqual(cloud.specOf(array).policies, [{ name: 'hot', type_id: 1, drives: { HDD_1000GB: 4 } }]);
});

test('a storage policy is found by the name that the array gives it, and in whatever case it is written', async () => {
  const objects = await startFakeObjects();
  portal.onStop(() => objects.stop());
  objects.policies.set('policy-00000001', 'hot').set('policy-00000002', 'made at the array');
  cloud.managementUrl = objects.url;
  const { id, name: array } = await portal.objectArray(friend, { storage_profile: 'hot' });
  cloud.managementUrl = undefined;
  const add = (policy: string) =>
    friend.client.arrays.addDrives({ array_id: id, drives: { HDD_1000GB: 1 }, storage_policy: policy });
  await add('policy-00000001');
  await add('HOT');
  assert.deepEqual(cloud.specOf(array).policies, [{ name: 'hot', type_id: 1, drives: { HDD_1000GB: 4 } }]);
  for (const unknown of ['policy-00000002', 'policy-00000003', 'cold'])
    await refused(add(unknown), 400, /storage_policy must be one of hot/);
});

test('a storage policy is added on drives of its own', async () => {
  const { id, name: array } = await portal.objectArray(friend, { storage_profile: 'hot' });
  const policy = { array_id: id, name: 'cold', storage_policy_type: 2, drives: { SSD_100GB: 6 } };
  const { message } = await friend.client.arrays.addStoragePolicy(policy);
  assert.match(message, /adding storage policy cold is done/);
  const { storage_policies: policies, drives } = await shown(id);
  assert.deepEqual(
    policies?.map((one) => [one.display_name, one.sp_type_id]),
    [
      ['hot', 1],
      ['cold', 2],
    ],
  );
  assert.deepEqual(drives, { HDD_1000GB: 2, SSD_100GB: 6 });
  assert.deepEqual(cloud.specOf(array).policies[1], { name: 'cold', type_id: 2, drives: { SSD_100GB: 6 } });
  await refused(friend.client.arrays.addStoragePolicy(policy), 409, /The name cold is taken/);
  const few = { ...policy, name: 'few', drives: { SSD_100GB: 5 } };
  await refused(friend.client.arrays.addStoragePolicy(few), 400, /drives must be at least 6/);
  const unknown = { ...policy, name: 'odd', storage_policy_type: 9 };
  await refused(friend.client.arrays.addStoragePolicy(unknown), 400, /storage_policy_type must be one of 1, 2/);
});

test('two policies of one name are never both made, however they come', async () => {
  const { id, name: array } = await portal.objectArray(owner);
  const file = async (count: number) => {
    const policy = { array_id: id, name: 'cold', storage_policy_type: 1, drives: { SSD_100GB: count } };
    return Number(/^Request (\d+)/.exec((await owner.client.arrays.addStoragePolicy(policy)).message)?.[1]);
  };
  const [first, second] = [await file(2), await file(3)];
  await admin.client.arrayRequests.approve({ id: first, name: array });
  await until(async () => (await shown(id)).storage_policies?.length === 2, 'it is there');
  await admin.client.arrayRequests.approve({ id: second, name: array });
  await portal.rest();
  const { storage_policies: policies, status_message: message } = await shown(id);
  assert.equal(policies?.length, 2);
  assert.match(String(message), /Adding storage policy cold failed: name cold is taken/);
});

test('a proxy controller is added in a zone of the cloud', async () => {
  const { id, name: array } = await portal.objectArray(friend);
  const add = (zone: number) => friend.client.arrays.addProxyController({ array_id: id, allocation_zone_id: zone });
  await add(1);
  const { message } = await add(1);
  assert.match(message, /adding a proxy controller in zone_1 is done/);
  assert.equal((await shown(id)).proxy_virtual_controllers, 2);
  assert.deepEqual(cloud.specOf(array).proxy_zones, ['zone_1', 'zone_1']);
  for (let more = 2; more < PROXIES_MAX; more += 1) await add(2);
  await refused(add(1), 409, /has 16 proxy controllers; that is the most/);
  const other = await portal.objectArray(friend);
  const wrong = friend.client.arrays.addProxyController({ array_id: other.id, allocation_zone_id: 9 });
  const { problems } = await refused(wrong, 400, /allocation_zone_id must be one of 0, 1, 2/);
  assert.deepEqual(
    problems.map(({ field }) => field),
    ['allocation_zone_id'],
  );
});

test('a public address is given once and taken away once', async () => {
  const { id, name: array } = await portal.array(friend);
  const { addPublicIp, removePublicIp } = friend.client.arrays;
  await refused(removePublicIp({ array_id: id }), 404, /There is no public address of array/);
  await addPublicIp({ array_id: id });
  assert.equal(cloud.specOf(array).public_ip, true);
  await refused(addPublicIp({ array_id: id }), 409, /it has 127\.65\.0\.\d+ already/);
  await removePublicIp({ array_id: id });
  assert.equal(cloud.specOf(array).public_ip, false);
  await refused(removePublicIp({ array_id: id }), 404, /There is no public address/);
});

test('an array joins networks of its owner and leaves them, and keeps no address it left', async () => {
  const { id, name: array } = await portal.array(friend);
  const network = await portal.network(friend, { name: name('blue') });
  const { data: compatible } = await friend.client.arrays.listCompatibleInterfaces({ array_id: id });
  assert.ok(compatible.some((one) => one.custom_network_id === network));
  const joined = await friend.client.arrays.addInterface({ array_id: id, virtual_network_id: network });
  assert.match(joined.message, /adding a network interface is done/);
  const [one] = (await shown(id)).virtual_network_interfaces;
  assert.ok(one);
  assert.equal(one.virtual_network_id, network);
  assert.match(one.ip_address, /^10\.\d+\.\d+\.10$/);
  assert.equal(one.netmask, '255.255.255.0');
  assert.deepEqual(
    cloud.specOf(array).interfaces.map(({ address }) => address),
    [one.ip_address],
  );
  const { data: left } = await friend.client.arrays.listCompatibleInterfaces({ array_id: id });
  assert.ok(left.every((other) => other.custom_network_id !== network));
  const again = friend.client.arrays.addInterface({ array_id: id, virtual_network_id: network });
  await refused(again, 409, /the array is in it already/);
  await friend.client.arrays.removeInterface({ array_id: id, vni_ids: [one.id] });
  assert.deepEqual((await shown(id)).virtual_network_interfaces, []);
  assert.deepEqual(cloud.specOf(array).interfaces, []);
  await refused(
    friend.client.arrays.removeInterface({ array_id: id, vni_ids: [one.id] }),
    404,
    /There is no interface/,
  );
  await friend.client.arrays.addInterface({ array_id: id, virtual_network_id: network });
  assert.equal((await shown(id)).virtual_network_interfaces[0]?.ip_address, one.ip_address);
});

test('an array joins no network of another user, not even for an administrator', async () => {
  const { id } = await portal.array(friend);
  const theirs = await portal.network(otherUser);
  for (const person of [friend, admin]) {
    const call = person.client.arrays.addInterface({ array_id: id, virtual_network_id: theirs });
    await refused(call, 404, /There is no virtual network/);
  }
});

test('arrays that join one network at the same time get addresses of their own', async () => {
  const network = await portal.network(friend);
  const arrays = await Promise.all(Array.from({ length: 8 }, () => portal.array(friend, { drives: { SSD_10GB: 2 } })));
  await Promise.all(
    arrays.map(({ id }) => friend.client.arrays.addInterface({ array_id: id, virtual_network_id: network })),
  );
  const addresses = await Promise.all(
    arrays.map(async ({ id }) => {
      const joined = (await shown(id)).virtual_network_interfaces;
      return joined.find((one) => one.virtual_network_id === network)?.ip_address;
    }),
  );
  assert.equal(new Set(addresses).size, 8);
  assert.ok(!addresses.includes(undefined));
});

test('data reduction is switched on flash arrays alone', async () => {
  const flash = await portal.array(friend);
  await friend.client.arrays.disableDataReduction({ array_id: flash.id });
  assert.equal(cloud.specOf(flash.name).data_reduction, false);
  const { message } = await friend.client.arrays.enableDataReduction({ array_id: flash.id });
  assert.match(message, /switching data reduction on is done/);
  assert.equal(cloud.specOf(flash.name).data_reduction, true);
  const spinning = await portal.array(friend, { drives: { HDD_1000GB: 2 } });
  for (const call of [friend.client.arrays.enableDataReduction, friend.client.arrays.disableDataReduction]) {
    await refused(call({ array_id: spinning.id }), 409, /has spinning drives; data reduction is for flash arrays only/);
  }
});

test('an array that got spinning drives later can still switch data reduction off, and then not on again', async () => {
  const { id, name: array } = await portal.array(friend);
  await friend.client.arrays.addDrives({ array_id: id, drives: { HDD_1000GB: 2 } });
  await friend.client.arrays.disableDataReduction({ array_id: id });
  assert.equal(cloud.specOf(array).data_reduction, false);
  await refused(friend.client.arrays.enableDataReduction({ array_id: id }), 409, /has spinning drives/);
});

type Arrays = PortalClient['arrays'];

const ofBlock: readonly (readonly [string, (arrays: Arrays, id: number) => Promise<unknown>])[] = [
  ['an engine', (arrays, id) => arrays.setEngine({ array_id: id, engine: 'engine_small', app_engine: 'app_small' })],
  ['more cache', (arrays, id) => arrays.setCache({ array_id: id, flash_cache_capacity: 200 })],
  ['data reduction', (arrays, id) => arrays.enableDataReduction({ array_id: id })],
];

for (const [what, call] of ofBlock) {
  test(`object storage has no use for ${what} and says so`, async () => {
    const { id } = await portal.kept('bucket', () => portal.objectArray(friend));
    await refused(call(friend.client.arrays, id), 409, /is not a block and file array/);
  });
}

const ofObjects: readonly (readonly [string, (arrays: Arrays, id: number) => Promise<unknown>])[] = [
  [
    'a storage policy',
    (arrays, id) =>
      arrays.addStoragePolicy({ array_id: id, name: 'x', storage_policy_type: 1, drives: { SSD_10GB: 2 } }),
  ],
  ['a proxy controller', (arrays, id) => arrays.addProxyController({ array_id: id, allocation_zone_id: 0 })],
];

for (const [what, call] of ofObjects) {
  test(`a block array has no use for ${what} and says so`, async () => {
    const { id } = await portal.kept('tank', () => portal.array(friend));
    await refused(call(friend.client.arrays, id), 409, /is not an object storage array/);
  });
}

const moderated: readonly (readonly [
  string,
  'array' | 'objectArray',
  (arrays: Arrays, id: number) => Promise<{ message: string }>,
])[] = [
  [
    'change_engine',
    'array',
    (arrays, id) => arrays.setEngine({ array_id: id, engine: 'engine_small', app_engine: 'app_small' }),
  ],
  ['change_cache', 'array', (arrays, id) => arrays.setCache({ array_id: id, flash_cache_capacity: 200 })],
  ['add_drives', 'array', (arrays, id) => arrays.addDrives({ array_id: id, drives: { SSD_10GB: 2 } })],
  [
    'add_storage_policy',
    'objectArray',
    (arrays, id) =>
      arrays.addStoragePolicy({ array_id: id, name: 'cold', storage_policy_type: 1, drives: { SSD_10GB: 2 } }),
  ],
  [
    'add_proxy_controller',
    'objectArray',
    (arrays, id) => arrays.addProxyController({ array_id: id, allocation_zone_id: 0 }),
  ],
  ['delete_array', 'array', (arrays, id) => arrays.delete({ array_id: id })],
];

for (const [kind, product, call] of moderated) {
  test(`${kind} of an ordinary user waits for an administrator, who may deny it or have it done`, async () => {
    const { id, name: array } = await portal[product](owner);
    const before = await shown(id);
    const { message } = await call(owner.client.arrays, id);
    const number = Number(
      /^Request (\d+) was submitted and waits for an administrator's approval\.$/.exec(message)?.[1],
    );
    const { data: filed } = await owner.client.arrayRequests.get({ id: number });
    assert.deepEqual([filed.kind, filed.name, filed.status, filed.array_id], [kind, array, 'pending', id]);
    assert.deepEqual(await shown(id), before);
    await admin.client.arrayRequests.deny({ id: number, reason: 'not now' });
    assert.deepEqual(await shown(id), before);

    const again = Number(/^Request (\d+)/.exec((await call(owner.client.arrays, id)).message)?.[1]);
    await admin.client.arrayRequests.approve({ id: again, name: array });
    const isDone = async () => JSON.stringify(await shown(id)) !== JSON.stringify(before);
    await until(isDone, `${kind} is done`);
    if (kind === 'delete_array') await portal.until(id, 'deleted');
  });
}

test("what is the owner's own affair needs no approval", async () => {
  const { id, name: array } = await portal.array(owner);
  await owner.client.arrays.addPublicIp({ array_id: id });
  await owner.client.arrays.disableDataReduction({ array_id: id });
  const { public_ip: isPublic, data_reduction: reduces } = cloud.specOf(array);
  assert.deepEqual([isPublic, reduces], [true, false]);
  const { data } = await owner.client.arrayRequests.list({ status: 'pending' });
  assert.deepEqual(
    data.filter((request) => request.array_id === id),
    [],
  );
});

test('an ordinary user joins a virtual network once an administrator approves, and gets its address then', async () => {
  const { id, name: array } = await portal.array(owner);
  const network = await portal.network(owner);
  const join = () => owner.client.arrays.addInterface({ array_id: id, virtual_network_id: network });
  const { message } = await join();
  assert.match(message, /^Request \d+ was submitted and waits for an administrator's approval\.$/);
  await refused(join(), 409, /waits for an administrator already/);
  const addresses = () =>
    portal.store.read((db) => db.all('SELECT id FROM interfaces WHERE array_id = :id', { id })).length;
  assert.deepEqual([cloud.specOf(array).interfaces, addresses()], [[], 0]);
  const { data: requests } = await owner.client.arrayRequests.list({ status: 'pending' });
  const [request] = requests.filter((one) => one.array_id === id);
  assert.deepEqual([request?.kind, request?.arguments['virtual_network_id']], ['join_network', network]);
  await refused(owner.client.arrayRequests.approve({ id: request?.id ?? 0, name: array }), 403, /role admin/);
  await admin.client.arrayRequests.approve({ id: request?.id ?? 0, name: array });
  await until(async () => (await shown(id)).virtual_network_interfaces.length === 1, 'it joined');
  assert.equal(cloud.specOf(array).interfaces.length, 1);
});

test('a change that the cloud refuses changes nothing, and its reason is shown and kept', async () => {
  const { id } = await portal.array(friend);
  const before = await shown(id);
  const network = await portal.network(friend);
  const taken = () =>
    portal.store.read((db) => db.all('SELECT id FROM interfaces WHERE virtual_network_id = :network', { network }))
      .length;
  cloud.refusal = 'No rack has room.';
  try {
    const drives = friend.client.arrays.addDrives({ array_id: id, drives: { SSD_10GB: 2 } });
    await refused(drives, 409, /Adding 2 × SSD_10GB failed: No rack has room\./);
    const joining = friend.client.arrays.addInterface({ array_id: id, virtual_network_id: network });
    await refused(joining, 409, /Adding a network interface failed: No rack has room\./);
  } finally {
    cloud.refusal = undefined;
  }
  const after = await shown(id);
  assert.match(String(after.status_message), /failed: No rack has room/);
  assert.deepEqual({ ...after, status_message: null }, before);
  assert.equal(taken(), 0, 'the address was given back');
  await friend.client.arrays.addDrives({ array_id: id, drives: { SSD_10GB: 2 } });
  assert.equal((await shown(id)).status_message, null);
});

test('changes that come at the same time are all made, one after the other', async () => {
  const { id } = await portal.array(friend);
  await Promise.all([
    friend.client.arrays.addDrives({ array_id: id, drives: { SSD_10GB: 1 } }),
    friend.client.arrays.addDrives({ array_id: id, drives: { SSD_10GB: 2 } }),
    friend.client.arrays.setCache({ array_id: id, flash_cache_capacity: 200 }),
    friend.client.arrays.addPublicIp({ array_id: id }),
  ]);
  const { drives, cache } = await shown(id);
  assert.deepEqual([drives, cache.extra_gb], [{ SSD_10GB: 5 }, 200]);
});

test('changes that together are too much: those that fit are made, the rest are refused', async () => {
  const { id } = await portal.array(friend);
  const adding = Array.from({ length: 5 }, () =>
    friend.client.arrays.addDrives({ array_id: id, drives: { SSD_10GB: 8 } }),
  );
  const results = await Promise.allSettled(adding);
  const made = results.filter(({ status }) => status === 'fulfilled').length;
  assert.equal(made, 2);
  assert.deepEqual((await shown(id)).drives, { SSD_10GB: 2 + made * 8 });
});

test('an array gives its drives, addresses and public address back when it is deleted', async () => {
  const before = await free('SSD_100GB');
  const { id, name: array } = await portal.array(friend, { drives: { SSD_100GB: 4 } });
  const network = await portal.network(friend);
  await friend.client.arrays.addInterface({ array_id: id, virtual_network_id: network });
  await friend.client.arrays.addPublicIp({ array_id: id });
  assert.equal(await free('SSD_100GB'), before - 4);
  await friend.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
  assert.equal(await free('SSD_100GB'), before);
  const deleted = await shown(id);
  assert.deepEqual([deleted.management_url, deleted.ip_address, deleted.virtual_network_interfaces], [null, null, []]);
  assert.ok(![...cloud.hosted.values()].some(({ spec }) => spec.name === array));
  const vlan = (await friend.client.virtualNetworks.list()).data.find((one) => one.id === network)!.vlan_id;
  await friend.client.virtualNetworks.delete({ id: network, provider_id: 1, vlan });
});

test('another user learns nothing of an array, whatever the request', async () => {
  const { id, name: array } = await portal.array(friend);
  const before = await shown(id);
  const { arrays } = otherUser.client;
  const calls: readonly (() => Promise<unknown>)[] = [
    ...[...ofBlock, ...ofObjects].map(
      ([, call]) =>
        () =>
          call(arrays, id),
    ),
    () => arrays.hibernate({ array_id: id }),
    () => arrays.restore({ array_id: id }),
    () => arrays.delete({ array_id: id }),
  ];
  for (const call of calls) {
    const { message } = await refused(call(), 404, new RegExp(`^There is no array ${id}\\.$`));
    assert.ok(!message.includes(array));
  }
  assert.deepEqual(await shown(id), before);
});

test('in a network of both families an array has an address of each, with the gateways of its zone', async () => {
  const network = await portal.network(friend, {
    name: name('both'),
    gateway_zone_1: undefined,
    ipv6_cidr: 'fd00:b07::/64',
    ipv6_gateway: 'fd00:b07::1',
    ipv6_gateway_zone_1: 'fd00:b07::2',
  });
  const addressOf = async (zone: string) => {
    const { id, name: array } = await portal.array(friend, { allocation_zone: zone, custom_network_id: network });
    const [one] = (await shown(id)).virtual_network_interfaces;
    assert.ok(one);
    const [sent] = cloud.specOf(array).interfaces;
    assert.deepEqual([sent?.address, sent?.ipv6?.address], [one.ip_address, one.ipv6_address]);
    assert.deepEqual(sent?.ipv6, {
      address: one.ipv6_address,
      netmask: 'ffff:ffff:ffff:ffff::',
      gateway: 'fd00:b07::1',
      gateway_zone_1: 'fd00:b07::2',
    });
    return [one.ipv6_address, one.ipv6_netmask, one.ipv6_gateway];
  };
  assert.deepEqual(await addressOf('zone_0'), ['fd00:b07::3', 'ffff:ffff:ffff:ffff::', 'fd00:b07::1']);
  assert.deepEqual(await addressOf('zone_1'), ['fd00:b07::4', 'ffff:ffff:ffff:ffff::', 'fd00:b07::2']);
});
