import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { PortalClient } from '@granary/client';
import { until } from '../../testing/waiting.ts';
import { startFakeCloud, type FakeCloud } from '../testing/fake-cloud.ts';
import { blockOrder, refused, startTestPortal, type TestPortal } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { admin, owner, friend, name, cloud } = portal;
const shown = async (id: number, { client } = admin) => (await client.arrays.get({ array_id: id })).data;

type Arrays = PortalClient['arrays'];
type Act = (arrays: Arrays, id: number) => Promise<unknown>;

test('an array hibernates, keeps its data and place, and is restored', async () => {
  const { id, name: array } = await portal.array(friend);
  const before = await shown(id);
  const { message } = await friend.client.arrays.hibernate({ array_id: id });
  assert.match(message, /is being put into hibernating state/);
  await portal.until(id, 'hibernated');
  const uuid = [...cloud.hosted.values()].find(({ spec }) => spec.name === array)!.hosted;
  assert.deepEqual([uuid.desired, uuid.state], ['stopped', 'stopped']);
  const asleep = await shown(id);
  assert.deepEqual({ ...asleep, status: 'created' }, before);
  const { message: restored } = await friend.client.arrays.restore({ array_id: id });
  assert.match(restored, /is restoring/);
  await portal.until(id, 'created');
  assert.deepEqual(await shown(id), before);
});

test('a hibernated array can be deleted without being restored', async () => {
  const { id } = await portal.array(friend);
  await friend.client.arrays.hibernate({ array_id: id });
  await portal.until(id, 'hibernated');
  await friend.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
});

const changes: Readonly<Record<string, Act>> = {
  'an engine': (arrays, id) => arrays.setEngine({ array_id: id, engine: 'engine_small', app_engine: 'app_small' }),
  cache: (arrays, id) => arrays.setCache({ array_id: id, flash_cache_capacity: 200 }),
  drives: (arrays, id) => arrays.addDrives({ array_id: id, drives: { SSD_10GB: 2 } }),
  'a public address': (arrays, id) => arrays.addPublicIp({ array_id: id }),
  'a public address less': (arrays, id) => arrays.removePublicIp({ array_id: id }),
  'a network': (arrays, id) => arrays.addInterface({ array_id: id, virtual_network_id: 1 }),
  'a network less': (arrays, id) => arrays.removeInterface({ array_id: id, vni_ids: [1] }),
  'data reduction': (arrays, id) => arrays.enableDataReduction({ array_id: id }),
  'no data reduction': (arrays, id) => arrays.disableDataReduction({ array_id: id }),
};
const objectChanges: Readonly<Record<string, Act>> = {
  'a storage policy': (arrays, id) =>
    arrays.addStoragePolicy({ array_id: id, name: 'cold', storage_policy_type: 1, drives: { SSD_10GB: 2 } }),
  'a proxy controller': (arrays, id) => arrays.addProxyController({ array_id: id, allocation_zone_id: 0 }),
};

const hibernate: Act = (arrays, id) => arrays.hibernate({ array_id: id });
const restore: Act = (arrays, id) => arrays.restore({ array_id: id });
const remove: Act = (arrays, id) => arrays.delete({ array_id: id });

const isHosted = (array: string) => [...cloud.hosted.values()].some(({ spec }) => spec.name === array);

type State = 'creating' | 'created' | 'hibernated' | 'deleted' | 'waiting';

/** An array of an auto-approved user in that state. */
async function arrayIn(state: State, product: 'array' | 'objectArray' = 'array'): Promise<number> {
  if (state === 'waiting' || state === 'creating') {
    cloud.isSlow = state === 'creating';
    const array = name('tank');
    await friend.client.arrays.create({ ...blockOrder, name: array, moderate: state === 'waiting' });
    if (state === 'creating') await until(() => isHosted(array), 'it starts');
    cloud.isSlow = false;
    return portal.idOf(friend, array);
  }
  const { id } = await portal[product](friend);
  if (state === 'hibernated') await hibernate(friend.client.arrays, id);
  if (state === 'deleted') await remove(friend.client.arrays, id);
  await portal.until(id, state);
  return id;
}

async function refusedIn(state: State, act: Act, needed: RegExp, product?: 'array' | 'objectArray'): Promise<void> {
  const id = await portal.kept(`${state} ${product ?? 'array'}`, () => arrayIn(state, product));
  const { message } = await refused(act(friend.client.arrays, id), 409, needed);
  const word = state === 'waiting' ? 'creating' : state;
  assert.match(message, new RegExp(`^Array \\S+ is ${word}; `));
  assert.equal((await shown(id)).status, word);
}

for (const state of ['hibernated', 'deleted', 'waiting', 'creating'] as const) {
  for (const [what, act] of Object.entries(changes)) {
    test(`an array that is ${state} gets ${what} only once it is created, and the error says so`, () =>
      refusedIn(state, act, /; changing it needs it to be created\.$/));
  }
  test(`an array that is ${state} is hibernated only once it is created, and the error says so`, () =>
    refusedIn(state, hibernate, /; hibernating needs it to be created\.$/));
}

for (const [what, act] of Object.entries(objectChanges)) {
  test(`object storage that is hibernated gets ${what} only once it is created, and the error says so`, () =>
    refusedIn('hibernated', act, /; changing it needs it to be created\.$/, 'objectArray'));
}

for (const state of ['created', 'deleted', 'waiting', 'creating'] as const) {
  test(`an array that is ${state} is restored only when it hibernates or has failed, and the error says so`, () =>
    refusedIn(state, restore, /; restoring needs it to be hibernated or failed\.$/));
}

for (const state of ['deleted', 'creating'] as const) {
  test(`an array that is ${state} is not deleted, and the error says what to do first`, () =>
    refusedIn(state, remove, /; deleting needs it to be created(, | or )hibernated or failed\.$/));
}

test('a change that was asked for while the array was created is not made while it hibernates', async () => {
  const { id, name: array } = await portal.array(owner);
  const { message } = await owner.client.arrays.setCache({ array_id: id, flash_cache_capacity: 200 });
  const request = Number(/^Request (\d+)/.exec(message)?.[1]);
  await owner.client.arrays.hibernate({ array_id: id });
  await portal.until(id, 'hibernated');
  const approval = () => admin.client.arrayRequests.approve({ id: request, name: array });
  await refused(approval(), 409, /is hibernated; the change of cache to 200 GiB needs it to be created/);
  assert.equal((await admin.client.arrayRequests.get({ id: request })).data.status, 'pending');
  await owner.client.arrays.restore({ array_id: id });
  await portal.until(id, 'created');
  await approval();
  await until(async () => (await shown(id)).cache.extra_gb === 200, 'the cache has grown');
});

test('requests about an array that is deleted are denied with it', async () => {
  const { id } = await portal.array(owner);
  const { message } = await owner.client.arrays.setCache({ array_id: id, flash_cache_capacity: 200 });
  const request = Number(/^Request (\d+)/.exec(message)?.[1]);
  await admin.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
  const { data } = await owner.client.arrayRequests.get({ id: request });
  assert.deepEqual([data.status, data.reason], ['denied', 'the array was deleted']);
});

test('a placement the cloud refuses makes the array fail with the reason; it holds nothing and can be removed', async () => {
  const joiner = { username: name('user'), password: 'correct horse battery', auto_approved: true };
  await admin.client.users.create(joiner);
  const person = portal.person(joiner.username, joiner.password);
  const network = await portal.network(person);
  cloud.refusal = 'No rack has room.';
  const array = name('tank');
  await person.client.arrays.create({ ...blockOrder, name: array });
  const id = portal.idOf(person, array);
  await portal.until(id, 'failed');
  cloud.refusal = undefined;
  const { data } = await person.client.arrays.get({ array_id: id });
  assert.deepEqual([data.id, data.status_message, data.nova_id], [id, 'No rack has room.', null]);
  const held = portal.store.read((db) =>
    db.all('SELECT id FROM interfaces WHERE virtual_network_id = :network', { network }),
  );
  assert.deepEqual(held, []);
  await refused(person.client.arrays.restore({ array_id: id }), 409, /was never placed/);
  await person.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
});

test('drives the cloud gave in an answer that never came are taken into the record, and the array goes on', async () => {
  const { id, name: array } = await portal.array(friend);
  const entry = [...cloud.hosted.entries()].find(([, { spec }]) => spec.name === array);
  assert.ok(entry);
  const [uuid, { spec, hosted }] = entry;
  const extra = { ...hosted.drives[0]!, uuid: 'one more' };
  cloud.hosted.set(uuid, { spec, hosted: { ...hosted, drives: [...hosted.drives, extra] } });
  await friend.client.arrays.hibernate({ array_id: id });
  await portal.until(id, 'hibernated');
  assert.equal((await shown(id)).drive_count, hosted.drives.length + 1);
  await friend.client.arrays.restore({ array_id: id });
  await portal.until(id, 'created');
});

test('an array its cloud has lost is not made anew by a restore: it says that it is gone', async () => {
  const { id, name: array } = await portal.array(friend);
  await friend.client.arrays.hibernate({ array_id: id });
  await portal.until(id, 'hibernated');
  const uuid = [...cloud.hosted].find(([, { spec }]) => spec.name === array)?.[0];
  cloud.hosted.delete(uuid ?? '');
  await friend.client.arrays.restore({ array_id: id });
  await portal.until(id, 'failed');
  assert.equal((await shown(id)).status_message, 'Its cloud no longer has it');
  assert.ok(![...cloud.hosted.values()].some(({ spec }) => spec.name === array));
  await friend.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
});

test('a process that does not come up makes the array fail with the reason; restoring tries again', async () => {
  cloud.isSlow = true;
  const array = name('tank');
  await friend.client.arrays.create({ ...blockOrder, name: array });
  const id = portal.idOf(friend, array);
  await until(() => isHosted(array), 'the cloud has placed it');
  assert.deepEqual([(await shown(id)).id, (await shown(id)).status], [id, 'creating']);
  cloud.setState(array, 'failed', 'It crashed three times in a minute.');
  await portal.until(id, 'failed');
  cloud.isSlow = false;
  assert.equal((await shown(id)).status_message, 'It crashed three times in a minute.');
  await friend.client.arrays.restore({ array_id: id });
  await portal.until(id, 'created');
  assert.equal((await shown(id)).status_message, null);
});

test('progress and what is under way are shown while an array is created', async () => {
  cloud.isSlow = true;
  const array = name('tank');
  await friend.client.arrays.create({ ...blockOrder, name: array });
  const id = portal.idOf(friend, array);
  await until(async () => (await shown(id)).status_message === 'Starting its process', 'its process starts');
  const { progress } = await shown(id);
  assert.ok(progress > 0 && progress < 100);
  cloud.isSlow = false;
  cloud.setState(array, 'running');
  await portal.until(id, 'created');
});

/** A portal whose cloud goes away and comes back at the same address, with what it hosted. */
async function portalWithOutages() {
  let current: FakeCloud = await startFakeCloud();
  const port = Number(current.address.split(':')[1]);
  const own: TestPortal = await startTestPortal({ cloud: current });
  return {
    own,
    get cloud() {
      return current;
    },
    goAway: () => current.stop(),
    async comeBack() {
      current = await startFakeCloud({ port, hosted: current.hosted });
    },
    async stop() {
      await own.stop();
      await current.stop();
    },
  };
}

test('work on an array goes on when its cloud is back', async (t) => {
  const outages = await portalWithOutages();
  t.after(() => outages.stop());
  const { own } = outages;
  const client = own.friend.client.arrays;
  const statusOf = async (id: number) => (await client.get({ array_id: id })).data;
  const saysSo = (id: number) => async () => /cloud does not answer/.test(String((await statusOf(id)).status_message));

  const ready = await own.array(own.friend);
  const asleep = await own.array(own.friend);
  await client.hibernate({ array_id: asleep.id });
  await own.until(asleep.id, 'hibernated');
  const doomed = await own.array(own.friend);
  outages.cloud.isSlow = true;
  await client.create({ ...blockOrder, name: 'late' });
  const late = own.idOf(own.friend, 'late');
  await until(async () => (await statusOf(late)).status_message === 'Starting its process', 'it starts');

  await outages.goAway();
  await refused(client.create({ ...blockOrder, name: 'never' }), 422, /No cloud answered at/);
  await refused(client.addDrives({ array_id: ready.id, drives: { SSD_10GB: 2 } }), 422, /No cloud answered at/);
  await client.hibernate({ array_id: ready.id });
  await client.restore({ array_id: asleep.id });
  await client.delete({ array_id: doomed.id });
  for (const id of [late, ready.id, asleep.id, doomed.id]) await until(saysSo(id), `${id} waits for its cloud`);
  assert.deepEqual(
    await Promise.all([late, ready.id, asleep.id, doomed.id].map(async (id) => (await statusOf(id)).status)),
    ['creating', 'hibernating', 'restoring', 'deleting'],
  );

  await outages.comeBack();
  outages.cloud.setState('late', 'running');
  await own.until(late, 'created');
  await own.until(ready.id, 'hibernated');
  await own.until(asleep.id, 'created');
  await own.until(doomed.id, 'deleted');
});

test('a change of the owner that meets a dead cloud is made when it is back', async (t) => {
  const outages = await portalWithOutages();
  t.after(() => outages.stop());
  const { own } = outages;
  const { id, name: array } = await own.array(own.friend);
  const network = await own.network(own.friend);
  await outages.goAway();
  const { message } = await own.friend.client.arrays.addInterface({ array_id: id, virtual_network_id: network });
  assert.match(message, /has been submitted and goes on/);
  assert.deepEqual(
    openJobs(own).map(({ surprises }) => surprises),
    [0],
  );
  await outages.comeBack();
  await until(async () => {
    const { data } = await own.friend.client.arrays.get({ array_id: id });
    return data.virtual_network_interfaces.length === 1;
  }, 'it has joined');
  assert.equal(outages.cloud.specOf(array).interfaces.length, 1);
});

/** Work that is still to do: how often it was tried, and how often it ended with an unexpected error. */
const openJobs = ({ store }: TestPortal) =>
  store.read((db) =>
    db.all<{ attempts: number; surprises: number }>(`SELECT attempts, surprises FROM jobs WHERE finished_at IS NULL`),
  );

test('a cloud that answers with errors is as good as one that does not answer', async (t) => {
  const outages = await portalWithOutages();
  t.after(() => outages.stop());
  const { own } = outages;
  const { arrays } = own.friend.client;
  const [asleep, doomed] = [await own.array(own.friend), await own.array(own.friend)];
  outages.cloud.isBroken = true;
  await arrays.hibernate({ array_id: asleep.id });
  await arrays.delete({ array_id: doomed.id });
  await until(() => {
    const open = openJobs(own);
    return open.length === 2 && open.every(({ attempts }) => attempts >= 2);
  }, 'both have been tried twice');
  assert.deepEqual(
    openJobs(own).map(({ surprises }) => surprises),
    [0, 0],
  );
  outages.cloud.isBroken = false;
  await own.until(asleep.id, 'hibernated');
  await own.until(doomed.id, 'deleted');
});

test('a change that waits for its cloud is made before what was asked for after it', async (t) => {
  const outages = await portalWithOutages();
  t.after(() => outages.stop());
  const { own } = outages;
  const { arrays } = own.friend.client;
  const { id, name: array } = await own.array(own.friend);
  const network = await own.network(own.friend);
  await outages.goAway();
  const joining = arrays.addInterface({ array_id: id, virtual_network_id: network });
  await until(() => openJobs(own).some(({ attempts }) => attempts >= 1), 'the change was tried');
  await arrays.hibernate({ array_id: id });
  await until(() => openJobs(own).some(({ attempts }) => attempts >= 2), 'the change was tried again');
  assert.equal((await arrays.get({ array_id: id })).data.status, 'hibernating');
  await outages.comeBack();
  await own.until(id, 'hibernated');
  await joining;
  const { data } = await arrays.get({ array_id: id });
  assert.equal(data.virtual_network_interfaces.length, 1);
  assert.equal(outages.cloud.specOf(array).interfaces.length, 1);
});

test('a change that waits for its cloud is dropped when the array goes, and its address with it', async (t) => {
  const outages = await portalWithOutages();
  t.after(() => outages.stop());
  const { own } = outages;
  const { arrays } = own.friend.client;
  const { id } = await own.array(own.friend);
  const network = await own.network(own.friend);
  await outages.goAway();
  const joining = refused(arrays.addInterface({ array_id: id, virtual_network_id: network }), 409, /is deleting/);
  await until(() => openJobs(own).some(({ attempts }) => attempts >= 1), 'the change was tried');
  await arrays.delete({ array_id: id });
  await outages.comeBack();
  await own.until(id, 'deleted');
  await joining;
  const held = own.store.read((db) => db.all('SELECT id FROM interfaces WHERE array_id = :id', { id }));
  assert.deepEqual(held, []);
});

test('a change that comes too late, because the array is going to sleep already, keeps no address', async () => {
  const { id } = await portal.array(friend);
  const network = await portal.network(friend);
  const { arrays } = friend.client;
  const [joining] = await Promise.allSettled([
    arrays.addInterface({ array_id: id, virtual_network_id: network }),
    arrays.hibernate({ array_id: id }),
  ]);
  await portal.until(id, 'hibernated');
  const held = portal.store.read((db) =>
    db.all('SELECT id FROM interfaces WHERE array_id = :id AND virtual_network_id = :network', { id, network }),
  );
  assert.equal(held.length, joining.status === 'fulfilled' ? 1 : 0);
});

test('work that a stop cut off goes on at the next start, to the same end', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'granary-lifecycle-'));
  const slow = await startFakeCloud();
  slow.isSlow = true;
  t.after(async () => {
    await slow.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const first = await startTestPortal({ dataDir, cloud: slow });
  t.after(() => first.stop());
  await first.friend.client.arrays.create({ ...blockOrder, name: 'late' });
  const id = first.idOf(first.friend, 'late');
  await until(() => slow.hosted.size === 1, 'the cloud has placed it');
  await first.stop();
  slow.isSlow = false;
  slow.setState('late', 'running');
  const second = await startTestPortal({ dataDir, cloud: slow });
  t.after(() => second.stop());
  await second.until(id, 'created');
  assert.equal(slow.hosted.size, 1);
});
