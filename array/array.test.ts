import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { operations } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { testDrive } from '../kernel/process/testing/configuration.ts';
import { servedOperations } from './index.ts';
import { testArray, type TestArray } from './testing/test-array.ts';

const { users, drives, controllers, messages } = arrayApi.groups;
const passcode = { user: 'dana', password: 'first passcode' };

function setUp(t: TestContext): Promise<TestArray> {
  return testArray(t, { drives: 2, driveGb: 10 });
}

test('the owner signs in with the passcode, by its alias too, and gets a key that opens the array', async (t) => {
  const { anybody, user } = await setUp(t);
  assert.deepEqual([user.username, user.role], ['dana', 'admin']);
  const aliased = { username: 'dana', password: 'first passcode' };
  const again = await anybody.call(users.login, aliased as never);
  assert.equal(again.user.access_key, user.access_key, 'signing in again keeps the key');
  for (const headers of [{ 'x-access-key': user.access_key }, { 'x-token': user.access_key }])
    assert.equal((await anybody.with(headers).call(drives.list, {})).count, 2);
  const inQuery = await anybody.call(drives.list, { access_key: user.access_key } as never);
  assert.equal(inQuery.count, 2);
});

test('a wrong password, a wrong key and no key are invalid credentials', async (t) => {
  const { anybody } = await setUp(t);
  const refusals = [
    await anybody.refused(users.login, { user: 'dana', password: 'wrong' }),
    await anybody.refused(users.login, { user: 'nobody', password: 'first passcode' }),
    await anybody.refused(drives.list, {}),
    await anybody.with({ 'x-access-key': 'wrong' }).refused(drives.list, {}),
  ];
  for (const { http, code, message } of refusals)
    assert.deepEqual([http, code, message], [200, 5, 'Invalid credentials.']);
});

test('many wrong passwords close the door for a while, and say for how long', async (t) => {
  const { anybody } = await setUp(t);
  const guesses = await Promise.all(
    Array.from({ length: 15 }, () => anybody.refused(users.login, { user: 'dana', password: 'guess' })),
  );
  assert.equal(guesses.filter(({ http }) => http === 200).length, 10);
  const refused = await anybody.refused(users.login, passcode);
  assert.deepEqual([refused.http, refused.code], [429, 9]);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});

test("the portal's internal key opens the array as an administrator", async (t) => {
  const { anybody, configuration } = await setUp(t);
  const portal = anybody.with({ 'x-access-key': configuration.internalKey });
  const { user, initial_password } = await portal.call(users.create, { username: 'jo' });
  assert.equal(user.role, 'user');
  const signedIn = await anybody.call(users.login, { user: 'jo', password: initial_password! });
  const jo = anybody.with({ 'x-access-key': signedIn.user.access_key });
  assert.equal((await jo.call(users.list, {})).count, 2);
  assert.equal((await jo.refused(users.create, { username: 'eve' })).code, 6);
  assert.equal((await portal.refused(users.create, { username: 'JO' })).code, 10096);
});

test('a new access key ends the old one at once', async (t) => {
  const { client, anybody } = await setUp(t);
  const { user } = await client.call(users.resetAccessKey, { name: 'dana' });
  assert.equal((await client.refused(drives.list, {})).code, 5);
  await anybody.with({ 'x-access-key': user.access_key }).call(drives.list, {});
  const { code } = await anybody
    .with({ 'x-access-key': user.access_key })
    .refused(users.resetAccessKey, { name: 'eve' });
  assert.equal(code, 10093);
});

test('drives have names from the shared sequence, keep them, and come and go while the array runs', async (t) => {
  const array = await setUp(t);
  const { client } = array;
  const { disks } = await client.call(drives.list, {});
  assert.deepEqual(
    disks.map(({ name }) => name),
    ['volume-00000001', 'volume-00000002'],
  );
  const { created_at, modified_at, ...first } = disks[0]!;
  assert.equal(created_at, modified_at);
  assert.deepEqual(first, {
    name: 'volume-00000001',
    display_name: 'ssd-1',
    disk_type: 'SSD',
    disk_uuid: testDrive(1).uuid,
    storage_node: 'node-1',
    vpartition_id: 1,
    raid_group_name: null,
    usage: 'Available',
    status: 'Available',
    capacity: 10,
    allocation_group: 'SSD_10GB',
    cache: 'NO',
    allocation_zone: 'zone_0',
    allocation_zone_display_name: 'Zone 0',
  });
  assert.deepEqual((await client.call(drives.get, { id: 'volume-00000002' })).disk, disks[1]);
  assert.equal((await client.refused(drives.get, { id: 'volume-00000009' })).code, 10082);
  await array.change({ drives: array.place([2, 3]) });
  const changed = await client.call(drives.listFree, { start: 1, limit: 5 });
  assert.deepEqual([changed.count, changed.disks.map(({ name }) => name)], [2, ['volume-00000003']]);
  await array.restart();
  const names = (await client.call(drives.list, {})).disks.map(({ name }) => name);
  assert.deepEqual(names, ['volume-00000002', 'volume-00000004'], 'a name is never used twice');
});

test('controllers show the CHAP secret that was made at the first start, and keep it', async (t) => {
  const array = await setUp(t);
  const { client, configuration } = array;
  const { vcontrollers, count } = await client.call(controllers.list, {});
  const controller = vcontrollers[0]!;
  assert.equal(count, 2);
  assert.equal(controller.name, 'vsa-00000001-vc-0');
  assert.equal(controller.state, 'active');
  assert.equal(controller.mgmt_ip, configuration.management.host);
  assert.equal(controller.cache_size, configuration.cacheGb);
  assert.match(controller.array_chap_secret, /^[A-Za-z0-9]{16}$/);
  await array.restart();
  const again = (await client.call(controllers.list, {})).vcontrollers[0]!;
  assert.equal(again.array_chap_secret, controller.array_chap_secret);
});

test('addresses come and go while the array runs; those the machine lacks are left out', async (t) => {
  const array = await setUp(t);
  const { client, configuration } = array;
  const neighbour = (last: number) => configuration.management.host.replace(/\d+$/, String(last));
  const network = { netmask: '255.255.255.0', gateway: null, vlanId: 7 };
  const interfaces = [
    { id: 1, address: neighbour(9), ...network },
    { id: 2, address: '192.0.2.77', ...network },
  ];
  await array.change({ publicAddress: neighbour(5), interfaces });
  const at = (host: string) =>
    fetch(`http://${host}:${configuration.management.port}/healthz`).then(
      ({ status }) => status,
      () => 0,
    );
  assert.deepEqual([await at(neighbour(5)), await at(neighbour(9))], [200, 200]);
  const { vnis } = await client.call(controllers.listVirtualNetworks, {});
  assert.deepEqual(
    vnis.map(({ ip, vlan_id, interface: name }) => [ip, vlan_id, name]),
    [
      [neighbour(9), 7, 'vni1'],
      ['192.0.2.77', 7, 'vni2'],
    ],
  );
  await array.change({});
  assert.deepEqual(
    [await at(neighbour(5)), await at(neighbour(9)), await at(configuration.management.host)],
    [0, 0, 200],
  );
});

test('what happened is in the messages, sorted and chosen as asked', async (t) => {
  const { client } = await setUp(t);
  const sort = [
    { property: 'msg_time' as const, direction: 'ASC' as const },
    { property: 'msg_id' as const, direction: 'ASC' as const },
  ];
  const { messages: all, count } = await client.call(messages.list, { sort });
  assert.equal(count, all.length);
  assert.deepEqual(
    // The engine's own events may come before or after those of the start.
    all.map(({ msg_title }) => msg_title.replace(/from .*/, '')).sort(),
    [
      'Controller vsa-00000001-vc-0 is active: the array started.',
      'Drives ssd-1 (volume-00000001) and ssd-2 (volume-00000002) were added.',
      'The array started.',
      'User dana signed in ',
    ],
  );
  const { messages: newest } = await client.call(messages.list, { limit: 1 });
  assert.equal(newest[0]?.msg_id, all.at(-1)?.msg_id);
  assert.equal((await client.call(messages.list, { severity: 3 })).count, 0);
  assert.equal((await client.call(messages.list, { attr_key: 'user' })).count, 1);
  assert.equal((await client.call(messages.list, { attr_key: 'user', attr_value: 'eve' })).count, 0);
  const kind = (value: string) => client.call(messages.list, { attr_key: 'kind', attr_value: value });
  assert.equal((await kind('user')).count, 1);
  assert.equal((await kind('login')).count, 0);
  assert.equal((await kind('all')).count, (await client.call(messages.list, {})).count);
  for (const attr_value of ['users', undefined])
    assert.match(
      (await client.refused(messages.list, { attr_key: 'kind', attr_value })).message,
      /attr_value must be a kind/,
    );
  assert.equal(
    (await client.refused(messages.list, { sort: [{ property: 'size' as never, direction: 'ASC' }] })).code,
    7,
  );
  const asXmlHasThem = [{ property: 'msg-time', direction: 'asc' }] as never;
  const { messages: oldestFirst } = await client.call(messages.list, { sort: asXmlHasThem });
  assert.equal(oldestFirst[0]?.msg_title, all[0]?.msg_title);
});

test('secrets are sealed in the database', async (t) => {
  const { user, configuration, client } = await setUp(t);
  const { vcontrollers } = await client.call(controllers.list, {});
  const files = ['array.db', 'array.db-wal']
    .map((name) => readFileSync(join(configuration.folder, name), 'latin1'))
    .join();
  for (const secret of [user.access_key, 'first passcode', vcontrollers[0]!.array_chap_secret])
    assert.ok(!files.includes(secret));
});

test('everything that the contract has is served', () => {
  const served = servedOperations();
  assert.deepEqual(
    operations(arrayApi).filter(({ id }) => !served.includes(id)),
    [],
  );
});
