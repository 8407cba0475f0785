import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { until } from '../../../testing/waiting.ts';
import { turns } from '../../../testing/turns.ts';
import type { ShareReport } from '../../engine/report.ts';
import { lifecyclePolicyRoutes } from '../policies/routes.ts';
import { lifecycleAlone } from '../testing/lifecycle-alone.ts';

const HOUR_S = 3_600;
const OLD = { modifiedAt: 0 };
const LOGS = { criteria: { extension: 'log' } };

/** The one that is called here. */
interface Routes {
  setSchedule(input: object, context: object): Promise<{ policy_start_time: string }>;
}

async function setUp(t: TestContext, policy: object = LOGS) {
  const it = await lifecycleAlone(t);
  const share = await it.share('projects');
  const name = await it.policy(policy);
  await it.attach(name, share);
  return { ...it, it, share, policy: name };
}

test('a scan expires just what matches, and the rule tells what it came to', async (t) => {
  const { it, share, engine, scan } = await setUp(t, { criteria: { extension: 'log' }, blacklist: ['/keep'] });
  for (const path of ['/a.log', '/b.txt', '/keep/c.log', '/d/e.log']) engine.add(share, path, 'bytes');
  await scan(share);
  assert.deepEqual(engine.paths(share), ['/b.txt', '/keep/c.log']);
  const rule = it.rule(share);
  assert.deepEqual([rule?.matchedFiles, rule?.handledFiles, rule?.handledBytes, rule?.problem], [2, 2, 10, null]);
  assert.deepEqual(rule?.sample, ['/a.log', '/d/e.log']);
  assert.match(it.array.titles().at(-1) ?? '', /handled 2 files \(.*\) on share projects/);
  assert.deepEqual(it.array.snapshots.list({ start: 0, limit: 0 }).snapshots, []);
  assert.equal(engine.snapshots.size, 0);
});

test('it sees one moment: what is made or changed while it runs is left alone', async (t) => {
  const { it, share, engine, scan } = await setUp(t);
  const changed = engine.add(share, '/a.log', 'old');
  engine.add(share, '/b.log', 'old');
  engine.afterTake = () => {
    engine.change(share, changed, 'new');
    engine.add(share, '/new.log', 'new');
    engine.afterTake = undefined;
  };
  await scan(share);
  assert.deepEqual(engine.paths(share), ['/a.log', '/new.log']);
  const rule = it.rule(share);
  assert.deepEqual([rule?.matchedFiles, rule?.handledFiles, rule?.changedFiles], [2, 1, 1]);
});

test('a dry run changes nothing and says what it would do', async (t) => {
  const { it, share, engine, scan } = await setUp(t, { ...LOGS, isDryRun: true });
  engine.add(share, '/a.log', 'bytes');
  await scan(share);
  assert.deepEqual(engine.paths(share), ['/a.log']);
  const rule = it.rule(share);
  assert.deepEqual([rule?.wasDryRun, rule?.matchedFiles, rule?.handledFiles, rule?.sample], [true, 1, 0, ['/a.log']]);
  assert.match(it.array.titles().at(-1) ?? '', /would handle 1 file /);
});

test('of several policies the first by name has a file', async (t) => {
  const { it, share, engine, scan } = await setUp(t, { ...LOGS, displayName: 'b', usesBin: true });
  await it.attach(await it.policy({ displayName: 'a', criteria: { name: { $glob: 'x*' } }, isDryRun: true }), share);
  await it.attach(await it.policy({ displayName: 'c' }), share);
  for (const path of ['/x.log', '/y.log', '/z.txt']) engine.add(share, path, 'bytes');
  await scan(share);
  assert.deepEqual(engine.paths(share), ['/x.log']);
  assert.deepEqual(
    engine.bins.get(share)?.map(({ file }) => file.path),
    ['/y.log'],
  );
});

test('the recycle bin gives files up when they were there for long enough', async (t) => {
  const { it, share, engine, scan, clock } = await setUp(t, { ...LOGS, usesBin: true });
  engine.add(share, '/a.log', 'bytes');
  await scan(share);
  await it.array.lifecycle.settings.setRetention(3_600, 'tester');
  await it.array.lifecycle.scheduler.purgeBins();
  assert.equal(engine.bins.get(share)?.length, 1);
  clock.advance(3_600_001);
  await it.array.lifecycle.scheduler.purgeBins();
  assert.equal(engine.bins.get(share)?.length, 0);
});

test('pages beyond the first are done, and progress is reported', async (t) => {
  const { it, share, engine, clock } = await setUp(t);
  for (let n = 0; n < 4_500; n += 1) engine.add(share, `/${n}.${n % 2 === 0 ? 'log' : 'txt'}`, '');
  engine.set(share, { share: { files: 4_500 } as ShareReport });
  await it.array.readings.refresh();
  const gate = Promise.withResolvers<undefined>();
  let lists = 0;
  // Two pages of 2,000 files, each of them listed in eight steps.
  engine.before = (call) => (call === 'list' && (lists += 1) === 17 ? gate.promise : undefined);
  clock.advance(86_400_000);
  await it.array.lifecycle.scheduler.runDue();
  await until(() => it.array.lifecycle.scans.factsOf(share)?.flc_scan_progress === 88);
  const shown = it.array.lifecycle.scans.factsOf(share);
  assert.deepEqual([shown?.flc_state, shown?.flc_scan_state], ['enabled', 'scanning']);
  assert.ok(typeof shown?.flc_scan_remaining_time_seconds === 'number');
  gate.resolve(undefined);
  await it.idle(share);
  // What shows it is brought up to date a moment after the job has ended.
  await until(() => it.array.lifecycle.scans.factsOf(share)?.flc_scan_state === 'idle');
  assert.equal(engine.of(share).size, 2_250);
});

test('paused in the middle, it stops at once and later goes on where it was', async (t) => {
  const { it, share, engine, clock } = await setUp(t);
  for (let n = 0; n < 2_500; n += 1) engine.add(share, `/${n}.log`, 'x');
  const { scans, scheduler } = it.array.lifecycle;
  const control = (command: 'pause' | 'resume') => scans.change(share, command, 'tester');
  let expired = 0;
  let pausing: Promise<void> | undefined;
  engine.before = async (call) => {
    if (call === 'expire' && (expired += 1) === 100) pausing = control('pause');
    await pausing;
  };
  clock.advance(86_400_000);
  await scheduler.runDue();
  await it.idle(share);
  const left = engine.of(share).size;
  assert.ok(left > 2_380, `${left} are left`);
  assert.deepEqual([scans.factsOf(share)?.flc_state, scans.factsOf(share)?.flc_scan_state], ['paused', 'paused']);
  assert.equal(engine.snapshots.size, 0);
  clock.advance(86_400_000);
  await scheduler.runDue();
  await it.idle(share);
  assert.equal(engine.of(share).size, left);
  await control('resume');
  await it.idle(share);
  assert.equal(engine.of(share).size, 0);
  assert.equal(it.rule(share)?.handledFiles, 2_500);
});

test('a policy that is paused, detached or disabled while a scan runs acts no more', async (t) => {
  for (const stop of ['setPaused', 'detach', 'update'] as const) {
    const { it, share, engine, scan, policy } = await setUp(t);
    const { policies } = it.array.lifecycle;
    for (let n = 0; n < 50; n += 1) engine.add(share, `/${n}.log`, 'x');
    const ways = {
      setPaused: () => policies.setPaused(policy, share, true, 'tester'),
      detach: () => policies.detach(policy, share, 'tester'),
      update: () => policies.update(policy, { isEnabled: false }, 'tester'),
    };
    let expired = 0;
    let stopping: Promise<void> | undefined;
    engine.before = async (call) => {
      if (call === 'expire' && (expired += 1) === 10) stopping = ways[stop]();
      await stopping;
    };
    await scan(share);
    assert.ok(engine.of(share).size > 25, stop);
  }
});

test('after a crash it goes on from its last page, and its snapshot is gone', async (t) => {
  const { it, share, engine, clock } = await setUp(t);
  for (let n = 0; n < 4_500; n += 1) engine.add(share, `/${n}.log`, 'x');
  const listed: number[] = [];
  let isKilled = false;
  engine.before = async (call) => {
    if (call === 'list') listed.push(0);
    if (call !== 'expire' || engine.of(share).size > 1_500 || isKilled) return;
    isKilled = true;
    await turns();
  };
  clock.advance(86_400_000);
  await it.array.lifecycle.scheduler.runDue();
  await until(() => isKilled);
  await it.restart();
  const time = setInterval(() => clock.advance(1_000), 50);
  await it.idle(share);
  clearInterval(time);
  assert.equal(engine.of(share).size, 0);
  assert.equal(engine.snapshots.size, 0);
});

test('criteria that name what is gone stop a policy, not a scan, and never match the opposite', async (t) => {
  const it = await lifecycleAlone(t);
  const share = await it.share('projects');
  const { categories } = it.array.lifecycle;
  const category = await categories.create('Precious', ['gem'], 'tester');
  await it.attach(await it.policy({ displayName: 'a', criteria: { category: { $ne: 'Precious' } } }), share);
  it.engine.add(share, '/x.gem', 'x');
  it.engine.add(share, '/y.log', 'x', OLD);
  await categories.delete(category, 'tester');
  await it.scan(share);
  assert.deepEqual(it.engine.paths(share), ['/x.gem', '/y.log']);
  assert.match(it.rule(share)?.problem ?? '', /category that is not there, "Precious"/);
});

test('times of scans that were missed are made up for once, other times for none', async (t) => {
  const { it, share, engine, clock } = await setUp(t, { ...LOGS, isDryRun: true });
  engine.add(share, '/a.log', 'x');
  const { scheduler, settings } = it.array.lifecycle;
  const runs = () => engine.takes.length;
  await scheduler.runDue();
  assert.equal(runs(), 0);
  clock.advance(10 * 86_400_000);
  await scheduler.runDue();
  await it.idle(share);
  await scheduler.runDue();
  await it.idle(share);
  assert.equal(runs(), 1);
  await settings.setTimes({ startSeconds: 0, intervalSeconds: 60 }, 'tester');
  await scheduler.runDue();
  await it.idle(share);
  assert.equal(runs(), 1);
  clock.advance(60_000);
  await scheduler.runDue();
  await it.idle(share);
  assert.equal(runs(), 2);
});

test('a scan that cannot take its snapshot is reported and tried at the next time', async (t) => {
  const { it, share, engine, scan } = await setUp(t);
  engine.add(share, '/a.log', 'x');
  engine.broken.add(share);
  await scan(share);
  assert.match(it.array.titles().at(-1) ?? '', /scan of share projects .* was given up: .*cannot be read/);
  engine.broken.clear();
  await scan(share);
  assert.equal(engine.of(share).size, 0);
});

test(
  'a scan of 100,000 files counts exactly those that match',
  { skip: process.env['GRANARY_TORTURE'] !== '1' },
  async (t) => {
    const criteria = {
      $and: [{ modified_age: { $gt: '90d' } }, { $or: [{ category: 'Logs' }, { path: { $glob: '/tmp/**' } }] }],
    };
    const { it, share, engine, scan } = await setUp(t, { criteria, isDryRun: true });
    for (let n = 0; n < 100_000; n += 1)
      engine.add(share, `/dir${n % 100}/file-${n}.${n % 3 === 0 ? 'log' : 'txt'}`, '');
    const before = performance.now();
    await scan(share);
    const rate = 100_000 / ((performance.now() - before) / 1_000);
    t.diagnostic(`${Math.round(rate)} files a second`);
    assert.equal(it.rule(share)?.matchedFiles, 33_334);
  },
);

test('who deletes a share does not have to know that it is being scanned', async (t) => {
  const { it, share, engine, clock } = await setUp(t);
  for (let n = 0; n < 100; n += 1) engine.add(share, `/${n}.log`, 'x');
  const { lifecycle, volumes, jobs } = it.array;
  let deleting: Promise<number | undefined> | undefined;
  volumes.followLifecycle(lifecycle.scans);
  engine.before = async (call) => {
    if (call !== 'expire') return;
    deleting ??= volumes.delete(share, { force: false }, 'tester');
    // Its scan is under way as long as this takes.
    await new Promise((resolve) => setImmediate(resolve));
  };
  clock.advance(86_400_000);
  await lifecycle.scheduler.runDue();
  await until(() => deleting !== undefined);
  const job = await deleting;
  assert.equal((await jobs.wait(job ?? 0, -1))?.state, 'done');
  assert.equal(engine.snapshots.size, 0);
  assert.deepEqual(
    it.array.titles().filter((title) => title.includes('given up')),
    [],
  );
});

test('a scan begins at the time of the day that is set, and not before', async (t) => {
  const { it, share, engine, clock } = await setUp(t);
  const { settings, scheduler } = it.array.lifecycle;
  const routes = lifecyclePolicyRoutes(it.array.lifecycle.policies, settings) as unknown as Routes;
  const actor = { username: 'tester' };
  const times = { policy_start_time: 15 * HOUR_S, policy_interval: 24 * HOUR_S };
  assert.equal((await routes.setSchedule(times, { actor })).policy_start_time, String(15 * HOUR_S));
  engine.add(share, '/a.log', 'bytes');
  const pathsAfter = async (ms: number) => {
    clock.advance(ms);
    await scheduler.runDue();
    await it.idle(share);
    return engine.paths(share);
  };
  // It is noon.
  assert.deepEqual(await pathsAfter(3 * HOUR_S * 1_000 - 1), ['/a.log']);
  assert.deepEqual(await pathsAfter(1), []);
});
