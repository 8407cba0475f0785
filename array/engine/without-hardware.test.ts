import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';

const { controllers, drives, pools, raidGroups, snapshots, volumes } = arrayApi.groups;

async function setUp(t: TestContext) {
  const { client } = await testArray(t, { drives: 0, storageEngine: 'memory' });
  const { pool_name } = await client.call(pools.create, { display_name: 'all', capacity: '2G' } as never);
  return { client, pool: pool_name };
}

test('a whole array runs on an engine without drives and controllers', async (t) => {
  const { client, pool } = await setUp(t);
  const shown = await client.call(pools.get, { id: pool });
  assert.deepEqual([shown.pool.status, shown.pool.capacity, shown.pool.raid_group_name], ['normal', 2, '']);
  assert.equal(shown.pool.chunk_size, 64);
  const { vol_name } = await client.call(volumes.create, { name: 'data', pool, capacity: '1G' } as never);
  const { volume } = await client.call(volumes.get, { id: vol_name });
  assert.deepEqual([volume.status, volume.pool_name], ['Available', pool]);
  const { cg_name } = volume;
  await client.call(snapshots.create, { volume_cg_id: cg_name, display_name: 'before' });
  await client.call(pools.expand, { id: pool, capacity: '1G' } as never);
  assert.equal((await client.call(pools.get, { id: pool })).pool.capacity, 3);
  assert.deepEqual((await client.call(drives.listFree, {})).disks, []);
  assert.deepEqual((await client.call(raidGroups.list, {})).raid_groups, []);
  assert.deepEqual((await client.call(controllers.list, {})).vcontrollers, []);
});

test('what its engine lacks an array refuses, and nothing has changed', async (t) => {
  const { client, pool } = await setUp(t);
  const named = { display_name: 'mine', raid_groups: 'RaidGroup-1', capacity: '1G' };
  assert.match(
    (await client.refused(pools.create, named as never)).message,
    /memory engine .* no drives and RAID groups/,
  );
  const group = { display_name: 'pair', protection: 'RAID1', disk: 'disk-1,disk-2' };
  const groupRefusal = await client.refused(raidGroups.create, group as never);
  assert.match(groupRefusal.message, /memory engine .* no drives and RAID groups/);
  assert.match((await client.refused(controllers.failover, {})).message, /memory engine .* no controllers/);
  const compressed = await client.refused(volumes.create, {
    name: 'v',
    pool,
    capacity: '1G',
    compress: 'YES',
  } as never);
  assert.match(compressed.message, /memory engine .* compression and deduplication/);
  const encrypted = await client.refused(volumes.create, { name: 'v', pool, capacity: '1G', crypt: 'YES' } as never);
  assert.match(encrypted.message, /memory engine .* encryption/);
  assert.deepEqual((await client.call(volumes.list, {})).volumes, []);
});
