import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { until } from '../../testing/waiting.ts';
import { testArray, type TestArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';
import { named } from './testing/drive-files.ts';

const { drives, raidGroups, messages } = arrayApi.groups;
const MB = 2 ** 20;

async function statusOf(array: TestArray, number: number): Promise<string> {
  return (await array.client.call(drives.get, { id: named(number) })).disk.status;
}

async function groupStatus(array: TestArray, id: string): Promise<string> {
  return (await array.client.call(raidGroups.get, { id })).raid_group.status;
}

async function drivesOf(array: TestArray, id: string): Promise<string[]> {
  return (await array.client.call(raidGroups.listDrives, { id })).disks.map(({ name }) => name);
}

async function withData(array: TestArray, t: Parameters<typeof testArray>[0], groups: readonly string[], mb = 8) {
  const volume = await array.volume(await array.pool({ groups }), { capacity: '200M' });
  const disk = await testDisk(t, array, volume);
  const bytes = randomBytes(mb * MB);
  await disk.write(0, bytes);
  return { disk, holds: async () => assert.ok((await disk.read(0, mb)).equals(bytes), 'the data is as it was') };
}

test('a hot spare takes over for a drive that fails, the data stays, and the failed one is free to be mended', async (t) => {
  const array = await testArray(t, { drives: 3 });
  const { client } = array;
  const group = await array.group({ name: 'fast', spare: true });
  const { holds, disk } = await withData(array, t, [group]);
  await client.call(drives.takeOffline, { id: named(1) });
  await until(async () => (await groupStatus(array, group)) === 'Normal', 'the rebuild');
  await until(async () => (await drivesOf(array, group)).join() === `${named(2)},${named(3)}`, 'the change on record');
  await holds();
  const { disk: failed } = await client.call(drives.get, { id: named(1) });
  assert.deepEqual([failed.status, failed.usage, failed.raid_group_name], ['Failed', 'Available', null]);
  assert.equal(await statusOf(array, 3), 'Normal');
  assert.equal((await client.refused(raidGroups.removeHotSpare, { id: group })).code, 10097, 'it is a member now');
  await client.call(drives.takeOffline, { id: named(2) });
  await holds();
  await disk.write(8, randomBytes(MB));
  await client.call(drives.bringOnline, { id: named(2) });
  await until(async () => (await groupStatus(array, group)) === 'Normal', 'both again');
  await client.call(drives.takeOffline, { id: named(3) });
  await holds();
  const { messages: reported } = await client.call(messages.list, {});
  const titles = reported.map(({ msg_title }) => msg_title);
  for (const pattern of [
    /^Drive ssd-1 \(volume-00000001\) was taken out of service\.$/,
    /^Drive ssd-1 \(volume-00000001\) of RAID group fast \(RaidGroup-1\) failed: /,
    /^Hot spare ssd-3 \(volume-00000003\) took the place of a failed drive in RAID group fast \(RaidGroup-1\)\.$/,
    /^The rebuild of RAID group fast \(RaidGroup-1\) onto drive ssd-3 \(volume-00000003\) is done\.$/,
    /^Drive ssd-1 \(volume-00000001\) is no longer part of RAID group fast \(RaidGroup-1\)\.$/,
  ])
    assert.equal(titles.filter((title) => pattern.test(title)).length, 1, String(pattern));
  await array.restart();
  assert.equal(await statusOf(array, 1), 'Failed');
  await client.call(drives.bringOnline, { id: named(1) });
  assert.equal(await statusOf(array, 1), 'Available');
});

test('a failed drive is replaced, and what was on it is rebuilt', async (t) => {
  const array = await testArray(t, { drives: 5 });
  const { client } = array;
  const group = await array.group({ name: 'wide', protection: 'RAID6' });
  const { holds } = await withData(array, t, [group]);
  await client.call(drives.takeOffline, { id: named(2) });
  assert.equal(await groupStatus(array, group), 'Degraded');
  await client.call(drives.replace, { id: named(2), toname: named(5) });
  await until(async () => (await statusOf(array, 5)) === 'Normal', 'the rebuild');
  assert.equal(await groupStatus(array, group), 'Normal');
  assert.deepEqual([await statusOf(array, 5), await statusOf(array, 2)], ['Normal', 'Failed']);
  await holds();
  for (const number of [1, 3]) await client.call(drives.takeOffline, { id: named(number) });
  await holds();
  assert.deepEqual(await drivesOf(array, group), [1, 3, 4, 5].map(named));
});

test('a drive that works is replaced while it serves, over a restart too, and is free afterwards', async (t) => {
  const array = await testArray(t, { drives: 4 });
  const { client } = array;
  const group = await array.group({ name: 'fast' });
  const { holds, disk } = await withData(array, t, [group], 40);
  await client.call(raidGroups.setResyncSpeed, { id: group, min: 4, max: 4 });
  const wanted = { id: named(1), toname: named(3) };
  const started = await client.call(drives.replace, { ...wanted, timeout: -1 });
  assert.deepEqual(started, { status: 0, disk_name: named(1) }, 'at once, whatever the timeout is');
  await until(async () => /^Recovering \d+%$/.test(await groupStatus(array, group)), 'a rebuild');
  assert.deepEqual([await statusOf(array, 1), await statusOf(array, 3)], ['Normal', 'Rebuild']);
  assert.equal((await client.refused(drives.replace, { id: named(1), toname: named(4) })).code, 10100, 'already');
  assert.equal((await client.refused(drives.replace, { id: named(3), toname: named(4) })).code, 10100, 'the new one');
  assert.equal((await client.refused(raidGroups.scrub, { id: group })).code, 10100, 'recovering');
  const { resync_speed: speed } = (await client.call(raidGroups.get, { id: group })).raid_group;
  assert.ok(speed <= 20, `${speed} MB/s`);
  await array.restart();
  assert.deepEqual([await statusOf(array, 1), await statusOf(array, 3)], ['Normal', 'Rebuild']);
  await client.call(raidGroups.setResyncSpeed, { id: group, min: 1000, max: 1000 });
  await until(async () => (await statusOf(array, 3)) === 'Normal', 'the end');
  assert.deepEqual(await drivesOf(array, group), [named(2), named(3)]);
  assert.equal(await statusOf(array, 1), 'Available');
  await client.call(drives.takeOffline, { id: named(2) });
  await disk.login(t);
  await holds();
});

test('what cannot take the place of a drive is refused, or needs force', async (t) => {
  const array = await testArray(t, { drives: 6 });
  const { client } = array;
  const group = await array.group({ name: 'fast', spare: true });
  const hdd = { ...array.place([7])[0]!, medium: 'hdd' as const };
  const small = { ...array.place([8])[0]!, capacityGb: 0 };
  await array.change({ drives: [...array.configuration.drives, hdd, small] });
  const refused = async (id: number, to: number) => {
    const { code, message } = await client.refused(drives.replace, { id: named(id), toname: named(to) });
    return [code, message];
  };
  assert.deepEqual(await refused(1, 1), [7, 'toname must be another drive than the one it replaces.']);
  assert.deepEqual(await refused(1, 99), [10082, `Drive ${named(99)} was not found.`]);
  assert.deepEqual(await refused(1, 2), [10101, `Drive ssd-2 (${named(2)}) is in use by RAID group fast (${group}).`]);
  assert.deepEqual(await refused(4, 5), [
    10100,
    `Drive ssd-4 (${named(4)}) is in no RAID group; there is nothing to replace.`,
  ]);
  assert.deepEqual(await refused(3, 4), [
    10100,
    `Drive ssd-3 (${named(3)}) is a hot spare of fast (${group}); remove it and add another.`,
  ]);
  assert.deepEqual(await refused(1, 8), [
    10200,
    `Drive ssd-7 (${named(8)}) has 0 GiB, but the drives of RAID group fast (${group}) need 1 GiB; take a larger one.`,
  ]);
  assert.deepEqual(await refused(1, 7), [
    10100,
    `Drive hdd-1 (${named(7)}) would be a hard disk among SSDs in RAID group fast (${group}); take another or use force=YES.`,
  ]);
  await client.call(raidGroups.removeHotSpare, { id: group });
  await client.call(drives.takeOffline, { id: named(1) });
  assert.deepEqual(await refused(2, 4), [
    10100,
    `RAID group fast (${group}) has no redundancy left and drive ssd-2 (${named(2)}) is not what failed; replace that one first, or use force=YES.`,
  ]);
  await client.call(drives.replace, { id: named(2), toname: named(4), force: true });
  await until(async () => (await statusOf(array, 4)) === 'Normal', 'the first rebuild');
  assert.deepEqual(await drivesOf(array, group), [named(1), named(4)]);
  await client.call(drives.replace, { id: named(1), toname: named(7), force: true });
  await until(async () => (await statusOf(array, 7)) === 'Normal', 'the second rebuild');
  assert.equal(await groupStatus(array, group), 'Normal');
});
