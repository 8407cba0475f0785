import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startFakeCloud, testInventory } from '../testing/fake-cloud.ts';
import { blockOrder, objectOrder, refused, startTestPortal, type Order, type Person } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner, friend, otherUser, name, cloud } = portal;

const create = ({ client }: Person, changes: Partial<Order>) =>
  client.arrays.create({ ...blockOrder, name: name('tank'), ...changes });
const createObject = ({ client }: Person, changes: Partial<Order>) =>
  client.arrays.create({ ...objectOrder, name: name('bucket'), ...changes });

/** The one request about an array of that name. */
async function requestFor({ client }: Person, array: string) {
  const { data } = await client.arrayRequests.list();
  const [request, ...others] = data.filter((one) => one.name === array);
  assert.ok(request && others.length === 0, `one request for ${array}`);
  return request;
}

const rules: readonly (readonly [string, Partial<Order>, string, RegExp])[] = [
  ['an unknown provider', { provider: 'nowhere' }, 'provider', /nowhere is not a provider you can order from/],
  ['no engine', { engine: undefined }, 'engine', /engine is required for a storage array/],
  ['an engine the cloud has not', { engine: 'engine_xl' }, 'engine', /must be one of engine_small, engine_medium/],
  ['an app engine the cloud has not', { app_engine: 'app_xl' }, 'app_engine', /must be one of app_small/],
  ['a drive type the cloud has not', { drives: { NVME: 2 } }, 'drives', /names NVME, which is not one of SSD_10GB/],
  ['a drive type named like a property', { drives: { constructor: 2 } }, 'drives', /names constructor/],
  ['too few drives', { drives: { SSD_10GB: 1 } }, 'drives', /must be at least 2 drives in all, not 1/],
  [
    'more drives than the engine takes',
    { engine: 'engine_small', drives: { SSD_10GB: 5, SSD_100GB: 4 } },
    'drives',
    /are 9 in all; engine engine_small takes at most 8/,
  ],
  ['cache between the steps', { flash_cache_capacity: 150 }, 'flash_cache_capacity', /must be a multiple of 200 GiB/],
  [
    'more cache than the engine takes',
    { engine: 'engine_small', flash_cache_capacity: 400 },
    'flash_cache_capacity',
    /is 400 GiB; engine engine_small takes at most 380 GiB/,
  ],
  [
    'a zone the cloud has not',
    { allocation_zone: 'zone_9' },
    'allocation_zone',
    /must be one of zone_0, zone_1, zone_2/,
  ],
  ['an unknown network', { custom_network_id: 99_999 }, 'custom_network_id', /must be a virtual network of/],
  ['Fibre Channel at a cloud without', { fibre_channel: 'YES' }, 'fibre_channel', /is not offered by this cloud/],
  ['a suite that is not sold apart', { enterprise_suite: 'NO' }, 'enterprise_suite', /every array has all features/],
  [
    'mirrored pairs of single drives',
    { create_raid_10_pools: true, drives: { SSD_10GB: 1, SSD_100GB: 1 } },
    'create_raid_10_pools',
    /needs two drives of one type/,
  ],
  [
    'the policy of object storage',
    { array_zone_group_storage_policy_type_id: 1 },
    'array_zone_group_storage_policy_type_id',
    /is for object storage; leave it out/,
  ],
  ['a profile of object storage', { storage_profile: 'x' }, 'storage_profile', /is for object storage/],
  ['a VLAN the owner has no network on', { vlan_id: 4000 }, 'vlan_id', /must be a VLAN that a virtual network of/],
];

for (const [what, changes, field, message] of rules) {
  test(`an order with ${what} is refused by name, and nothing is kept of it`, async () => {
    await portal.rest();
    const before = portal.dump();
    for (const person of [owner, friend, admin]) {
      const { problems } = await refused(create(person, changes), 400, message);
      assert.deepEqual(
        problems.map((problem) => problem.field),
        [field],
      );
    }
    assert.deepEqual(portal.dump(), before);
  });
}

const objectRules: readonly (readonly [string, Partial<Order>, string, RegExp])[] = [
  [
    'a second target',
    { iscsi_dual_target_mode_enabled: '1' },
    'iscsi_dual_target_mode_enabled',
    /is for storage arrays/,
  ],
  ['Fibre Channel', { fibre_channel: '1' }, 'fibre_channel', /is for storage arrays/],
  ['file lifecycle', { flc_enabled: '1' }, 'flc_enabled', /is for storage arrays/],
  ['mirrored pairs', { create_raid_10_pools: true }, 'create_raid_10_pools', /is for storage arrays/],
  ['two drive types', { drives: { SSD_10GB: 2, SSD_100GB: 2 } }, 'drives', /must be of one type/],
  ['too few drives', { drives: { HDD_1000GB: 1 } }, 'drives', /too few for any storage policy type/],
  [
    'too few drives for the policy type it names',
    { drives: { HDD_1000GB: 5 }, array_zone_group_storage_policy_type_id: 2 },
    'drives',
    /must be at least 6 for a storage policy of type erasure 4\+2/,
  ],
  [
    'a policy type the cloud has not',
    { array_zone_group_storage_policy_type_id: 9 },
    'array_zone_group_storage_policy_type_id',
    /must be one of 1, 2/,
  ],
  ['cache', { flash_cache_capacity: 200 }, 'flash_cache_capacity', /is not offered here/],
];

for (const [what, changes, field, message] of objectRules) {
  test(`an order of object storage with ${what} is refused by name`, async () => {
    const { problems } = await refused(createObject(friend, changes), 400, message);
    assert.deepEqual(
      problems.map((problem) => problem.field),
      [field],
    );
  });
}

test('every problem of an order is reported at once', async () => {
  const wrong = { engine: 'engine_xl', drives: { NVME: 2 }, allocation_zone: 'zone_9' };
  const { problems } = await refused(create(friend, wrong), 400, /engine must be one of.*drives names NVME/);
  assert.deepEqual(problems.map(({ field }) => field).sort(), ['allocation_zone', 'drives', 'engine']);
});

test('an order for more drives than the cloud has free is refused with how many there are', async () => {
  const drives = { SSD_100GB: 601 };
  await refused(
    createObject(friend, { drives }),
    409,
    /Only 600 drives of type SSD_100GB are free; 601 were asked for/,
  );
  const inZone = { drives: { SSD_100GB: 201 }, allocation_zone: 'zone_1' };
  await refused(createObject(friend, inZone), 409, /Only 200 drives of type SSD_100GB are free in zone_1; 201 were/);
});

test('a block array needs one zone that has all its drives', async (t) => {
  const scarce = {
    ...testInventory,
    drive_types: testInventory.drive_types.map((type) => ({
      ...type,
      total: 9,
      free: 9,
      free_by_zone: { zone_0: 3, zone_1: 3, zone_2: 3 },
    })),
  };
  const uuid = '00000000-0000-4000-8000-0000000005ca';
  const small = await startFakeCloud({ uuid, inventory: scarce });
  t.after(() => small.stop());
  const place = { ip: small.address, admin_user: small.adminUser, admin_key: small.adminKey };
  const { data } = await admin.client.clouds.create({ name: 'small', ...place });
  await admin.client.providers.create({ name: 'small', key: 'small', cloud_id: data.cloud_id });
  const order = { provider: 'small', drives: { SSD_10GB: 4 } };
  await refused(create(friend, order), 409, /No single zone has enough free drives of every type/);
  await refused(create(friend, { ...order, drives: { SSD_10GB: 10 } }), 409, /Only 9 drives of type SSD_10GB are free/);
  await portal.array(friend, { provider: 'small', drives: { SSD_10GB: 3 }, allocation_zone: 'zone_0' });
  const gone = { ...order, drives: { SSD_10GB: 2 }, allocation_zone: 'zone_0' };
  await refused(create(friend, gone), 409, /Only 0 drives of type SSD_10GB are free in zone_0/);
});

test('a name is taken for its owner alone, until the array is deleted', async () => {
  const array = await portal.array(friend);
  await refused(create(friend, { name: array.name }), 409, new RegExp(`The name ${array.name} is taken`));
  await portal.array(admin, { name: array.name });
  await friend.client.arrays.delete({ array_id: array.id });
  await portal.until(array.id, 'deleted');
  const again = await portal.array(friend, { name: array.name });
  assert.notEqual(again.id, array.id);
});

test('two orders of one name at the same time make one array', async () => {
  const array = name('tank');
  const orders = Array.from({ length: 5 }, () => create(friend, { name: array }));
  const results = await Promise.allSettled(orders);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
  await portal.until(portal.idOf(friend, array), 'created');
});

test('an order that acts at once shows the array being created, then created with a place of its own', async () => {
  const array = name('tank');
  const { data } = await create(friend, { name: array, description: 'for the database', flash_cache_capacity: 400 });
  assert.deepEqual([data.status, data.description], ['creating', 'for the database']);
  assert.deepEqual([data.management_url, data.ip_address], [null, null]);
  assert.deepEqual(data.cache, {
    total_partitions: 21,
    total_gb: 420,
    gb_from_engine: 20,
    partitions_from_engine: 1,
  });
  const { id } = data;
  assert.equal(id, portal.idOf(friend, array), 'an order has its number at once');
  await portal.until(id, 'created');
  const { data: shown } = await friend.client.arrays.get({ array_id: id });
  assert.deepEqual([shown.id, shown.progress, shown.status_message], [id, 100, null]);
  assert.match(String(shown.management_url), /^http:\/\//);
  assert.match(String(shown.internal_name), /^vsa-[0-9a-f]{8}$/);
  assert.equal(shown.initial_passcode, data.initial_passcode);
  assert.deepEqual(shown.drives, { SSD_10GB: 2 });
  assert.deepEqual(shown.allocation_zones, ['zone_0']);
  assert.deepEqual(shown.cache, {
    extra_gb: 400,
    extra_partitions: 20,
    included_gb: 20,
    included_partitions: 1,
    total_gb: 420,
    total_partitions: 21,
    in_effect_gb: 400.5,
  });
});

test('what the array is to be reaches the cloud whole', async () => {
  const { name: array, id } = await portal.array(friend, {
    app_engine: 'app_small',
    allocation_zone: 'zone_2',
    drives: { SSD_10GB: 2, SSD_100GB: 3 },
    flash_cache_capacity: 200,
    flc_enabled: 'NO',
    create_raid_10_pools: true,
  });
  const { initial_passcode: passcode, internal_key: key, owner_uuid: ownerUuid, ...spec } = cloud.specOf(array);
  const { data } = await friend.client.arrays.get({ array_id: id });
  assert.equal(passcode, data.initial_passcode);
  assert.ok(key.length >= 20);
  assert.match(ownerUuid ?? '', /^[0-9a-f]{32}$/);
  assert.deepEqual(spec, {
    product: 'storage_array',
    name: array,
    owner: 'friend',
    owner_id: friend.id,
    provider: data.provider.name,
    zone: 'zone_2',
    engine: 'engine_medium',
    app_engine: 'app_small',
    extra_cache_gb: 200,
    drives: { SSD_10GB: 2, SSD_100GB: 3 },
    drives_returned: {},
    policy_drives_returned: {},
    proxies_returned: 0,
    policies: [],
    proxy_zones: [],
    public_ip: false,
    interfaces: [],
    // Any value asks for a feature.
    fibre_channel: false,
    file_lifecycle: true,
    iscsi_dual_target: false,
    locked_down: false,
    data_reduction: true,
    raid_10_pools: true,
  });
});

test('an order that names no app engine gets the default of the cloud, and pools only when it asks for them', async () => {
  const { id, name: array } = await portal.array(friend);
  const { app_engine: key, raid_10_pools: pools } = cloud.specOf(array);
  assert.deepEqual([key, pools], ['app_small', false]);
  assert.equal((await friend.client.arrays.get({ array_id: id })).data.app_engine?.key, 'app_small');
});

test('a feature is on with any value and off without one', async () => {
  const on = await portal.array(friend, { flc_enabled: 'false', iscsi_dual_target_mode_enabled: '0' });
  const off = await portal.array(friend);
  const { data: shownOn } = await friend.client.arrays.get({ array_id: on.id });
  const { data: shownOff } = await friend.client.arrays.get({ array_id: off.id });
  assert.deepEqual([shownOn.flc_enabled, shownOn.iscsi_dual_target_mode_enabled], [true, true]);
  assert.deepEqual([shownOff.flc_enabled, shownOff.iscsi_dual_target_mode_enabled], [false, false]);
});

test('data reduction is for flash arrays that do not decline it', async () => {
  const flash = await portal.array(friend);
  const declined = await portal.array(friend, { data_reduction_bundle: false });
  const spinning = await portal.array(friend, { drives: { SSD_10GB: 2, HDD_1000GB: 2 } });
  const reduces = [flash, declined, spinning].map((array) => cloud.specOf(array.name).data_reduction);
  assert.deepEqual(reduces, [true, false, false]);
});

const orderers: readonly (readonly [string, Person, boolean | undefined, boolean])[] = [
  ['an administrator', admin, false, true],
  ['an administrator', admin, true, false],
  ['an auto-approved user', friend, false, true],
  ['an auto-approved user', friend, true, false],
  ['an ordinary user', owner, false, false],
  ['an ordinary user', owner, true, false],
  ['an administrator', admin, undefined, true],
  ['an auto-approved user', friend, undefined, true],
  ['an ordinary user', owner, undefined, false],
];

for (const [who, person, moderate, actsAtOnce] of orderers) {
  test(`an order of ${who} with moderate=${moderate ?? 'absent'} ${actsAtOnce ? 'acts at once' : 'waits for approval'}`, async () => {
    const array = name('tank');
    const { data } = await create(person, { name: array, moderate });
    const request = await requestFor(person, array);
    const id = portal.idOf(person, array);
    assert.deepEqual([request.kind, request.array_id, request.user_id], ['create_array', id, person.id]);
    if (actsAtOnce) {
      assert.deepEqual([request.status, request.decided_by], ['approved', person.username]);
      await portal.until(id, 'created');
    } else {
      assert.deepEqual([request.status, request.decided_at, request.decided_by], ['pending', null, null]);
      assert.match(String(data.status_message), new RegExp(`approve request ${request.id}`));
      const { data: shown } = await person.client.arrays.get({ array_id: id });
      assert.deepEqual([shown.id, shown.status, shown.nova_id], [id, 'creating', null]);
      assert.ok(![...cloud.hosted.values()].some(({ spec }) => spec.name === array), 'the cloud has heard nothing');
      await person.client.arrays.delete({ array_id: id });
    }
  });
}

test('an order that is approved is carried out, and the request says who approved it', async () => {
  const array = name('tank');
  await create(owner, { name: array });
  const { id } = await requestFor(owner, array);
  await admin.client.arrayRequests.approve({ id, name: array });
  await portal.until(portal.idOf(owner, array), 'created');
  const decided = await requestFor(owner, array);
  assert.deepEqual([decided.status, decided.decided_by, decided.reason], ['approved', 'admin', null]);
  assert.match(String(decided.decided_at), /UTC$/);
});

test('an order may be approved under another name, which must be free', async () => {
  const [array, other] = [name('tank'), name('tank')];
  const taken = await portal.array(owner);
  await create(owner, { name: array });
  const { id } = await requestFor(owner, array);
  await refused(admin.client.arrayRequests.approve({ id, name: taken.name }), 409, /is taken/);
  assert.equal((await requestFor(owner, array)).status, 'pending');
  await admin.client.arrayRequests.approve({ id, name: other });
  const arrayId = portal.idOf(owner, other);
  await portal.until(arrayId, 'created');
  assert.equal((await owner.client.arrays.get({ array_id: arrayId })).data.name, other);
  assert.equal((await owner.client.arrayRequests.get({ id })).data.name, other);
  assert.equal(cloud.specOf(other).owner, 'owner');
});

test('an order that is denied has failed, with the reason, and can be removed', async () => {
  const array = name('tank');
  await create(owner, { name: array });
  const { id } = await requestFor(owner, array);
  await admin.client.arrayRequests.deny({ id, reason: 'out of budget' });
  const titles = (await admin.client.events.list({ kind: 'request' })).data.map(({ msg_title: title }) => title);
  assert.ok(titles.includes(`Request ${id} (create array ${array}) was denied by admin.`), titles[0]);
  const arrayId = portal.idOf(owner, array);
  const { data } = await owner.client.arrays.get({ array_id: arrayId });
  assert.deepEqual([data.id, data.status, data.nova_id], [arrayId, 'failed', null]);
  assert.equal(data.status_message, `Request ${id} was denied: out of budget`);
  await refused(
    owner.client.arrays.restore({ array_id: arrayId }),
    409,
    /was never placed; delete it and order it again/,
  );
  await owner.client.arrays.delete({ array_id: arrayId });
  await portal.until(arrayId, 'deleted');
  assert.equal((await owner.client.arrays.list({ name: array })).data.length, 0);
  await create(owner, { name: array });
});

test('an order that waits is withdrawn by its owner at once, and its request with it', async () => {
  const array = name('tank');
  await create(owner, { name: array });
  const { id } = await requestFor(owner, array);
  const arrayId = portal.idOf(owner, array);
  await owner.client.arrays.delete({ array_id: arrayId });
  assert.equal((await owner.client.arrays.get({ array_id: arrayId })).data.status, 'deleted');
  const { data } = await owner.client.arrayRequests.get({ id });
  assert.deepEqual([data.status, data.decided_by], ['denied', 'owner']);
  assert.match(String(data.reason), /withdrawn/);
  await refused(admin.client.arrayRequests.approve({ id, name: array }), 409, /was denied already/);
});

test('an order is not approved once the drives are gone, and it goes on waiting', async (t) => {
  const scarce = {
    ...testInventory,
    drive_types: testInventory.drive_types.map((type) => ({
      ...type,
      total: 4,
      free: 4,
      free_by_zone: { zone_0: 4, zone_1: 0, zone_2: 0 },
    })),
  };
  const tight = await startFakeCloud({ uuid: '00000000-0000-4000-8000-0000000005cb', inventory: scarce });
  t.after(() => tight.stop());
  const place = { ip: tight.address, admin_user: tight.adminUser, admin_key: tight.adminKey };
  const { data } = await admin.client.clouds.create({ name: 'tight', ...place });
  await admin.client.providers.create({ name: 'tight', key: 'tight', cloud_id: data.cloud_id });
  const array = name('tank');
  await create(owner, { name: array, provider: 'tight', drives: { SSD_10GB: 3 } });
  const first = await portal.array(friend, { provider: 'tight', drives: { SSD_10GB: 2 } });
  const { id } = await requestFor(owner, array);
  await refused(
    admin.client.arrayRequests.approve({ id, name: array }),
    409,
    /Only 2 drives of type SSD_10GB are free/,
  );
  assert.equal((await requestFor(owner, array)).status, 'pending');
  await friend.client.arrays.delete({ array_id: first.id });
  await portal.until(first.id, 'deleted');
  await admin.client.arrayRequests.approve({ id, name: array });
  await portal.until(portal.idOf(owner, array), 'created');
});

test('a user with one network joins it without being asked; with several, the one that is named', async () => {
  const joiner = await newUser();
  const only = await portal.network(joiner);
  const first = await portal.array(joiner);
  assert.deepEqual(await networksOf(joiner, first.id), [only]);
  const second = await portal.network(joiner);
  const none = await portal.array(joiner);
  assert.deepEqual(await networksOf(joiner, none.id), []);
  const named = await portal.array(joiner, { custom_network_id: second });
  assert.deepEqual(await networksOf(joiner, named.id), [second]);
  const [shown] = (await joiner.client.arrays.get({ array_id: named.id })).data.virtual_network_interfaces;
  assert.deepEqual(
    cloud.specOf(named.name).interfaces.map(({ id, address }) => [id, address]),
    [[shown?.id, shown?.ip_address]],
  );
});

test('a network of another user is not joined', async () => {
  const theirs = await portal.network(otherUser);
  const { problems } = await refused(
    create(friend, { custom_network_id: theirs }),
    400,
    /must be a virtual network of/,
  );
  assert.deepEqual(
    problems.map(({ field }) => field),
    ['custom_network_id'],
  );
});

test('an order that waits takes no address; one that is approved does', async () => {
  const joiner = await newUser(false);
  const only = await portal.network(joiner);
  const addresses = () =>
    portal.store.read((db) => db.all('SELECT address FROM interfaces WHERE virtual_network_id = :only', { only }))
      .length;
  const array = name('tank');
  await create(joiner, { name: array });
  assert.equal(addresses(), 0);
  await admin.client.arrayRequests.approve({ id: (await requestFor(joiner, array)).id, name: array });
  assert.equal(addresses(), 1);
  const id = portal.idOf(joiner, array);
  await portal.until(id, 'created');
  assert.deepEqual(await networksOf(joiner, id), [only]);
});

test('object storage is ordered with its policy type under either of its names', async () => {
  const drives = { HDD_1000GB: 6 };
  const body = { ...objectOrder, drives };
  for (const parameter of ['array_zone_group_storage_policy_type_id', 'vpsa_zone_group_storage_policy_type_id']) {
    const array = name('bucket');
    const order = { ...body, name: array, [parameter]: 2, storage_profile: 'archive' };
    const { status, text } = await portal.send(friend, { method: 'POST', path: '/api/arrays', body: order });
    assert.equal(status, 200, text);
    const id = portal.idOf(friend, array);
    await portal.until(id, 'created');
    const { data } = await friend.client.arrays.get({ array_id: id });
    assert.deepEqual(data.storage_policies, [
      {
        display_name: 'archive',
        policy_name: 'archive',
        replicas: 0,
        sp_type_id: 2,
        storage_policy_type: 'erasure 4+2',
        data_fragments: 4,
        parity_fragments: 2,
      },
    ]);
    assert.deepEqual(cloud.specOf(array).policies, [{ name: 'archive', type_id: 2, drives }]);
  }
});

test('object storage without a policy type gets the first that its drives allow, and has no engine', async () => {
  const { id, name: array } = await portal.objectArray(friend, { engine: 'engine_small' });
  const { data } = await friend.client.arrays.get({ array_id: id });
  assert.deepEqual([data.product, data.engine, data.app_engine], ['object_storage', null, null]);
  assert.deepEqual(
    data.storage_policies?.map(({ policy_name: policy }) => policy),
    ['2-way'],
  );
  assert.deepEqual([data.proxy_virtual_controllers, data.public_objs], [0, null]);
  assert.equal(cloud.specOf(array).data_reduction, false);
});

test('an order works as a form and as XML, as clients send it', async () => {
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const form = name('tank');
  const body = `name=${form}&moderate=NO&provider=local&engine=engine_small&drives=${encodeURIComponent('{"SSD_10GB":2}')}`;
  const first = await portal.send(friend, { method: 'POST', path: '/api/arrays', headers, body });
  assert.equal(first.status, 200, first.text);
  await portal.until(portal.idOf(friend, form), 'created');
  const xml = name('tank');
  const second = await portal.send(friend, {
    method: 'POST',
    path: '/api/v2/arrays.xml',
    headers: { 'content-type': 'application/xml' },
    body: `<array><name>${xml}</name><moderate>false</moderate><provider>local</provider><engine>engine_small</engine>
      <drives><SSD-10GB>2</SSD-10GB></drives></array>`,
  });
  assert.equal(second.status, 200, second.text);
  assert.match(second.text, /^<\?xml.*<hash><data><id type="integer">\d+<\/id>/s);
  await portal.until(portal.idOf(friend, xml), 'created');
});

test('a list is filtered by state and name, comes in pages, and shows deleted arrays only when asked to', async () => {
  const lister = await newUser();
  const arrays = [await portal.array(lister), await portal.array(lister), await portal.array(lister)];
  const [first, second] = arrays as [{ id: number; name: string }, { id: number; name: string }];
  await lister.client.arrays.delete({ array_id: first.id });
  await portal.until(first.id, 'deleted');
  const names = async (filter: Parameters<typeof lister.client.arrays.list>[0]) =>
    (await lister.client.arrays.list(filter)).data.map((array) => array.name);
  assert.deepEqual(
    await names({}),
    arrays.slice(1).map((array) => array.name),
  );
  assert.deepEqual(await names({ status: 'deleted' }), [first.name]);
  assert.deepEqual(await names({ name: second.name }), [second.name]);
  assert.deepEqual(await names({ start: 1, limit: 1 }), [arrays[2]?.name]);
  const { headers } = await portal.send(lister, { method: 'GET', path: '/api/arrays?limit=1' });
  assert.equal(Number(headers['x-total-count']), 2);
});

async function newUser(autoApproved = true): Promise<Person> {
  const user = { username: name('user'), password: 'correct horse battery', auto_approved: autoApproved };
  await admin.client.users.create(user);
  return portal.person(user.username, user.password);
}

async function networksOf({ client }: Person, id: number): Promise<number[]> {
  const { data } = await client.arrays.get({ array_id: id });
  return data.virtual_network_interfaces.map(({ virtual_network_id: network }) => network);
}
