import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HostedConfiguration } from '@granary/kernel';
import { until } from '../../testing/waiting.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { checkArray } from '../check/check-array.ts';
import { TestArrayProcess, arrayConfiguration } from '../testing/array-process.ts';

const ROUNDS = process.env['GRANARY_TORTURE'] === '1' ? 30 : 2;
const MS_BETWEEN_MOMENTS = 12;
const DRIVES = ['volume-00000001', 'volume-00000002'];

/** A pool with volumes and a snapshot, all of whose drives are gone. */
async function makeDamaged({ client }: TestArrayProcess) {
  const wanted = { display_name: 'pair', protection: 'RAID1' as const, disk: DRIVES };
  const { raidgroup_name: group } = await client.raidGroups.create(wanted);
  const { pool_name: pool } = await client.pools.create({ display_name: 'main', raid_groups: [group] });
  const { vol_name: volume } = await client.volumes.create({ name: 'one', capacity: 100, pool });
  await client.volumes.create({ name: 'two', capacity: 100, pool });
  const { cg_name } = (await client.volumes.get({ id: volume })).volume;
  await client.snapshots.create({ volume_cg_id: cg_name, display_name: 'before' });
  for (const id of DRIVES) await client.drives.takeOffline({ id, force: true });
  await until(async () => (await client.pools.get({ id: pool })).pool.status === 'failed', 'the group to fail');
  return { pool, group };
}

/** Nothing of the pool is left, and its drives can be used again. */
async function checkGone({ client }: TestArrayProcess, group: string, { folder }: HostedConfiguration): Promise<void> {
  for (const { count } of [await client.pools.list(), await client.volumes.list(), await client.snapshots.list()])
    assert.equal(count, 0);
  assert.deepEqual(readdirSync(join(folder, 'pools')), []);
  for (const id of DRIVES) await client.drives.bringOnline({ id });
  await client.raidGroups.delete({ id: group });
  assert.equal((await client.drives.listFree()).count, DRIVES.length);
}

test(
  'a forced deletion of a damaged pool that is killed is whole: all of it, or nothing yet',
  { timeout: 600_000 },
  async (t) => {
    const configuration = arrayConfiguration(temporaryFolder(t), DRIVES.length, 1);
    let array = await TestArrayProcess.start(configuration);
    t.after(() => array.kill());
    const seen: string[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const { pool, group } = await makeDamaged(array);
      const deletion = array.client.pools.delete({ id: pool, force: true }).catch(() => undefined);
      await sleep(round * MS_BETWEEN_MOMENTS);
      await array.kill();
      await deletion;
      array = await TestArrayProcess.start(configuration);
      const left = (await array.client.pools.list()).pools[0];
      seen.push(left?.status ?? 'gone');
      if (left) {
        assert.equal(left.status, 'failed');
        assert.equal((await array.client.volumes.list()).count, 2);
        await array.client.pools.delete({ id: pool, force: true });
      }
      await checkGone(array, group, configuration);
    }
    t.diagnostic(`after the kills the pool was ${seen.join(', ')}`);
    await array.stop();
    assert.deepEqual((await checkArray(configuration)).problems, []);
  },
);

test('a forced deletion that was begun goes on at the next start', { timeout: 600_000 }, async (t) => {
  const configuration = arrayConfiguration(temporaryFolder(t), DRIVES.length, 1);
  let array = await TestArrayProcess.start(configuration);
  t.after(() => array.kill());
  const { group } = await makeDamaged(array);
  await array.kill();
  const database = new DatabaseSync(join(configuration.folder, 'array.db'));
  database.exec(`UPDATE pools SET state = 'deleting'`);
  database.close();
  // Closing wrote the log back, which after a kill looks like a lost one.
  rmSync(join(configuration.folder, 'array.db.mark'));
  array = await TestArrayProcess.start(configuration);
  await checkGone(array, group, configuration);
});
