import assert from 'node:assert/strict';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { awakeMs } from '../../testing/timing.ts';
import { startFakeCloud, testInventory } from '../testing/fake-cloud.ts';
import { refused, startTestPortal } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner, cloud, name } = portal;
const ANSWER_MS_MAX = 5000;
let uuids = 0;

/** Another cloud, which stops with the test file. */
async function anotherCloud(inventory = testInventory) {
  const uuid = `00000000-0000-4000-8000-${String(++uuids).padStart(12, '0')}`;
  const other = await startFakeCloud({ uuid, adminKey: `key-of-${uuids}`, inventory });
  portal.onStop(() => other.stop());
  return { other, place: { ip: other.address, admin_user: other.adminUser, admin_key: other.adminKey } };
}

async function register(changes: { enabled?: boolean } = {}) {
  const { other, place } = await anotherCloud();
  const registration = { name: name('cloud'), ...place, ...changes };
  const { data } = await admin.client.clouds.create(registration);
  return { id: data.cloud_id, other, registration };
}

/** A server that accepts connections and sends what the test says, or nothing. */
async function listen(answer?: string): Promise<string> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    if (answer !== undefined) socket.end(answer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  portal.onStop(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function deadAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `127.0.0.1:${port}`;
}

const html = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n\r\n<html></html>';
const json =
  'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{"status":"success","data":{}}';
const bad: readonly (readonly [string, () => Promise<string>, number, RegExp])[] = [
  ['a port where nothing listens', deadAddress, 422, /No cloud answered at 127\.0\.0\.1:\d+: .*ECONNREFUSED/],
  ['a server that never answers', () => listen(), 422, /No cloud answered at .*: .*too long/],
  ['a server that hangs up', () => listen(''), 422, /No cloud answered at/],
  ['a web server', () => listen(html), 422, /No cloud answered at .*is this the address of a Granary service/],
  ['a service with another inventory', () => listen(json), 422, /No cloud answered at/],
  ['a name that does not exist', async () => 'no-such-host.invalid:7401', 422, /No cloud answered at no-such-host/],
  ['the metadata service of a machine', async () => '169.254.169.254', 400, /does not connect to 169\.254\.169\.254/],
  [
    'a link-local address',
    async () => '169.254.1.1:80',
    400,
    /link-local, reserved and metadata addresses are refused/,
  ],
  ['a link-local address of IPv6', async () => '[fe80::1]:7401', 400, /link-local/],
  ['the metadata service inside IPv6', async () => '[::ffff:169.254.169.254]:80', 400, /link-local/],
  ['the metadata service as one number', async () => '2852039166', 400, /link-local|ip must be/],
  ['a multicast address', async () => '224.0.0.1', 400, /refused/],
  ['every address at once', async () => '0.0.0.0:7401', 400, /refused/],
  ['an address with a path', async () => '127.0.0.1:7401/api', 400, /ip must be an address/],
  ['a URL', async () => 'http://127.0.0.1:7401', 400, /ip must be an address/],
  ['a user before an at', async () => 'user@127.0.0.1:7401', 400, /ip must be an address/],
  ['a port that cannot be', async () => '127.0.0.1:99999', 400, /ip must be an address/],
];

for (const [what, address, status, message] of bad) {
  test(`${what} is refused within five seconds, and nothing is stored`, async () => {
    await portal.rest();
    const before = portal.dump();
    const ip = await address();
    const registration = { name: name('cloud'), ip, admin_user: 'cloud', admin_key: 'key' };
    for (const call of [admin.client.clouds.create, admin.client.clouds.update]) {
      const ms = await awakeMs(() => refused(call({ id: 1, ...registration }), status, message));
      assert.ok(ms < ANSWER_MS_MAX, `${ms} ms`);
    }
    assert.deepEqual(portal.dump(), before);
  });
}

test('a wrong key or user is refused with what to check, and nothing is stored', async () => {
  const { place } = await anotherCloud();
  await portal.rest();
  const before = portal.dump();
  for (const wrong of [{ admin_key: 'wrong' }, { admin_user: 'wrong' }]) {
    const registration = { name: name('cloud'), ...place, ...wrong };
    const { message } = await refused(admin.client.clouds.create(registration), 422, /refused the credentials; check/);
    assert.doesNotMatch(message, /key-of-/);
  }
  assert.deepEqual(portal.dump(), before);
  await admin.client.clouds.create({ name: name('cloud'), ...place });
});

test('a cloud that is registered is shown with its inventory, to users as well', async () => {
  const { id, registration } = await register();
  const { data } = await owner.client.clouds.get({ id });
  assert.equal(data.name, registration.name);
  assert.equal(data.enabled, 'true');
  assert.deepEqual(
    data.drive_types.map(({ key }) => key),
    ['SSD_10GB', 'SSD_100GB', 'HDD_1000GB'],
  );
  assert.deepEqual(data.zones[0], { allocation_zone_disp_name: 'Zone 0', allocation_zone_name: 'zone_0' });
  const listed = (await owner.client.clouds.list()).data.find((one) => one.id === String(id));
  assert.deepEqual(listed, data);
});

test('no reply about a cloud carries its address, its administrator or the key', async () => {
  const { id, registration } = await register();
  const { text } = await portal.send(admin, { method: 'GET', path: `/api/clouds/${id}` });
  for (const secret of [registration.ip, registration.admin_key]) assert.ok(!text.includes(secret));
});

test('the same cloud is not registered twice, under whatever name', async () => {
  const { registration } = await register();
  const again = { ...registration, name: name('cloud') };
  await refused(admin.client.clouds.create(again), 409, new RegExp(`it is registered as ${registration.name}`));
  const { id } = await register();
  await refused(admin.client.clouds.update({ id, ...again }), 409, /it is registered as/);
});

test('a cloud of another portal is refused with the way to move it, and nothing is stored; then it is moved', async () => {
  const { id, registration: mine } = await register();
  const { other, place } = await anotherCloud();
  other.owner = 'another one';
  await portal.rest();
  const before = portal.dump();
  const registration = { name: name('cloud'), ...place };
  const words = /belongs to another portal, another one\..*granary clouds adopt.*`granary clouds create --adopt`/;
  await refused(admin.client.clouds.create(registration), 409, words);
  await refused(admin.client.clouds.update({ id, ...mine, ...place }), 409, words);
  assert.deepEqual(portal.dump(), before);
  assert.equal(other.owner, 'another one');
  await admin.client.clouds.create({ ...registration, adopt: true });
  assert.notEqual(other.owner, 'another one');
});

test('a change moves a cloud of another portal to this one if that is asked for', async () => {
  const { id, registration } = await register();
  const { other, place } = await anotherCloud();
  other.owner = 'another one';
  await admin.client.clouds.update({ id, ...registration, ...place, adopt: true });
  assert.notEqual(other.owner, 'another one');
});

test('a change gives a cloud another name, and the one before is free again', async () => {
  const { id, registration } = await register();
  const called = name('cloud');
  await admin.client.clouds.update({ id, ...registration, name: called });
  assert.equal((await owner.client.clouds.get({ id })).data.name, called);
  const { place } = await anotherCloud();
  await admin.client.clouds.create({ name: registration.name, ...place });
  await refused(admin.client.clouds.update({ id, ...registration }), 409, /is taken/);
});

test('a change to a user or a key that the cloud does not know is refused, and nothing is stored', async () => {
  const { id, registration } = await register();
  await portal.rest();
  const before = portal.dump();
  for (const wrong of [{ admin_user: 'wrong' }, { admin_key: 'wrong' }])
    await refused(admin.client.clouds.update({ id, ...registration, ...wrong }), 422, /refused the credentials; check/);
  assert.deepEqual(portal.dump(), before);
  await admin.client.clouds.update({ id, ...registration });
});

test('a cloud that is not registered after all is not claimed', async () => {
  const { registration } = await register();
  const { other, place } = await anotherCloud();
  await refused(admin.client.clouds.create({ name: registration.name, ...place }), 409, /is taken/);
  assert.equal(other.owner, undefined);
});

test('a name that another cloud has is refused', async () => {
  const { registration } = await register();
  const { place } = await anotherCloud();
  await refused(admin.client.clouds.create({ name: registration.name, ...place }), 409, /is taken/);
});

test('a cloud that is disabled is invisible to users, with its drive types and its providers', async () => {
  const { id, registration } = await register();
  const key = name('seller');
  const { data } = await admin.client.providers.create({ name: key, key, cloud_id: id });
  assert.equal((await owner.client.providers.get({ id: data.provider_id })).data.key, key);
  await admin.client.clouds.update({ id, ...registration, enabled: false });
  assert.equal((await admin.client.clouds.get({ id })).data.enabled, 'false');
  await refused(owner.client.clouds.get({ id }), 404, /There is no cloud/);
  await refused(owner.client.driveTypes.list({ id }), 404, /There is no cloud/);
  await refused(owner.client.driveTypes.get({ cloud_id: id, drive_type_id: 1 }), 404, /There is no cloud/);
  await refused(owner.client.providers.get({ id: data.provider_id }), 404, /There is no provider/);
  assert.ok((await owner.client.clouds.list()).data.every((one) => one.id !== String(id)));
  assert.ok(!(`provider${data.provider_id}` in (await owner.client.pricing.get()).data.io_engines));
  const order = { name: name('tank'), moderate: true, provider: key, engine: 'engine_small', drives: { SSD_10GB: 2 } };
  const { problems } = await refused(owner.client.arrays.create(order), 400, /is not a provider you can order from/);
  assert.deepEqual(
    problems.map(({ field }) => field),
    ['provider'],
  );
});

test('a change without enabled leaves a disabled cloud disabled', async () => {
  const { id, registration } = await register({ enabled: false });
  await admin.client.clouds.update({ id, ...registration, enabled: undefined, name: name('cloud') });
  assert.equal((await admin.client.clouds.get({ id })).data.enabled, 'false');
});

test('a change reads the inventory again', async () => {
  const engines = testInventory.engine_types.map((engine) => ({ ...engine, specs: 'more of everything' }));
  const { id, other, registration } = await register();
  const port = Number(other.address.split(':')[1]);
  await other.stop();
  const uuid = `00000000-0000-4000-8000-${String(uuids).padStart(12, '0')}`;
  const inventory = { ...testInventory, engine_types: engines };
  const grown = await startFakeCloud({ port, uuid, adminKey: other.adminKey, inventory });
  portal.onStop(() => grown.stop());
  await admin.client.clouds.update({ id, ...registration });
  const { data } = await owner.client.clouds.get({ id });
  assert.deepEqual(new Set(data.engine_types.map(({ specs }) => specs)), new Set(['more of everything']));
});

test('a cloud that hosts arrays is not replaced by another one', async () => {
  const { id, registration } = await register();
  const key = name('seller');
  await admin.client.providers.create({ name: key, key, cloud_id: id });
  await portal.array(portal.friend, { provider: key });
  const { place } = await anotherCloud();
  await portal.rest();
  const before = portal.dump();
  await refused(admin.client.clouds.update({ id, ...registration, ...place }), 409, /hosts 1 arrays?; .*another cloud/);
  assert.deepEqual(portal.dump(), before);
});

test('a cloud that a provider sells cannot be deleted; one that no provider sells can', async () => {
  const { id, registration } = await register();
  const key = name('seller');
  const { data } = await admin.client.providers.create({ name: key, key, cloud_id: id });
  await refused(admin.client.clouds.delete({ id }), 409, new RegExp(`provider ${key} sells it; delete that first`));
  await admin.client.providers.delete({ id: data.provider_id });
  await admin.client.clouds.delete({ id });
  await refused(admin.client.clouds.get({ id }), 404, /There is no cloud/);
  await admin.client.clouds.create(registration);
});

test('a drive type is offered under the name, capacity and state the operator gives it', async () => {
  const { id } = await register();
  const type = { cloud_id: id, drive_type_id: 1 };
  const changed = await admin.client.driveTypes.update({ ...type, name: 'Small flash', display_capacity: 9 });
  const { data } = changed;
  assert.deepEqual([data.name, data.capacity_gb, data.display_capacity_gb, data.enabled], ['Small flash', 10, 9, true]);
  assert.match(changed.message, /SSD_10GB was updated/);
  const shown = (await owner.client.clouds.get({ id })).data.drive_types[0];
  assert.deepEqual([shown?.name, shown?.capacity_gb, shown?.key], ['Small flash', 9, 'SSD_10GB']);
  await admin.client.driveTypes.update({ ...type, name: 'Flash' });
  const { drive_type: kept } = await owner.client.driveTypes.get(type);
  assert.deepEqual([kept.name, kept.display_capacity_gb], ['Flash', 9]);
});

test('a drive type that is closed is hidden from users and cannot be ordered', async () => {
  const { id } = await register();
  const key = name('seller');
  await admin.client.providers.create({ name: key, key, cloud_id: id });
  await admin.client.driveTypes.update({ cloud_id: id, drive_type_id: 1, enabled: false });
  assert.ok((await owner.client.driveTypes.list({ id })).drive_types.every((type) => type.key !== 'SSD_10GB'));
  assert.equal((await admin.client.driveTypes.list({ id })).drive_types[0]?.enabled, false);
  await refused(owner.client.driveTypes.get({ cloud_id: id, drive_type_id: 1 }), 404, /There is no drive type 1/);
  assert.ok((await owner.client.clouds.get({ id })).data.drive_types.every((type) => type.key !== 'SSD_10GB'));
  const order = { name: name('tank'), moderate: false, provider: key, engine: 'engine_small', drives: { SSD_10GB: 2 } };
  await refused(admin.client.arrays.create(order), 400, /drives names SSD_10GB, which is not offered at present/);
  await admin.client.driveTypes.update({ cloud_id: id, drive_type_id: 1, enabled: true });
  assert.equal((await owner.client.driveTypes.get({ cloud_id: id, drive_type_id: 1 })).drive_type.enabled, true);
});

test('a drive type that is closed cannot be added to an array that exists', async () => {
  const { id } = await register();
  const key = name('seller');
  await admin.client.providers.create({ name: key, key, cloud_id: id });
  const array = await portal.array(admin, { provider: key });
  await admin.client.driveTypes.update({ cloud_id: id, drive_type_id: 2, enabled: false });
  const more = admin.client.arrays.addDrives({ array_id: array.id, drives: { SSD_100GB: 1 } });
  await refused(more, 400, /drives names SSD_100GB, which is not offered at present/);
});

test('a drive type no cloud has is not found', async () => {
  await refused(admin.client.driveTypes.update({ cloud_id: 1, drive_type_id: 99, name: 'x' }), 404, /drive type 99/);
  await refused(admin.client.driveTypes.update({ cloud_id: 99, drive_type_id: 1, name: 'x' }), 404, /cloud 99/);
});

test('at the next start the local cloud is found again at its new address, and no second one is made', async () => {
  assert.equal(cloud.address, portal.cloud.address);
  const before = (await admin.client.clouds.list()).data.filter(({ name: one }) => one === 'local');
  assert.equal(before.length, 1);
  const moved = await startFakeCloud();
  portal.onStop(() => moved.stop());
  const place = { name: 'local', ip: moved.address, admin_user: moved.adminUser, admin_key: moved.adminKey };
  const { id, isNew } = await portal.services.clouds.ensureLocal(place);
  assert.deepEqual([id, isNew], [1, false]);
});
