import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { seededRandom } from '../../testing/random.ts';
import { temporaryFolder } from '../../testing/folders.ts';
import { TestArrayProcess, arrayConfiguration } from '../testing/array-process.ts';

const ROUNDS = process.env['GRANARY_TORTURE'] === '1' ? 10 : 1;
const AT_ONCE = 4;

test('after kill -9 every snapshot that was answered is there, every deleted one is gone, and all can be cloned', async (t) => {
  const random = seededRandom(t);
  const configuration = arrayConfiguration(temporaryFolder(t), 2, 1);
  let array = await TestArrayProcess.start(configuration);
  t.after(() => array.kill());
  const { client } = array;
  const { disks } = await client.drives.list({});
  const disk = disks.map(({ name }) => name);
  const { raidgroup_name } = await client.raidGroups.create({ display_name: 'r', protection: 'RAID1', disk });
  const { pool_name } = await client.pools.create({ display_name: 'p', raid_groups: [raidgroup_name] });
  const { vol_name: id } = await client.volumes.create({ name: 'v', capacity: 1, pool: pool_name });
  const { cg_name: volume_cg_id } = (await client.volumes.get({ id })).volume;

  const there = new Set<string>();
  const gone = new Set<string>();
  let made = 0;
  /** Until the array is killed. */
  async function work({ client: calls }: TestArrayProcess): Promise<void> {
    for (;;) {
      const display_name = `s${(made += 1)}`;
      const { snapshot_name } = await calls.snapshots.create({ volume_cg_id, display_name });
      there.add(snapshot_name);
      if (random() < 0.5) continue;
      there.delete(snapshot_name);
      await calls.snapshots.delete({ snapshot_id: snapshot_name });
      gone.add(snapshot_name);
    }
  }

  for (let round = 1; round <= ROUNDS; round += 1) {
    const workers = Array.from({ length: AT_ONCE }, () => work(array).catch(() => undefined));
    await sleep(300 + random() * 500);
    await array.kill();
    await Promise.all(workers);
    array = await TestArrayProcess.start(configuration);
    const { snapshots } = await array.client.snapshots.list({});
    const names = new Set(snapshots.map(({ name }) => name));
    for (const name of there) assert.ok(names.has(name), `${name} was answered and is not there`);
    for (const name of gone) assert.ok(!names.has(name), `${name} was deleted and is there`);
    for (const { name } of snapshots.slice(-5)) {
      await array.client.consistencyGroups.clone({ volume_cg_id, name: `${round} ${name}`, snapshot: name });
    }
    t.diagnostic(`${there.size} there, ${gone.size} gone`);
  }
});
