import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import type { HostedDrive } from '@granary/kernel';
import { testArray, type TestArray } from '../testing/test-array.ts';

const { drives, raidGroups, messages } = arrayApi.groups;
const GB = 2 ** 30;

function names(...numbers: number[]): string {
  return numbers.map((number) => `volume-${number.toString(16).padStart(8, '0')}`).join(',');
}

function create(array: TestArray, input: Record<string, unknown>) {
  return array.client.call(raidGroups.create, { display_name: 'fast', protection: 'RAID1', ...input } as never);
}

async function refusal(array: TestArray, input: Record<string, unknown>): Promise<[number | string, string]> {
  const sent = { display_name: 'fast', protection: 'RAID1', ...input } as never;
  const { code, message } = await array.client.refused(raidGroups.create, sent);
  return [code, message];
}

async function titles(array: TestArray, attr_key: string, attr_value?: string): Promise<string[]> {
  const found = await array.client.call(messages.list, { attr_key, ...(attr_value !== undefined && { attr_value }) });
  return found.messages.map(({ msg_title }) => msg_title);
}

/** Other drives than the harness places: of another size or kind. */
function differing(array: TestArray, number: number, changes: Partial<HostedDrive>): HostedDrive {
  const drive = { ...array.place([number])[0]!, ...changes };
  truncateSync(drive.file, drive.capacityGb * GB);
  return drive;
}

test('a RAID group has a name of its own, every field of its record, and its drives are in use', async (t) => {
  const array = await testArray(t, { drives: 6, driveGb: 2 });
  const { client } = array;
  const { raidgroup_name: name } = await create(array, { disk: names(1, 2, 3), hot_spare: 'YES' });
  assert.equal(name, 'RaidGroup-1');
  const { raid_group } = await client.call(raidGroups.get, { id: name });
  const { created_at, modified_at, ...rest } = raid_group;
  assert.match(created_at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
  assert.match(modified_at, /UTC$/);
  assert.deepEqual(rest, {
    name: 'RaidGroup-1',
    display_name: 'fast',
    protection: 'RAID1',
    mirror_num: 2,
    stripe_size: 64,
    protection_width: 2,
    capacity: 1,
    available: 1,
    status: 'Normal',
    ssd: 'YES',
    mismatch_count: 0,
    resync_speed: 0,
    min_resync_speed: 10,
    max_resync_speed: 200,
  });
  const { disks, count } = await client.call(raidGroups.listDrives, { id: name });
  assert.equal(count, 3);
  assert.deepEqual(
    disks.map((disk) => [disk.name, disk.raid_group_name, disk.usage, disk.status]),
    [
      [names(1), name, 'In-use', 'Normal'],
      [names(2), name, 'In-use', 'Normal'],
      [names(3), name, 'In-use', 'Normal'],
    ],
  );
  const page = await client.call(raidGroups.listDrives, { id: name, start: 1, limit: 1 });
  assert.deepEqual([page.count, page.disks.map((disk) => disk.name)], [3, [names(2)]]);
  const free = await client.call(drives.listFree, {});
  assert.equal(free.count, 3);
  assert.deepEqual((await client.call(raidGroups.list, {})).raid_groups, [raid_group]);
  assert.deepEqual((await client.call(raidGroups.listFree, {})).raid_groups, [raid_group]);
  assert.deepEqual(await titles(array, 'raid_group', name), [
    'RAID group fast (RaidGroup-1) was made: RAID1 of 2 drives and a hot spare.',
  ]);
  assert.equal((await client.refused(raidGroups.get, { id: 'RaidGroup-2' })).code, 10009);
  const measured = await client.call(raidGroups.performance, { id: name, interval: 1 });
  assert.deepEqual([measured.raid_group_name, measured.count], [name, measured.usages.length]);
});

test('RAID1 and RAID6 of every width can be made, and numbers are never used twice', async (t) => {
  const array = await testArray(t, { drives: 11, driveGb: 2 });
  const { client } = array;
  const shapes: [string, number, Record<string, unknown>, number, number][] = [
    ['RAID1', 2, {}, 2, 1],
    ['RAID1', 3, {}, 3, 1],
    ['RAID1', 4, { hot_spare: 'YES', protection_width: 2 }, 2, 1],
    ['RAID6', 4, {}, 4, 3],
    ['RAID6', 6, { hot_spare: 'YES', stripe_size: 16 }, 5, 5],
    ['RAID6', 10, { protection_width: 10, stripe_size: 256 }, 10, 15],
    ['RAID6', 11, { hot_spare: 'YES' }, 10, 15],
  ];
  for (const [index, [protection, count, options, width, capacity]] of shapes.entries()) {
    const disk = names(...Array.from({ length: count }, (_, place) => place + 1));
    const { raidgroup_name: id } = await create(array, { protection, disk, ...options });
    assert.equal(id, `RaidGroup-${index + 1}`);
    const { raid_group: group } = await client.call(raidGroups.get, { id });
    assert.deepEqual([group.protection_width, group.capacity, group.status], [width, capacity, 'Normal']);
    assert.equal(group.mirror_num, protection === 'RAID1' ? width : 1);
    assert.equal(group.stripe_size, options['stripe_size'] ?? 64);
    assert.equal((await client.call(raidGroups.listDrives, { id })).count, count);
    await client.call(raidGroups.delete, { id });
    assert.equal((await client.refused(raidGroups.get, { id })).code, 10009);
  }
  assert.equal((await client.call(drives.listFree, {})).count, 11);
});

test('what a RAID group cannot be made of is refused with the reason, and nothing changes', async (t) => {
  const array = await testArray(t, { drives: 6 });
  const { client } = array;
  const large = differing(array, 7, { capacityGb: 2 });
  const hdd = differing(array, 8, { medium: 'hdd' });
  await array.change({ drives: [...array.configuration.drives, large, hdd] });
  await create(array, { display_name: 'taken', disk: names(5, 6) });
  assert.deepEqual(await refusal(array, { disk: names(1, 1) }), [7, `disk names ${names(1)} twice.`]);
  assert.deepEqual(await refusal(array, { disk: names(1, 99) }), [10082, `Drive ${names(99)} was not found.`]);
  assert.deepEqual(await refusal(array, { disk: names(1, 5) }), [
    10101,
    `Drive ssd-5 (${names(5)}) is in use by RAID group taken (RaidGroup-1).`,
  ]);
  assert.deepEqual(await refusal(array, { disk: names(1, 2), display_name: 'taken' }), [
    10096,
    'The name taken is taken; choose another.',
  ]);
  assert.deepEqual(await refusal(array, { disk: names(1, 2, 3), protection: 'RAID6' }), [
    7,
    'disk names 3 drives: RAID6 takes 4 to 10 drives.',
  ]);
  assert.deepEqual(await refusal(array, { disk: names(1, 7) }), [
    10110,
    'The drives have 1 and 2 GiB; choose drives of one size, or use force=YES to count all as the smallest.',
  ]);
  assert.deepEqual(await refusal(array, { disk: names(1, 8) }), [
    10100,
    'The drives are SSDs and hard disks mixed; choose one kind, or use force=YES.',
  ]);
  assert.deepEqual(await refusal(array, { disk: names(7, 7 + 1, 1), hot_spare: 'YES', force: 'NO' }), [
    10110,
    'The drives have 1 and 2 GiB; choose drives of one size, or use force=YES to count all as the smallest.',
  ]);
  await client.call(drives.takeOffline, { id: names(1) });
  assert.equal((await refusal(array, { disk: names(1, 2) }))[0], 10100);
  await client.call(drives.bringOnline, { id: names(1) });
  assert.equal((await refusal(array, { disk: names(1, 2), stripe_size: 5 }))[0], 7);
  assert.equal((await client.call(raidGroups.list, {})).count, 1);
  assert.equal((await client.call(drives.listFree, {})).count, 6);
  const { raidgroup_name: id } = await create(array, { disk: names(1, 7, 8), hot_spare: 'YES', force: 'YES' });
  assert.equal(id, 'RaidGroup-2', 'what is refused costs no number');
});

test('two who want the same drive at once do not both get it', async (t) => {
  const array = await testArray(t, { drives: 3 });
  const both = await Promise.allSettled([
    create(array, { display_name: 'one', disk: names(1, 2) }),
    create(array, { display_name: 'two', disk: names(2, 3) }),
  ]);
  assert.deepEqual(both.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected']);
  assert.equal((await array.client.call(raidGroups.list, {})).count, 1);
  assert.equal((await array.client.call(drives.listFree, {})).count, 1);
});

test('drives on one storage node are warned of', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const together = array.configuration.drives.map((drive) => ({ ...drive, node: 'node-1' }));
  await array.change({ drives: together });
  await create(array, { disk: names(1, 2) });
  const { messages: warnings } = await array.client.call(messages.list, { severity: 4 });
  assert.deepEqual(
    warnings.map(({ msg_title }) => msg_title),
    [
      `Drives ssd-1 (${names(1)}) and ssd-2 (${names(2)}) of RAID group fast (RaidGroup-1) are on one storage node, node-1: when it fails, all of them do.`,
    ],
  );
});

test('a RAID group is renamed, and its speeds are set, within the rules', async (t) => {
  const array = await testArray(t, { drives: 4 });
  const { client } = array;
  const [one, two] = [await array.group({ name: 'one' }), await array.group({ name: 'two' })];
  await client.call(raidGroups.rename, { id: one, new_name: 'first' } as never);
  assert.equal((await client.refused(raidGroups.rename, { id: one, newname: 'two' })).code, 10096);
  await client.call(raidGroups.rename, { id: two, newname: 'two' });
  await client.call(raidGroups.setResyncSpeed, { id: one, min: 5, max: 50 });
  const { code, message } = await client.refused(raidGroups.setResyncSpeed, { id: one, min: 51, max: 50 });
  assert.deepEqual([code, message], [7, 'min must not be above max, 50 MiB/s.']);
  assert.equal((await client.refused(raidGroups.setResyncSpeed, { id: one, min: 0, max: 50 })).code, 7);
  await array.restart();
  const { raid_group } = await client.call(raidGroups.get, { id: one });
  assert.deepEqual(
    [raid_group.display_name, raid_group.min_resync_speed, raid_group.max_resync_speed, raid_group.status],
    ['first', 5, 50, 'Normal'],
  );
  assert.equal((await client.call(raidGroups.list, { start: 1, limit: 1 })).raid_groups[0]?.name, two);
});

test('hot spares are added and taken back by the rules', async (t) => {
  const array = await testArray(t, { drives: 8 });
  const { client } = array;
  const id = await array.group({ name: 'fast' });
  assert.equal((await client.refused(raidGroups.removeHotSpare, { id })).code, 10097);
  const small = differing(array, 9, { medium: 'hdd' });
  const large = differing(array, 10, { capacityGb: 2 });
  await array.change({ drives: [...array.configuration.drives, small, large] });
  for (const number of [3, 4, 5]) await client.call(raidGroups.addHotSpare, { id, disk: names(number) });
  assert.equal((await client.refused(raidGroups.addHotSpare, { id, disk: names(3) })).code, 10101);
  assert.equal((await client.refused(raidGroups.addHotSpare, { id, disk: names(9) })).code, 10100);
  assert.equal((await client.refused(raidGroups.addHotSpare, { id, disk: names(10) })).code, 10110);
  await client.call(raidGroups.addHotSpare, { id, disk: names(10), force: true });
  const full = await client.refused(raidGroups.addHotSpare, { id, disk: names(6) });
  assert.deepEqual(
    [full.code, full.message],
    [10201, 'RAID group fast (RaidGroup-1) has 4 hot spares, as many as it can.'],
  );
  await client.call(raidGroups.removeHotSpare, { id });
  assert.equal((await client.call(drives.get, { id: names(10) })).disk.status, 'Available', 'the last comes out first');
  const { disks } = await client.call(raidGroups.listDrives, { id });
  assert.deepEqual(
    disks.map(({ name }) => name),
    [1, 2, 3, 4, 5].map((number) => names(number)),
  );
  const pair = await create(array, { display_name: 'large', disk: names(6, 7) });
  assert.equal(pair.raidgroup_name, 'RaidGroup-2');
});

test('a RAID group in a pool is not deleted, and says which pool', async (t) => {
  const array = await testArray(t, { drives: 2, driveGb: 3 });
  const group = await array.group({ name: 'shelf' });
  const pool = await array.pool({ groups: [group], name: 'gold', capacity: '1G' });
  const { code, message } = await array.client.refused(raidGroups.delete, { id: group });
  assert.deepEqual(
    [code, message],
    [10105, `RAID group shelf (${group}) belongs to pool gold (${pool}); shrink or delete the pool first.`],
  );
  const { raid_group } = await array.client.call(raidGroups.get, { id: group });
  assert.deepEqual([raid_group.capacity, raid_group.available], [2, 1], 'what the pool may not use is available');
  assert.equal((await array.client.call(raidGroups.listFree, {})).count, 0);
});
