import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray, type TestArray } from '../testing/test-array.ts';

const { pools, volumes, raidGroups, messages, settings } = arrayApi.groups;
const CODES = {
  badParameter: 7,
  raidGroupNotFound: 10009,
  poolNotFound: 10080,
  nameTaken: 10096,
  stateConflict: 10100,
  poolNotEmpty: 10102,
  raidGroupInUse: 10105,
  notOffered: 10109,
  capacityRefused: 10200,
  poolProtected: 10202,
};

async function poolOf({ client }: TestArray, id: string) {
  return (await client.call(pools.get, { id })).pool;
}

describe('pools', { timeout: 120_000 }, () => {
  it('are made of free RAID groups, shown in full, renamed, and deleted when empty', async (t) => {
    const array = await testArray(t, { drives: 4, driveGb: 2 });
    const { client } = array;
    const [a, b] = [await array.group(), await array.group()];
    const { pool_name: id } = await client.call(pools.create, {
      display_name: 'main',
      raid_groups: [a],
      capacity: '1G',
      cache: true,
      cowcache: true,
      mode: 'stripe',
      pooltype: 'Archival Storage',
    } as never);
    assert.equal(id, 'pool-00000001');
    const pool = await poolOf(array, id);
    const { created_at, modified_at, ...rest } = pool;
    assert.match(created_at, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/);
    assert.match(modified_at, /UTC$/);
    assert.deepEqual(rest, {
      name: id,
      display_name: 'main',
      status: 'normal',
      capacity: 1,
      available_capacity: 1,
      provisioned_capacity: 0,
      version: 1,
      data_type: 'BLOCK',
      mount_sync: 'NO',
      access_time_update: null,
      raid_group_name: a,
      mode: 'stripe',
      stripe_size: 256,
      cache: 'YES',
      cow_cache: 'YES',
      capacity_mode: 'normal',
      capacity_history: 60,
      alert_mode: 60,
      protected_mode: 10,
      emergency_mode: 0,
      chunk_size: 256,
      type: 'Archival Storage',
    });
    const other = await array.pool({ groups: [b], name: 'all' });
    const all = await poolOf(array, other);
    assert.deepEqual(
      [all.capacity, all.mode, all.stripe_size, all.cache, all.cow_cache],
      [1, 'simple', 0, 'NO', 'YES'],
    );
    assert.equal(all.available_capacity, 1, 'whole GB, as its RAID group shows them');
    const listed = await client.call(pools.list, { start: 1, limit: 1 });
    assert.deepEqual([listed.pools.map(({ name }) => name), listed.count], [[other], 2]);
    assert.deepEqual(listed.pools[0], all);

    await client.call(pools.rename, { id, new_name: 'archive' });
    assert.equal((await poolOf(array, id)).display_name, 'archive');
    assert.equal((await client.refused(pools.rename, { id, new_name: 'all' })).code, CODES.nameTaken);

    const volume = await array.volume(id, { capacity: '512M' });
    assert.equal((await poolOf(array, id)).provisioned_capacity, 0.5);
    const inside = await client.call(pools.listVolumes, { id });
    assert.deepEqual([inside.volumes.map(({ name }) => name), inside.count], [[volume], 1]);
    assert.equal((await client.call(pools.listDestinationVolumes, { id })).count, 0);
    const below = await client.call(pools.listRaidGroups, { id });
    assert.deepEqual([below.raid_groups.map(({ name }) => name), below.count], [[a], 1]);
    const notEmpty = await client.refused(pools.delete, { id });
    assert.equal(notEmpty.code, CODES.poolNotEmpty);
    assert.match(notEmpty.message, /still has 1 volume,/);
    await client.call(volumes.delete, { id: volume, timeout: -1 });
    await client.call(pools.delete, { id });
    assert.equal((await client.refused(pools.get, { id })).code, CODES.poolNotFound);
    assert.equal((await client.call(raidGroups.listFree, {})).count, 1);
    assert.equal(await array.pool({ groups: [a], name: 'archive' }), 'pool-00000003', 'numbers do not return');
    const { messages: reported } = await client.call(messages.list, {});
    const titles = reported.map(({ msg_title }) => msg_title).join('\n');
    for (const expected of [/Pool main \(pool-00000001\) of 1 GiB was created/, /Pool archive .* was deleted/])
      assert.match(titles, expected);
  });

  it('refuse what does not fit, in whichever way, and change nothing by it', async (t) => {
    const array = await testArray(t, { drives: 4, driveGb: 1 });
    const { client } = array;
    const [a, b] = [await array.group(), await array.group()];
    const wanted = { display_name: 'main', raid_groups: [a] };
    const create = (change: object) => client.refused(pools.create, { ...wanted, ...change });
    assert.equal((await create({ raid_groups: ['RaidGroup-9'] })).code, CODES.raidGroupNotFound);
    assert.equal((await create({ capacity: '2G' })).code, CODES.capacityRefused);
    assert.equal((await create({ mode: 'raid' })).code, CODES.badParameter);
    assert.equal((await create({ pooltype: 'Swift' })).code, CODES.badParameter);
    assert.equal((await create({ display_name: ' ' })).code, CODES.badParameter);
    assert.equal((await client.call(pools.list, {})).count, 0);
    assert.equal((await client.call(raidGroups.listFree, {})).count, 2);

    const id = await array.pool({ groups: [a], name: 'main', capacity: '512M' });
    assert.equal((await create({ raid_groups: [b] })).code, CODES.nameTaken);
    assert.equal((await create({ display_name: 'other' })).code, CODES.raidGroupInUse);
    const expand = async (change: object) => client.refused(pools.expand, { id, ...change });
    assert.equal((await expand({})).code, CODES.badParameter);
    assert.equal((await expand({ capacity: '1G' })).code, CODES.capacityRefused);
    assert.equal((await expand({ raid_groups: [b], obsdestname: 'obsdst-00000001' })).code, CODES.badParameter);
    const cloud = await expand({ obsdestname: 'obsdst-00000001', cloud_size: 20 });
    assert.equal(cloud.code, CODES.notOffered);
    assert.match(cloud.message, /expand this one by RAID groups instead/);
    assert.equal(
      (await client.refused(pools.expand, { id: 'pool-9', capacity: '1G' } as never)).code,
      CODES.poolNotFound,
    );
    const shrink = async (change: object) => client.refused(pools.shrink, { id, ...change });
    assert.equal((await shrink({ raid_group: a })).code, CODES.stateConflict);
    assert.equal((await shrink({ raid_group: b })).code, CODES.stateConflict);
    assert.equal((await shrink({ raid_group: 'RaidGroup-9' })).code, CODES.raidGroupNotFound);
    assert.equal((await shrink({})).code, CODES.badParameter);
    assert.equal((await shrink({ obsshrinksize: 20 })).code, CODES.notOffered);
    assert.equal((await client.refused(pools.cancelShrink, { id })).code, CODES.stateConflict);
    assert.equal((await poolOf(array, id)).available_capacity, 0.5);

    await client.call(pools.expand, { id, capacity: '256M' } as never);
    assert.equal((await poolOf(array, id)).available_capacity, 0.75);
    await client.call(pools.expand, { id, raid_groups: [b], capacity: '512M' } as never);
    assert.deepEqual(
      [(await poolOf(array, id)).available_capacity, (await poolOf(array, id)).raid_group_name],
      [1.25, `${a},${b}`],
    );
  });

  it('protect themselves: all thresholds can be set, and an emergency refuses new volumes', async (t) => {
    const array = await testArray(t, { drives: 2, driveGb: 1 });
    const { client } = array;
    const id = await array.pool();
    await client.call(pools.updateProtection, {
      id,
      capacityhistory: 30,
      alertmode: 40,
      protectedmode: 20,
      emergencymode: 0,
      effectivecapacityhistory: 10,
      effectivealertmode: 9,
      effectiveprotectedmode: 8,
      effectiveemergencymode: 0,
    });
    await client.call(pools.updateProtection, { id, alertmode: 41 });
    const pool = await poolOf(array, id);
    assert.deepEqual(
      [pool.capacity_history, pool.alert_mode, pool.protected_mode, pool.emergency_mode, pool.capacity_mode],
      [30, 41, 20, 0, 'normal'],
    );
    await client.call(pools.updateProtection, { id, emergencymode: 2 });
    assert.equal((await poolOf(array, id)).capacity_mode, 'emergency');
    const refused = await client.refused(volumes.create, { name: 'v', capacity: '1G', pool: id } as never);
    assert.equal(refused.code, CODES.poolProtected);
    assert.match(refused.message, /emergency mode: 1022 MiB are left/);
    await array.restart();
    assert.equal((await poolOf(array, id)).capacity_mode, 'emergency');
    await client.call(pools.updateProtection, { id, emergencymode: 0, effectiveemergencymode: 2 });
    assert.equal((await poolOf(array, id)).capacity_mode, 'emergency');
    await client.call(pools.updateProtection, { id, effectiveemergencymode: 0 });
    assert.equal((await poolOf(array, id)).capacity_mode, 'normal');
    await array.volume(id);
    assert.equal((await client.refused(pools.updateProtection, { id, alertmode: -1 })).code, CODES.badParameter);
  });

  it('have a cache that can be turned on and off, and settings that survive a restart', async (t) => {
    const array = await testArray(t, { drives: 2, driveGb: 1, cacheGb: 1 });
    const { client } = array;
    const id = await array.pool();
    const caches = async () => {
      const { cache, cow_cache } = await poolOf(array, id);
      return [cache, cow_cache];
    };
    assert.deepEqual(await caches(), ['NO', 'YES']);
    await client.call(pools.toggleCache, { id, command: 'enable', cowcache: false });
    assert.deepEqual(await caches(), ['YES', 'NO']);
    await client.call(pools.setCowCache, { id, cowcache: true });
    await client.call(pools.setSsdCoolOff, { id, cool_off_hours: 24 });
    await array.change({ cacheGb: 2 });
    await array.restart();
    assert.deepEqual(await caches(), ['YES', 'YES']);
    await client.call(pools.toggleCache, { id, command: 'disable' });
    assert.deepEqual(await caches(), ['NO', 'YES']);
    const points = await client.call(pools.performance, { id, interval: 1 });
    assert.equal(points.pool_name, id);
    assert.equal(points.count, points.usages.length);
  });

  it('show what their recycle bin holds, and are not empty while it does', async (t) => {
    const array = await testArray(t, { drives: 2, driveGb: 1 });
    const { client } = array;
    await client.call(settings.update, { recycle_bin: true });
    const id = await array.pool();
    const volume = await array.volume(id, { name: 'old', capacity: '256M' });
    const { cg_name } = (await client.call(volumes.get, { id: volume })).volume;
    await client.call(volumes.delete, { id: volume, timeout: -1 });
    const { volumes: binned, count } = await client.call(pools.listRecycleBin, { id });
    assert.equal(count, 1);
    const { deleted_at, ...rest } = JSON.parse(binned[0] ?? '') as Record<string, unknown>;
    assert.deepEqual(rest, { name: volume, display_name: 'old', cg_name, virtual_capacity: 0.25 });
    assert.match(String(deleted_at), /UTC$/);
    assert.equal((await client.call(pools.listVolumes, { id })).count, 0);
    assert.equal((await client.refused(pools.delete, { id })).code, CODES.poolNotEmpty);
  });

  it('let one of twenty win who want the same name at once', async (t) => {
    const array = await testArray(t, { drives: 2, driveGb: 1 });
    const group = await array.group();
    const ask = () => array.client.call(pools.create, { display_name: 'main', raid_groups: [group] });
    const results = await Promise.allSettled(Array.from({ length: 20 }, ask));
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal((await array.client.call(pools.list, {})).count, 1);
  });
});
