import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../../testing/folders.ts';
import { TestArrayProcess, arrayConfiguration } from '../testing/array-process.ts';

/** RAID groups are in the pools that name them, and every pool can be used. */
async function check({ client }: TestArrayProcess, groups: readonly string[]): Promise<string[]> {
  const { pools } = await client.pools.list();
  const taken = pools.flatMap(({ raid_group_name }) => raid_group_name.split(','));
  assert.equal(new Set(taken).size, taken.length, 'no group is in two pools');
  const { raid_groups: free } = await client.raidGroups.listFree();
  assert.deepEqual([...taken, ...free.map(({ name }) => name)].toSorted(), [...groups].toSorted());
  for (const { name, status, capacity } of pools) {
    assert.match(status, /^(normal|shrinking \d+%)$/);
    assert.ok(capacity >= 1);
    const { vol_name } = await client.volumes.create({ name: `in ${name}`, pool: name, capacity: 64 });
    await client.volumes.delete({ id: vol_name, timeout: -1 });
    assert.ok((await client.pools.get({ id: name })).pool.available_capacity > 1);
  }
  return pools.map(({ name }) => name);
}

describe('pools whose array is killed', { timeout: 600_000 }, () => {
  it('are there whole or not at all, with the RAID groups they name', async (t) => {
    const configuration = arrayConfiguration(temporaryFolder(t), 6, 2);
    let array = await TestArrayProcess.start(configuration);
    t.after(() => array.stop());
    const { disks } = await array.client.drives.list();
    const groups: string[] = [];
    for (const pair of [0, 2, 4]) {
      const disk = disks.slice(pair, pair + 2).map(({ name }) => name);
      const display_name = `group ${pair}`;
      groups.push((await array.client.raidGroups.create({ display_name, protection: 'RAID1', disk })).raidgroup_name);
    }
    const [first = '', second = '', third = ''] = groups;
    for (const afterMs of [0, 30, 90]) {
      const { client } = array;
      const work = async (): Promise<void> => {
        const { pool_name: id } = await client.pools.create({ display_name: 'main', raid_groups: [first, second] });
        await client.pools.expand({ id, raid_groups: [third] });
        await client.pools.shrink({ id, raid_group: second, timeout: -1 });
        await client.pools.delete({ id });
      };
      const working = work().catch(() => undefined);
      await sleep(afterMs);
      await array.kill();
      await working;
      array = await TestArrayProcess.start(configuration);
      const left = await check(array, groups);
      for (const id of left) {
        // It may have ended by itself meanwhile.
        await array.client.pools.cancelShrink({ id }).catch(() => undefined);
        await array.client.pools.delete({ id });
      }
      assert.deepEqual(await check(array, groups), []);
    }
  });
});
