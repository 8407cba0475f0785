import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { GB, Store } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import { migrations } from '../migrations.ts';
import { raidGroupsOfPool } from '../raid-groups/repository.ts';
import { poolBench } from './testing/bench.ts';

const WANTED = { displayName: 'main', cache: false, cowCache: true, mode: 'simple', type: 'Balanced' } as const;
const EXTENT = 256 * 1024;

it('a pool grows within its own RAID groups: by an amount, by all that is left, or by what one of them has left', async () => {
  const { pools } = poolBench(10 * GB);
  const { name } = await pools.create({ ...WANTED, groups: ['group-1', 'group-2'], capacityMb: 8 * 1024 }, 'ann');
  await pools.expand(name, { capacityMb: 2048 }, 'ann');
  assert.equal(pools.get(name).capacityBytes, 10 * GB);
  await pools.expand(name, { groups: ['group-1'] }, 'ann');
  assert.equal(pools.get(name).capacityBytes, 15 * GB, 'the other one keeps its 5 GB');
  await assert.rejects(pools.expand(name, { groups: ['group-1'] }, 'ann'), /group-1 has 0 MiB free; add RAID groups/);
  await pools.expand(name, { capacityMb: 5 * 1024 }, 'ann');
  assert.equal(pools.get(name).capacityBytes, 20 * GB);
});

it('what is asked of RAID groups that join comes from those alone', async () => {
  const { pools } = poolBench(10 * GB);
  const { name } = await pools.create({ ...WANTED, groups: ['group-1'], capacityMb: 1024 }, 'ann');
  const tooMuch = pools.expand(name, { groups: ['group-2'], capacityMb: 11 * 1024 }, 'ann');
  await assert.rejects(tooMuch, /group-2 has 10 GiB free, 11 GiB were asked for; ask for less or add RAID groups/);
  assert.equal(pools.get(name).capacityBytes, GB);
});

it('pools of an earlier version are shared out over their RAID groups, to the last extent', async (t) => {
  const file = join(temporaryFolder(t), 'array.db');
  const before = migrations.steps.findIndex(({ name }) => name.includes('pool-shares'));
  const old = new Store(file, { ...migrations, steps: migrations.steps.slice(0, before) });
  const sizes = [5, 7, 11].map((extents) => extents * EXTENT);
  await old.write((tx) => {
    tx.run(`INSERT INTO pools (name, display_name, mode, type, capacity_bytes, state, cache, cow_cache,
        capacity_history, alert_mode, protected_mode, emergency_mode, effective_capacity_history,
        effective_alert_mode, effective_protected_mode, effective_emergency_mode, created_at, modified_at)
      VALUES ('pool-1', 'main', 'simple', 'Balanced', ${13 * EXTENT}, 'ready', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)`);
    for (const [index, bytes] of sizes.entries())
      tx.run(`INSERT INTO raid_groups (name, number, display_name, protection, width, stripe_kb, capacity_bytes, pool,
          is_ssd, state, min_resync_mb, max_resync_mb, created_at, modified_at)
        VALUES ('g${index}', ${index}, 'g${index}', 'RAID1', 2, 64, ${bytes}, 'pool-1', 0, 'ready', 1, 1, 0, 0)`);
  });
  old.close();
  const store = new Store(file, migrations);
  t.after(() => store.close());
  const groups = store.read((db) => raidGroupsOfPool(db, 'pool-1'));
  assert.deepEqual(
    groups.map(({ poolBytes }) => poolBytes / EXTENT),
    [2, 4, 7],
  );
});
