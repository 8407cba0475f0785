import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { followChanges } from '../../kernel/http/testing/follow.ts';
import { until } from '../../testing/waiting.ts';
import { refused, startTestPortal } from '../testing/portal.ts';

const portal = await startTestPortal();
after(() => portal.stop());

const { friend, admin, cloud, services } = portal;
const shown = async (id: number) => (await friend.client.arrays.get({ array_id: id })).data;
const look = () => services.watcher.poll();

test('an array whose process the cloud gave up on is shown as failed with the reason, and as created when it is back', async () => {
  const { id, name } = await portal.array(friend);
  const before = await shown(id);
  cloud.setState(name, 'failed', 'It crashed three times in a minute.');
  await look();
  const failed = await shown(id);
  assert.deepEqual([failed.status, failed.status_message], ['failed', 'It crashed three times in a minute.']);
  assert.equal((await friend.client.arrays.list({ name })).data[0]?.status, 'failed');
  cloud.setState(name, 'running');
  await look();
  await portal.until(id, 'created');
  assert.deepEqual(await shown(id), before);
  const { data } = await admin.client.events.list();
  const titles = data.map((event) => event.msg_title).filter((title) => title.startsWith(`Array ${name} `));
  assert.deepEqual(titles.slice(0, 3), [
    `Array ${name} is running again.`,
    `Array ${name} answers again.`,
    `Array ${name} failed: It crashed three times in a minute.`,
  ]);
});

test('an array that its cloud no longer has is shown as failed', async () => {
  const { id, name } = await portal.array(friend);
  const [uuid] = [...cloud.hosted].find(([, { spec }]) => spec.name === name) ?? [];
  cloud.hosted.delete(uuid ?? '');
  await look();
  const failed = await shown(id);
  assert.deepEqual([failed.status, failed.status_message], ['failed', 'Its cloud no longer has it']);
  await friend.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
});

test('an array that failed can be restored by its owner', async () => {
  const { id, name } = await portal.array(friend);
  cloud.setState(name, 'failed', 'It ran out of memory.');
  await look();
  await refused(friend.client.arrays.hibernate({ array_id: id }), 409, /is failed; hibernating needs it to be created/);
  await friend.client.arrays.restore({ array_id: id });
  await portal.until(id, 'created');
});

test('an array that failed can be deleted', async () => {
  const { id, name } = await portal.array(friend);
  cloud.setState(name, 'failed', 'It ran out of memory.');
  await look();
  await friend.client.arrays.delete({ array_id: id });
  await portal.until(id, 'deleted');
});

test('an array that restarts is shown as starting, with the reason, and not as failed; nor one that hibernates', async () => {
  const { id, name } = await portal.array(friend);
  cloud.setState(name, 'starting', 'Its process is opening pool pool-00000001.');
  await look();
  const starting = await shown(id);
  assert.deepEqual(
    [starting.status, starting.status_message],
    ['starting', 'Its process is opening pool pool-00000001.'],
  );
  cloud.setState(name, 'starting', 'Its process is serving its volumes.');
  await look();
  assert.equal((await shown(id)).status_message, 'Its process is serving its volumes.');
  cloud.setState(name, 'running');
  await look();
  const back = await shown(id);
  assert.deepEqual([back.status, back.status_message], ['created', null]);
  await friend.client.arrays.hibernate({ array_id: id });
  await portal.until(id, 'hibernated');
  cloud.setState(name, 'failed', 'It has no process, after all.');
  await look();
  assert.equal((await shown(id)).status, 'hibernated');
});

test('looking changes nothing where nothing has changed', async () => {
  await portal.array(friend);
  await look();
  await portal.rest();
  const before = portal.dump();
  await look();
  assert.deepEqual(portal.dump(), before);
});

test('that an outage or a change of encryption is longer ago than before is nothing to read again', async (t) => {
  const { id, name } = await portal.array(friend);
  const age = (ms: number) => {
    cloud.setState(name, 'running', undefined, [{ id: `outage of ${id}`, began_ms_ago: ms + 50, ended_ms_ago: ms }]);
    cloud.setEncryption(name, [{ id: `encryption of ${id}`, active: true, ms_ago: ms }]);
  };
  age(100);
  await look();
  await portal.rest();
  const feed = await followChanges(t, portal.url, { 'x-token': friend.token });
  for (const ms of [3_100, 6_100, 9_100]) {
    age(ms);
    await look();
  }
  services.changes.publish('settings');
  await until(() => feed.groups().includes('settings'));
  assert.deepEqual(feed.groups(), ['settings']);
});

test('the silence of a cloud is not the death of its arrays', async (t) => {
  const own = await startTestPortal();
  t.after(() => own.stop());
  const { id } = await own.array(own.friend);
  await own.cloud.stop();
  await own.services.watcher.poll();
  assert.equal((await own.friend.client.arrays.get({ array_id: id })).data.status, 'created');
});

test('drives an array gave back leave its record and its bill', async () => {
  const { id, name } = await portal.array(friend, { drives: { SSD_10GB: 4 } });
  const [uuid, kept] = [...cloud.hosted].find(([, { spec }]) => spec.name === name) ?? [];
  assert.ok(uuid !== undefined && kept);
  const hosted = { ...kept.hosted, drives: kept.hosted.drives.slice(1), drives_returned: { SSD_10GB: 1 } };
  cloud.hosted.set(uuid, { ...kept, hosted });
  await look();
  await look();
  const { data } = await admin.client.events.list();
  const recorded = data.filter(
    ({ msg_title }) => msg_title === `Array ${name} gave drives back; it has 3 × SSD_10GB now.`,
  );
  assert.equal(recorded.length, 1);
  await friend.client.arrays.addDrives({ array_id: id, drives: { SSD_10GB: 1 }, moderate: false } as never);
  await portal.until(id, 'created');
  const spec = cloud.specOf(name);
  assert.deepEqual([spec.drives, spec.drives_returned], [{ SSD_10GB: 4 }, { SSD_10GB: 1 }]);
});

test('drives of a policy and proxy controllers that object storage gave back leave its record', async () => {
  const { id, name } = await portal.objectArray(friend, { drives: { HDD_1000GB: 4 }, storage_profile: 'main' });
  await friend.client.arrays.addProxyController({ array_id: id, allocation_zone_id: 1 });
  const [uuid, kept] = [...cloud.hosted].find(([, { spec }]) => spec.name === name) ?? [];
  assert.ok(uuid !== undefined && kept);
  const hosted = {
    ...kept.hosted,
    drives: kept.hosted.drives.slice(1),
    drives_returned: { HDD_1000GB: 1 },
    policy_drives_returned: { main: { HDD_1000GB: 1 } },
    proxy_zones: [],
    proxies_returned: 1,
    storage_controllers: 1,
  };
  cloud.hosted.set(uuid, { ...kept, hosted });
  await look();
  await look();
  const { data: record } = await friend.client.arrays.get({ array_id: id });
  assert.deepEqual(
    [record.drives, record.proxy_virtual_controllers, record.proxy_storage_virtual_controllers],
    [{ HDD_1000GB: 3 }, 0, 1],
  );
  const { data: events } = await admin.client.events.list();
  const title = `Array ${name} gave proxy controllers back; it has 0 now.`;
  assert.equal(events.filter(({ msg_title }) => msg_title === title).length, 1);
  await friend.client.arrays.addDrives({ array_id: id, drives: { HDD_1000GB: 1 }, storage_policy: 'main' });
  const spec = cloud.specOf(name);
  assert.deepEqual(spec.policies[0]?.drives, { HDD_1000GB: 4 });
  assert.deepEqual([spec.proxies_returned, spec.policy_drives_returned], [1, { main: { HDD_1000GB: 1 } }]);
});

test('an interface that the array cannot listen on says so in the record, until it can', async () => {
  const { id, name } = await portal.array(friend);
  const network = await portal.network(friend);
  await friend.client.arrays.addInterface({ array_id: id, virtual_network_id: network });
  const seen = async () => {
    const { data } = await friend.client.arrays.get({ array_id: id });
    return data.virtual_network_interfaces.map(({ bound, problem }) => ({ bound, problem }));
  };
  assert.deepEqual(await seen(), [{ bound: true, problem: null }]);
  const problem = 'another program listens on port 7480 of the address.';
  cloud.setBinding(name, problem);
  await look();
  await look();
  assert.deepEqual(await seen(), [{ bound: false, problem }]);
  cloud.setBinding(name, null);
  await look();
  assert.deepEqual(await seen(), [{ bound: true, problem: null }]);
  const { data: events } = await admin.client.events.list();
  const recorded = events.filter(({ msg_title }) => /listens? on 10\..* in virtual network/.test(msg_title));
  assert.deepEqual(recorded.map(({ msg_title }) => /does not/.test(msg_title)).sort(), [false, true]);
});
