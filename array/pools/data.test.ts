import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { arrayApi } from '@granary/contract/array';
import { ScsiError } from '@granary/protocols/iscsi/testing';
import { until } from '../../testing/waiting.ts';
import { testArray, type TestArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';
import { GB, MB } from '../units.ts';

const { pools, volumes, raidGroups, snapshots, messages } = arrayApi.groups;
const POOL_NOT_EMPTY = 10102;
const CAPACITY_REFUSED = 10200;
const SUBMITTED = 1073751835;

async function poolOf({ client }: TestArray, id: string) {
  return (await client.call(pools.get, { id })).pool;
}

describe('the data in pools', { timeout: 120_000 }, () => {
  it('hold exactly what they may, and say so when they are full', async (t) => {
    const array = await testArray(t, { drives: 2, driveGb: 1 });
    const { client } = array;
    const id = await array.pool({ capacity: '64M' });
    const volume = await array.volume(id, { capacity: '100M' });
    await client.call(pools.updateProtection, { id, protectedmode: 0, alertmode: 0 });
    const disk = await testDisk(t, array, volume);
    await disk.write(0, randomBytes(32 * MB));
    assert.equal((await poolOf(array, id)).available_capacity, (32 * MB) / GB);
    await disk.write(32, randomBytes(32 * MB));
    assert.equal((await poolOf(array, id)).available_capacity, 0);
    await assert.rejects(disk.write(64, randomBytes(MB)), ScsiError);
    await disk.write(10, randomBytes(MB));
    const record = await poolOf(array, id);
    assert.deepEqual([record.available_capacity, record.provisioned_capacity], [0, (100 * MB) / GB]);
    const refused = await client.refused(volumes.create, { name: 'more', capacity: '1G', pool: id } as never);
    assert.equal(refused.code, CAPACITY_REFUSED);
    assert.match(refused.message, /is full; expand it or delete something/);
    await client.call(pools.expand, { id, capacity: '1M' } as never);
    await disk.write(64, randomBytes(MB));
    await assert.rejects(disk.write(65, randomBytes(MB)), ScsiError);
  });

  it('shrink with their data intact, are used meanwhile, and free the group', async (t) => {
    const array = await testArray(t, { drives: 4, driveGb: 1 });
    const { client } = array;
    const [a, b] = [await array.group(), await array.group()];
    const id = await array.pool({ groups: [a, b], mode: 'stripe' });
    const volume = await array.volume(id, { capacity: '200M' });
    const disk = await testDisk(t, array, volume);
    const bytes = randomBytes(96 * MB);
    await disk.write(0, bytes);
    const before = await poolOf(array, id);
    const started = await client.refused(pools.shrink, { id, raid_group: b, timeout: 0 });
    assert.equal(started.code, SUBMITTED);
    assert.equal((await client.refused(pools.delete, { id })).code, POOL_NOT_EMPTY);
    const late = randomBytes(8 * MB);
    await disk.write(100, late);
    await until(async () => {
      const { status } = await poolOf(array, id);
      assert.match(status, /^(shrinking \d+%|normal)$/);
      return status === 'normal';
    });
    const after = await poolOf(array, id);
    assert.equal(after.raid_group_name, a);
    assert.deepEqual([before.capacity, after.capacity], [1, 0]);
    assert.equal(after.available_capacity, 0.5 - (104 * MB) / GB, 'half of it was on the group that left');
    assert.deepEqual(await disk.read(0, 96), bytes);
    assert.deepEqual(await disk.read(100, 8), late);
    assert.deepEqual(
      (await client.call(raidGroups.listFree, {})).raid_groups.map(({ name }) => name),
      [b],
    );
    await client.call(raidGroups.delete, { id: b });
  });

  it('keep their space and their data when a shrink is cancelled, and go on shrinking after a restart', async (t) => {
    const array = await testArray(t, { drives: 4, driveGb: 1 });
    const { client } = array;
    const [a, b] = [await array.group(), await array.group()];
    const id = await array.pool({ groups: [a, b], mode: 'stripe' });
    const volume = await array.volume(id, { capacity: '400M' });
    const disk = await testDisk(t, array, volume);
    const bytes = randomBytes(160 * MB);
    await disk.write(0, bytes);
    const before = await poolOf(array, id);
    await client.refused(pools.shrink, { id, raid_group: b, timeout: 0 });
    assert.match((await poolOf(array, id)).status, /^shrinking/);
    await client.call(pools.cancelShrink, { id });
    const kept = await poolOf(array, id);
    assert.deepEqual([kept.status, kept.raid_group_name], ['normal', `${a},${b}`]);
    assert.equal(kept.available_capacity, before.available_capacity);

    await client.refused(pools.shrink, { id, raid_group: b, timeout: 0 });
    await array.restart();
    await until(async () => (await poolOf(array, id)).status === 'normal');
    assert.equal((await poolOf(array, id)).raid_group_name, a);
    await disk.login(t);
    assert.deepEqual(await disk.read(0, 160), bytes);
  });

  it('give up their oldest snapshots in an emergency until there is room again, and no more', async (t) => {
    const array = await testArray(t, { drives: 4, driveGb: 1 });
    const { client } = array;
    const id = await array.pool({ groups: [await array.group(), await array.group()], capacity: '1100M' });
    await client.call(pools.updateProtection, { id, alertmode: 0, protectedmode: 0, emergencymode: 1 });
    const volume = await array.volume(id);
    const { cg_name } = (await client.call(volumes.get, { id: volume })).volume;
    const disk = await testDisk(t, array, volume);
    const snapshot = async (display_name: string) =>
      (await client.call(snapshots.create, { volume_cg_id: cg_name, display_name })).snapshot_name;
    await disk.write(0, randomBytes(30 * MB));
    await snapshot('first');
    await disk.write(0, randomBytes(30 * MB));
    const second = await snapshot('second');
    const bytes = randomBytes(30 * MB);
    await disk.write(0, bytes);
    await until(async () => (await client.call(snapshots.list, {})).count === 1);
    await until(async () => (await poolOf(array, id)).available_capacity >= 1);
    await sleep(4000);
    const left = (await client.call(snapshots.list, {})).snapshots;
    assert.deepEqual(
      left.map(({ name }) => name),
      [second],
    );
    assert.deepEqual(await disk.read(0, 30), bytes);
    const { messages: reported } = await client.call(messages.list, {});
    const titles = reported.map(({ msg_title }) => msg_title).join('\n');
    assert.match(titles, /is in an emergency: \d+ MiB are left; its oldest snapshots are given up\./);
    assert.match(titles, /Snapshot first .* was given up because pool .+ \(pool-00000001\) is nearly full\./);
  });
});
