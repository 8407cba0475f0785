import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { renameSync } from 'node:fs';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { fail } from '@granary/kernel';
import { until } from '../../testing/waiting.ts';
import { testArray, type TestArray } from '../testing/test-array.ts';
import { fileOf, named, readFile, writeFile } from './testing/drive-files.ts';

const { drives, raidGroups, messages, users } = arrayApi.groups;
const GB = 2 ** 30;

async function statusOf(array: TestArray, id: string): Promise<string> {
  return (await array.client.call(drives.get, { id })).disk.status;
}

test('a drive has every field of its record, and a name no other drive has', async (t) => {
  const array = await testArray(t, { drives: 3 });
  const { client } = array;
  await client.call(drives.rename, { id: named(1), newname: 'left' });
  const { disk } = await client.call(drives.get, { id: named(1) });
  const { created_at, modified_at, ...rest } = disk;
  for (const time of [created_at, modified_at]) assert.match(time, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  assert.deepEqual(rest, {
    name: named(1),
    display_name: 'left',
    disk_type: 'SSD',
    disk_uuid: array.configuration.drives[0]!.uuid,
    storage_node: 'node-1',
    vpartition_id: 1,
    raid_group_name: null,
    usage: 'Available',
    status: 'Available',
    capacity: 1,
    allocation_group: 'SSD_10GB',
    cache: 'NO',
    allocation_zone: 'zone_0',
    allocation_zone_display_name: 'Zone 0',
  });
  assert.equal((await client.refused(drives.rename, { id: named(2), newname: 'left' })).code, 10096);
  await client.call(drives.rename, { id: named(1), newname: 'left' });
  // The next drive would be called just so.
  await client.call(drives.rename, { id: named(2), newname: 'ssd-1' });
  await array.change({ drives: array.place([1, 2, 3, 4]) });
  assert.equal((await client.call(drives.get, { id: named(4) })).disk.display_name, 'ssd-2');
  const measured = await client.call(drives.performance, { id: named(1), interval: 1 });
  assert.deepEqual([measured.disk_name, measured.count], [named(1), measured.usages.length]);
  assert.equal((await client.refused(drives.performance, { id: named(9) })).code, 10082);
  const page = await client.call(drives.list, { start: 1, limit: 2 });
  assert.deepEqual([page.count, page.disks.map(({ name }) => name)], [4, [named(2), named(3)]]);
});

test('shredding overwrites all of a drive that is free, and only then', async (t) => {
  const array = await testArray(t, { drives: 3 });
  const { client } = array;
  const secret = Buffer.from('the name of the rose');
  for (const at of [0, GB / 2, GB - 4096]) writeFile(fileOf(array, 1), at, secret);
  const id = named(1);
  assert.deepEqual(await client.call(drives.shred, { id, timeout: -1 }), { status: 0, disk_name: id });
  assert.match(await statusOf(array, id), /^Shredding \d+%$/);
  assert.equal((await client.refused(drives.shred, { id })).code, 10100);
  const group = { display_name: 'x', protection: 'RAID1', disk: `${id},${named(2)}` } as never;
  const used = await client.refused(raidGroups.create, group);
  assert.deepEqual(
    [used.code, used.message],
    [10100, `Drive ssd-1 (${id}) is being shredded; wait until that is done, or cancel it.`],
  );
  assert.equal((await client.refused(drives.remove, { id })).code, 10100);
  assert.equal((await client.refused(drives.takeOffline, { id })).code, 10100);
  await until(async () => (await statusOf(array, id)) === 'Available', 'the end');
  for (const at of [0, GB / 2, GB - 4096])
    assert.notDeepEqual(readFile(fileOf(array, 1), at, secret.length), secret, `at ${at}`);
  const { messages: reported } = await client.call(messages.list, { attr_key: 'drive', attr_value: id });
  assert.deepEqual(
    reported.map(({ msg_title }) => msg_title),
    [`Drive ssd-1 (${id}) was shredded; its data is gone for good.`, `Drive ssd-1 (${id}) is being shredded.`],
  );
  await client.call(raidGroups.create, { display_name: 'y', protection: 'RAID1', disk: [named(1), named(2)] });
  const inGroup = await client.refused(drives.shred, { id });
  assert.deepEqual(
    [inGroup.code, inGroup.message],
    [10101, `Drive ssd-1 (${id}) is in use by RAID group y (RaidGroup-1).`],
  );
});

test('shredding goes on after a restart where it was, and stops when it is cancelled', async (t) => {
  // Too large to be done before anybody looks; holes cost a read each and no space.
  const driveGb = 64;
  const array = await testArray(t, { drives: 2, driveGb });
  const { client } = array;
  const id = named(1);
  const secret = randomBytes(64);
  for (const at of [0, driveGb * GB - 4096]) writeFile(fileOf(array, 1), at, secret);
  await client.call(drives.shred, { id });
  const percent = async () => Number(/Shredding (\d+)%/.exec(await statusOf(array, id))?.[1] ?? 100);
  await until(async () => (await percent()) >= 2, 'a start');
  await array.restart();
  const after = await percent();
  assert.ok(after >= 2 && after < 100, `at ${after}%`);
  await until(async () => (await percent()) > after, 'going on');
  await client.call(drives.cancelShred, { id });
  assert.equal(await statusOf(array, id), 'Available');
  assert.equal((await client.refused(drives.cancelShred, { id })).code, 10100);
  assert.notDeepEqual(readFile(fileOf(array, 1), 0, 64), secret);
  assert.deepEqual(readFile(fileOf(array, 1), driveGb * GB - 4096, 64), secret, 'it did not get there');
  await client.call(raidGroups.create, { display_name: 'x', protection: 'RAID1', disk: [named(1), named(2)] });
});

test('a free drive is given back to the cloud; when the cloud refuses, it stays', async (t) => {
  const returned: string[] = [];
  let refusal: Error | undefined;
  const host = {
    reportEncryption: () => Promise.resolve(),
    returnDrive: async (uuid: string) => {
      if (refusal) throw refusal;
      returned.push(uuid);
      // As the cloud does: the configuration without it comes first.
      await array.change({ drives: array.place([2, 3]) });
    },
    returnProxies: () => Promise.resolve(),
    reportListening: () => undefined,
    progress: () => undefined,
  };
  const array = await testArray(t, { drives: 3, host });
  const { client } = array;
  refusal = new Error('The shelf is locked.');
  const refused = await client.refused(drives.remove, { id: named(1) });
  assert.deepEqual(
    [refused.code, refused.message],
    [10100, `Drive ssd-1 (${named(1)}) was not taken back. The shelf is locked.`],
  );
  refusal = fail('drive_in_use', { id: named(1), by: 'another array' });
  assert.equal((await client.refused(drives.remove, { id: named(1) })).code, 10101);
  assert.equal(await statusOf(array, named(1)), 'Available');
  refusal = undefined;
  await client.call(drives.remove, { id: named(1) });
  assert.deepEqual(returned, [array.configuration.drives[0]!.uuid]);
  assert.equal((await client.refused(drives.get, { id: named(1) })).code, 10082);
  const { messages: reported } = await client.call(messages.list, { attr_key: 'drive', attr_value: named(1) });
  assert.deepEqual(
    reported.map(({ msg_title }) => msg_title),
    [`Drive ssd-1 (${named(1)}) was given back to the cloud.`],
  );
  await array.group();
  assert.equal((await client.refused(drives.remove, { id: named(2) })).code, 10101);
});

test('only an administrator takes drives out of service, and not what a group cannot do without', async (t) => {
  const array = await testArray(t, { drives: 7 });
  const { client, anybody } = array;
  const { user } = await client.call(users.create, { username: 'jo' });
  const jo = anybody.with({ 'x-access-key': user.access_key });
  assert.equal((await jo.refused(drives.takeOffline, { id: named(1) })).code, 6);
  const mirror = await array.group({ name: 'mirror' });
  const parity = await array.group({ name: 'parity', protection: 'RAID6' });
  await client.call(drives.takeOffline, { id: named(1) });
  assert.equal(await statusOf(array, named(1)), 'Failed');
  assert.equal((await client.call(raidGroups.get, { id: mirror })).raid_group.status, 'Degraded');
  assert.equal((await client.refused(drives.takeOffline, { id: named(1) })).code, 10100);
  const last = await client.refused(drives.takeOffline, { id: named(2) });
  assert.deepEqual(
    [last.code, last.message],
    [
      10100,
      `Without drive ssd-2 (${named(2)}) RAID group mirror (${mirror}) cannot serve its data: 0 of 2 drives would be left. Wait for a rebuild, replace what failed, or use force=YES.`,
    ],
  );
  for (const number of [3, 4]) await client.call(drives.takeOffline, { id: named(number) });
  assert.equal((await client.refused(drives.takeOffline, { id: named(5) })).code, 10100);
  await array.restart();
  assert.equal(await statusOf(array, named(3)), 'Failed', 'out of service over a restart');
  assert.equal((await client.call(raidGroups.get, { id: parity })).raid_group.status, 'Degraded');
  await client.call(drives.takeOffline, { id: named(5), force: true });
  assert.equal((await client.call(raidGroups.get, { id: parity })).raid_group.status, 'Failed');
  for (const number of [1, 3, 4, 5]) await client.call(drives.bringOnline, { id: named(number) });
  for (const id of [mirror, parity])
    await until(async () => (await client.call(raidGroups.get, { id })).raid_group.status === 'Normal', 'normal');
  assert.equal((await client.refused(drives.bringOnline, { id: named(1) })).code, 10100);
  assert.equal(await statusOf(array, named(5)), 'Normal');
});

test('a drive the cloud takes out of a RAID group is absent, over restarts too, and back when it comes back', async (t) => {
  const array = await testArray(t, { drives: 4 });
  const { client } = array;
  const group = await array.group({ name: 'fast' });
  const { disk: before } = await client.call(drives.get, { id: named(1) });
  await array.change({ drives: array.place([2, 3]) });
  const { disk } = await client.call(drives.get, { id: named(1) });
  assert.deepEqual({ ...disk, modified_at: '' }, { ...before, modified_at: '', status: 'Absent' });
  assert.equal((await client.refused(drives.get, { id: named(4) })).code, 10082, 'a free one is forgotten');
  assert.equal((await client.call(raidGroups.get, { id: group })).raid_group.status, 'Degraded');
  for (const call of [drives.bringOnline, drives.takeOffline])
    assert.equal((await client.refused(call, { id: named(1) })).code, 10100);
  await array.restart({ drives: array.place([2, 3]) });
  assert.equal(await statusOf(array, named(1)), 'Absent');
  await array.change({ drives: array.place([1, 2, 3]) });
  await until(async () => (await statusOf(array, named(1))) === 'Normal', 'back');
  assert.equal((await client.call(raidGroups.get, { id: group })).raid_group.status, 'Normal');
  await array.change({ drives: array.place([2, 3]) });
  await client.call(raidGroups.delete, { id: group });
  assert.equal((await client.refused(drives.get, { id: named(1) })).code, 10082, 'free and absent is forgotten');
});

test('a drive whose file is moved while the array runs is Failed within ten seconds, and the log says what to do', async (t) => {
  const array = await testArray(t, { drives: 3 });
  const { client } = array;
  await array.group();
  const file = fileOf(array, 1);
  renameSync(file, `${file}.moved`);
  renameSync(fileOf(array, 3), `${fileOf(array, 3)}.moved`);
  await until(async () => {
    return (await statusOf(array, named(1))) === 'Failed' && (await statusOf(array, named(3))) === 'Failed';
  }, 'the loss to be noticed');
  assert.equal(await statusOf(array, named(2)), 'Normal');
  await until(async () => {
    const { messages: reported } = await client.call(messages.list, {});
    const lost = reported.filter(({ msg_title }) =>
      /was moved or deleted; put it back, or replace the drive/.test(msg_title),
    );
    return lost.length === 2;
  }, 'the events');
  renameSync(`${file}.moved`, file);
  await until(async () => (await statusOf(array, named(1))) === 'Normal', 'the drive to come back');
});
