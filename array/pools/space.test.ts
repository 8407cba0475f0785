import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import { GranaryError, type Store } from '@granary/kernel';
import { EngineError } from '../engine/errors.ts';
import { GB } from '../units.ts';
import { poolBench } from './testing/bench.ts';

const WANTED = { displayName: 'main', cache: false, cowCache: true, mode: 'simple', type: 'Balanced' } as const;
const is = (entry: string) => (error: unknown) => error instanceof GranaryError && error.entry === entry;

function poolOf(store: Store, group: string): string | null | undefined {
  const sql = 'SELECT pool FROM raid_groups WHERE name = :group';
  return store.read((db) => db.get<{ pool: string | null }>(sql, { group }))?.pool;
}

describe('the space of pools', () => {
  it('goes to one of many who want the same name, or the same RAID group, at once', async () => {
    const { pools, reports } = poolBench(10 * GB);
    const named = Array.from({ length: 20 }, (_, index) =>
      pools.create({ ...WANTED, groups: [`group-${index + 1}`] }, 'ann'),
    );
    const results = await Promise.allSettled(named);
    assert.equal(results.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of results) if (result.status === 'rejected') assert.ok(is('name_taken')(result.reason));
    const grouped = Array.from({ length: 20 }, (_, index) =>
      pools.create({ ...WANTED, displayName: `p${index}`, groups: ['group-30'] }, 'ann'),
    );
    const others = await Promise.allSettled(grouped);
    assert.equal(others.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const result of others) if (result.status === 'rejected') assert.ok(is('raid_group_in_use')(result.reason));
    assert.equal(reports.size, 2);
  });

  it('is free again when the engine refuses', async () => {
    const { pools, tools } = poolBench(10 * GB);
    const refuse = () => Promise.reject(new EngineError('failed', 'A drive is gone.'));
    const createPool = mock.method(tools.engine, 'createPool', refuse);
    await assert.rejects(pools.create({ ...WANTED, groups: ['group-1'] }, 'ann'), /A drive is gone/);
    assert.equal(poolOf(tools.store, 'group-1'), null);
    assert.equal(pools.list({ start: 0, limit: 0 }).count, 0);
    createPool.mock.restore();
    const { name } = await pools.create({ ...WANTED, groups: ['group-1'] }, 'ann');
    const expandPool = mock.method(tools.engine, 'expandPool', refuse);
    await assert.rejects(pools.expand(name, { groups: ['group-2'] }, 'ann'), /A drive is gone/);
    assert.equal(poolOf(tools.store, 'group-2'), null);
    assert.equal(pools.get(name).capacityBytes, 10 * GB);
    expandPool.mock.restore();
    await pools.expand(name, { groups: ['group-2'], capacityMb: 1024 }, 'ann');
    assert.equal(pools.get(name).capacityBytes, 11 * GB);
    await assert.rejects(pools.expand(name, { capacityMb: 10 * 1024 }, 'ann'), is('capacity_refused'));
    await pools.expand(name, { capacityMb: 9 * 1024 }, 'ann');
    assert.equal(pools.get(name).capacityBytes, 20 * GB);
  });

  it('is reconciled after a crash: what was begun is undone, what was being deleted goes, expansions are made good', async () => {
    const bench = poolBench(10 * GB);
    const { pools, tools } = bench;
    const never = () => new Promise<never>(() => undefined);
    const whole = await pools.create({ ...WANTED, displayName: 'whole', groups: ['group-1'] }, 'ann');
    const going = await pools.create({ ...WANTED, displayName: 'going', groups: ['group-2'] }, 'ann');
    Object.assign(tools.engine, { createPool: never, deletePool: never, expandPool: never });
    void pools.create({ ...WANTED, displayName: 'half', groups: ['group-3'] }, 'ann');
    void pools.delete(going.name, false, 'ann');
    void pools.expand(whole.name, { groups: ['group-4'] }, 'ann');
    await tools.store.write(() => undefined);
    const again = bench.restart();
    again.reports.set('pool-000000ff', { ...again.reports.get(whole.name)!, id: 'pool-000000ff' });
    await again.tools.readings.refresh();
    await again.pools.reconcile();
    assert.deepEqual([...again.reports.keys()], [whole.name]);
    assert.deepEqual(again.reports.get(whole.name)?.groups, ['group-1', 'group-4']);
    assert.equal(again.reports.get(whole.name)?.totalBytes, 20 * GB);
    assert.equal(again.pools.list({ start: 0, limit: 0 }).count, 1);
    assert.deepEqual(
      ['group-1', 'group-2', 'group-3', 'group-4'].map((group) => poolOf(tools.store, group)),
      [whole.name, null, null, whole.name],
    );
  });
});
