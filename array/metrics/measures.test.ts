import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { readSeries, valueOf } from '../../testing/metrics.ts';
import { until } from '../../testing/waiting.ts';
import { testArray, type TestArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';

const { drives, pools, volumes, snapshots } = arrayApi.groups;
const GB = 2 ** 30;

async function seriesOf(array: TestArray) {
  const text = await (await fetch(`${array.configuration.managementUrl}/metrics`)).text();
  const all = readSeries(text);
  return { text, all, value: (name: string, labels = {}) => valueOf(all, `granary_${name}`, labels) };
}

test('an array shows how full its pools are, and counts what servers read and write', async (t) => {
  const array = await testArray(t, { displayName: 'tank' });
  const pool = await array.pool({ name: 'gold' });
  const volume = await array.volume(pool);
  const disk = await testDisk(t, array, volume);
  await disk.lun.write(0, Buffer.alloc(8192, 1));
  await disk.lun.read(0, 4096);
  await array.client.call(snapshots.create, {
    volume_cg_id: await groupOf(array, volume),
    display_name: 'noon',
  });
  const written = { volume, direction: 'write' };
  await until(async () => {
    const { value } = await seriesOf(array);
    return value('volume_bytes_total', written) === 8192 && (value('pool_used_bytes', { pool }) ?? 0) > 0;
  });
  const { value, all } = await seriesOf(array);
  const { pool: record } = await array.client.call(pools.get, { id: pool });
  assert.equal(value('array_info', { name: 'tank' }), 1);
  assert.equal(value('pool_info', { pool, name: 'gold' }), 1);
  assert.equal(Math.floor((value('pool_capacity_bytes', { pool }) ?? 0) / GB), Math.floor(record.capacity));
  assert.equal(value('pool_provisioned_bytes', { pool }), value('volume_size_bytes', { volume }));
  assert.equal(value('pool_capacity_mode', { pool, state: 'normal' }), 1);
  assert.equal(value('pool_capacity_mode', { pool, state: 'emergency' }), 0);
  assert.equal(value('pool_failed', { pool }), 0);
  assert.equal(value('volume_operations_total', written), value('volume_operation_duration_seconds_count', written));
  const buckets = all.filter(
    ({ name, labels }) => name === 'granary_pool_operation_duration_seconds_bucket' && labels['direction'] === 'write',
  );
  assert.equal(buckets.at(-1)?.labels['le'], '+Inf');
  assert.equal(buckets.at(-1)?.value, value('pool_operations_total', { pool, direction: 'write' }));
  assert.ok(
    buckets.every(({ value }, index) => value >= (buckets[index - 1]?.value ?? 0)),
    'buckets are cumulative',
  );
  assert.deepEqual([value('volumes', { kind: 'block' }), value('volumes', { kind: 'file' })], [1, 0]);
  assert.deepEqual([value('snapshots'), value('volumes_without_series')], [1, 0]);
  assert.equal(value('sessions', { protocol: 'iscsi' }), 1);
  assert.equal(value('controller_state', { state: 'active' }), 1);
});

test('a drive that is out of service shows in the state of the drive and of its RAID group', async (t) => {
  const array = await testArray(t);
  const group = await array.group();
  const { disks } = await array.client.call(drives.list, {});
  const drive = disks.find(({ raid_group_name: of }) => of === group)!.name;
  const before = await seriesOf(array);
  assert.equal(before.value('drive_state', { drive, state: 'normal' }), 1);
  assert.equal(before.value('raid_group_state', { raid_group: group, state: 'normal' }), 1);
  assert.equal(before.value('raid_group_rebuild_progress_ratio', { raid_group: group }), undefined);
  await array.client.call(drives.takeOffline, { id: drive });
  await until(async () => {
    const { value } = await seriesOf(array);
    return value('raid_group_state', { raid_group: group, state: 'degraded' }) === 1;
  });
  const { value } = await seriesOf(array);
  assert.equal(value('drive_state', { drive, state: 'failed' }), 1);
  assert.equal(value('drive_state', { drive, state: 'normal' }), 0);
});

async function groupOf(array: TestArray, volume: string): Promise<string> {
  return (await array.client.call(volumes.get, { id: volume })).volume.cg_name;
}
