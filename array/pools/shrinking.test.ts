import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { GranaryError } from '@granary/kernel';
import { EngineError } from '../engine/errors.ts';
import { GB } from '../units.ts';
import { poolView } from './view.ts';
import { poolBench, type FakeShrink, type PoolBench } from './testing/bench.ts';

const WANTED = { displayName: 'main', cache: false, cowCache: true, mode: 'simple', type: 'Balanced' } as const;

async function withTwoGroups(t: TestContext) {
  const bench = poolBench(10 * GB);
  const { name } = await bench.pools.create({ ...WANTED, groups: ['group-1', 'group-2'] }, 'ann');
  await bench.tools.jobs.start();
  t.after(() => bench.tools.jobs.stop());
  return { bench, name };
}

async function underWay({ shrinks, clock }: PoolBench): Promise<FakeShrink> {
  for (let tries = 0; shrinks.length === 0; tries++) {
    assert.ok(tries < 500, 'the job did not start');
    await new Promise((resolve) => setTimeout(resolve, 10));
    clock.advance(10);
  }
  return shrinks[0]!;
}

const statusOf = async ({ pools }: PoolBench, name: string) => poolView(await pools.show(name)).status;
const is = (entry: string) => (error: unknown) => error instanceof GranaryError && error.entry === entry;

describe('shrinking a pool', () => {
  it('shows how far it is, and frees the group in the end', async (t) => {
    const { bench, name } = await withTwoGroups(t);
    const job = await bench.pools.shrink(name, 'group-2', undefined, 'ann');
    const shrink = await underWay(bench);
    shrink.work.onProgress?.(0.379);
    assert.equal(await statusOf(bench, name), 'shrinking 37%');
    shrink.finish();
    assert.equal((await bench.tools.jobs.wait(job, 5000))?.state, 'done');
    const view = poolView(await bench.pools.show(name));
    assert.deepEqual([view.status, view.capacity, view.raid_group_name], ['normal', 10, 'group-1']);
    assert.equal(bench.tools.store.read((db) => db.get<{ pool: null }>(FREE))?.pool, null);
  });

  it('keeps its space when it is cancelled, under way or before it began', async (t) => {
    const { bench, name } = await withTwoGroups(t);
    const job = await bench.pools.shrink(name, 'group-2', undefined, 'ann');
    await underWay(bench);
    await bench.pools.cancelShrink(name, 'bob');
    assert.equal(bench.tools.jobs.get(job)?.state, 'failed');
    assert.equal(await statusOf(bench, name), 'normal');
    assert.match(bench.titles().join('\n'), /Shrinking pool main \(pool-00000001\) was cancelled\./);

    const idle = poolBench(10 * GB);
    const other = await idle.pools.create({ ...WANTED, groups: ['group-1', 'group-2'] }, 'ann');
    const waiting = await idle.pools.shrink(other.name, 'group-1', undefined, 'ann');
    await idle.pools.cancelShrink(other.name, 'bob');
    assert.equal(await statusOf(idle, other.name), 'normal');
    await idle.tools.jobs.start();
    t.after(() => idle.tools.jobs.stop());
    assert.equal((await idle.tools.jobs.wait(waiting, 5000))?.state, 'failed');
    assert.equal(idle.shrinks.length, 0, 'nothing was moved');
  });

  it('says so when it is too late to cancel', async (t) => {
    const { bench, name } = await withTwoGroups(t);
    await bench.pools.shrink(name, 'group-2', undefined, 'ann');
    (await underWay(bench)).finish();
    await assert.rejects(bench.pools.cancelShrink(name, 'bob'), is('state_conflict'));
    assert.equal(poolView(await bench.pools.show(name)).raid_group_name, 'group-1');
  });

  it('refuses the only group, one of elsewhere, too much data, and a second shrink', async (t) => {
    const { bench, name } = await withTwoGroups(t);
    const { pools } = bench;
    const other = await pools.create({ ...WANTED, displayName: 'other', groups: ['group-3'] }, 'ann');
    await assert.rejects(pools.shrink(other.name, 'group-3', undefined, 'ann'), is('state_conflict'));
    await assert.rejects(pools.shrink(name, 'group-3', undefined, 'ann'), is('state_conflict'));
    await assert.rejects(pools.shrink(name, undefined, undefined, 'ann'), is('bad_parameter'));
    await assert.rejects(pools.shrink(name, undefined, 20, 'ann'), is('not_offered'));
    await assert.rejects(pools.cancelShrink(name, 'ann'), is('state_conflict'));
    await bench.use(name, 10 * GB + 1);
    await assert.rejects(pools.shrink(name, 'group-2', undefined, 'ann'), is('capacity_refused'));
    await bench.use(name, 10 * GB);
    await pools.shrink(name, 'group-2', undefined, 'ann');
    await assert.rejects(pools.shrink(name, 'group-1', undefined, 'ann'), is('state_conflict'));
    await assert.rejects(pools.delete(name, false, 'ann'), is('state_conflict'));
    await assert.rejects(pools.expand(name, { groups: ['group-4'] }, 'ann'), is('state_conflict'));
  });

  it('goes on after a restart, and after a controller failed over', async (t) => {
    const { bench, name } = await withTwoGroups(t);
    const job = await bench.pools.shrink(name, 'group-2', undefined, 'ann');
    await underWay(bench);
    await bench.tools.jobs.stop();
    const again = bench.restart();
    await again.pools.reconcile();
    assert.match(await statusOf(again, name), /^shrinking/);
    await again.tools.jobs.start();
    t.after(() => again.tools.jobs.stop());
    (await underWay(again)).fail(new EngineError('interrupted', 'The controller failed over.'));
    again.shrinks.length = 0;
    (await underWay(again)).finish();
    assert.equal((await again.tools.jobs.wait(job, 5000))?.state, 'done');
    assert.equal(await statusOf(again, name), 'normal');
  });

  it('ends and keeps its space when the engine refuses, and tells why', async (t) => {
    const { bench, name } = await withTwoGroups(t);
    const job = await bench.pools.shrink(name, 'group-2', undefined, 'ann');
    (await underWay(bench)).fail(new EngineError('full', 'What lies there does not fit on the others.'));
    assert.match((await bench.tools.jobs.wait(job, 5000))?.error ?? '', /does not fit/);
    assert.equal(await statusOf(bench, name), 'normal');
    assert.match(bench.titles().join('\n'), /Shrinking pool main .* failed: What lies there does not fit/);
  });
});

const FREE = `SELECT pool FROM raid_groups WHERE name = 'group-2'`;
