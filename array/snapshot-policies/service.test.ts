import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { WHOLE } from '@granary/kernel';
import { until } from '../../testing/waiting.ts';
import { snapshotsAlone } from '../snapshots/testing/snapshots-alone.ts';

const HOUR = 3_600_000;
const HOURLY = { displayName: 'Each hour', createPolicy: '0 * * * *', createEmpty: true };

async function alone(t: TestContext, policy = {}) {
  const made = await snapshotsAlone(t);
  const { name } = await made.array.policies.create({ ...HOURLY, ...policy }, 'tester');
  return {
    ...made,
    policy: name,
    array: () => made.array,
    attach: (volume: string) => made.array.policies.attach(volume, name, 'user', 'tester'),
    tick: async (ms: number) => {
      made.clock.advance(ms);
      await made.array.policies.scheduler.runDue();
    },
  };
}

test('a rule takes a snapshot when its time comes, not before, and once', async (t) => {
  const it = await alone(t);
  const { name } = await it.volume('data');
  await it.attach(name);
  await it.tick(HOUR / 2 - 1);
  assert.deepEqual(it.names(), []);
  await it.tick(1);
  await it.tick(1000);
  assert.deepEqual(it.names(), ['Each hour 2026-03-01 13:00:00']);
  await it.tick(HOUR);
  assert.deepEqual(it.names(), ['Each hour 2026-03-01 13:00:00', 'Each hour 2026-03-01 14:00:01']);
});

test('what was missed while the array was down is made up for once', async (t) => {
  const it = await alone(t);
  const { name } = await it.volume('data');
  await it.attach(name);
  it.clock.advance(10 * HOUR);
  const { policies } = await it.restart();
  await policies.scheduler.runDue();
  await policies.scheduler.runDue();
  assert.deepEqual(it.names(), ['Each hour 2026-03-01 22:30:00']);
});

test('the scheduler starts by itself what was missed, and knows when to look again', async (t) => {
  const it = await alone(t);
  const { name } = await it.volume('data');
  await it.attach(name);
  const { scheduler } = it.array().policies;
  assert.equal(scheduler.untilNext(), 60_000);
  it.clock.advance(HOUR / 2 - 5_000);
  assert.equal(scheduler.untilNext(), 5_000);
  it.clock.advance(HOUR);
  scheduler.start();
  await until(() => it.names().length === 1);
});

test('many volumes of a pool are taken together', async (t) => {
  const it = await alone(t);
  const volumes = await Promise.all(Array.from({ length: 100 }, (_, n) => it.volume(`v${n}`)));
  for (const { name } of volumes) await it.attach(name);
  await it.tick(HOUR);
  assert.deepEqual(it.engine.takes, [64, 36]);
  assert.equal(it.names().length, 100);
});

test('a volume that cannot be helped does not stop others, and is reported once until it works again', async (t) => {
  const it = await alone(t);
  const volumes = await Promise.all(['a', 'b', 'c'].map((name) => it.volume(name)));
  for (const { name } of volumes) await it.attach(name);
  it.engine.broken.add(volumes[1]!.name);
  await it.tick(HOUR);
  await it.tick(HOUR);
  assert.equal(it.names().length, 4);
  const reported = (words: RegExp) =>
    it
      .array()
      .titles()
      .filter((title) => words.test(title)).length;
  assert.equal(reported(/could not take a snapshot of volume b/), 1);
  it.engine.broken.clear();
  await it.tick(HOUR);
  assert.equal(it.names().length, 7);
  assert.equal(reported(/works again for volume b/), 1);
});

test('a rule keeps its newest snapshots and leaves those of others alone', async (t) => {
  const it = await alone(t, { deletePolicy: 'N2' });
  const volume = await it.volume('data');
  await it.attach(volume.name);
  await it.array().snapshots.take([volume], { displayName: 'mine', application: 'user' }, 'tester');
  for (let n = 0; n < 4; n += 1) await it.tick(HOUR);
  const { snapshots } = it.array();
  assert.equal(snapshots.listOfGroup(volume.consistencyGroup, { policy: it.policy, start: 0, limit: 1 }).count, 2);
  assert.equal(
    snapshots.listOfGroup(volume.consistencyGroup, { policy: 'policy-00000001', start: 0, limit: 1 }).count,
    0,
  );
  assert.deepEqual(it.names(volume.name), ['mine', 'Each hour 2026-03-01 15:30:00', 'Each hour 2026-03-01 16:30:00']);
  assert.equal(it.engine.snapshots.size, 3);
});

test('without create_empty a snapshot is only taken when something changed since the last one of the rule', async (t) => {
  const it = await alone(t, { createEmpty: false });
  const volume = await it.volume('data');
  await it.attach(volume.name);
  await it.tick(HOUR);
  await it.tick(HOUR);
  assert.equal(it.names().length, 1);
  it.engine.write(volume.name);
  // Whatever others took in between.
  await it.array().snapshots.take([volume], { displayName: 'mine', application: 'user' }, 'tester');
  await it.tick(HOUR);
  await it.tick(HOUR);
  assert.equal(it.names().length, 3);
  assert.equal(it.engine.snapshots.size, 3);
});

test('a paused rule takes nothing, and when resumed does not make up for it', async (t) => {
  const it = await alone(t);
  const { name } = await it.volume('data');
  const rule = await it.attach(name);
  const { policies } = it.array();
  await policies.setPaused(rule, true, 'tester');
  await assert.rejects(policies.setPaused(rule, true, 'tester'), { entry: 'state_conflict' });
  await it.tick(3 * HOUR);
  await policies.setPaused(rule, false, 'tester');
  await it.tick(1000);
  assert.deepEqual(it.names(), []);
  await it.tick(HOUR);
  assert.equal(it.names().length, 1);
});

test('a change of its times counts from now on, on every volume', async (t) => {
  const it = await alone(t, { createPolicy: '0 0 1 1 *' });
  for (const name of ['a', 'b']) await it.attach((await it.volume(name)).name);
  it.clock.advance(HOUR);
  await it.array().policies.update(it.policy, { createPolicy: '* * * * *' }, 'tester');
  await it.tick(0);
  assert.deepEqual(it.names(), []);
  await it.tick(60_000);
  assert.equal(it.names().length, 2);
});

test('a name that is taken becomes another like it', async (t) => {
  const it = await alone(t);
  const volume = await it.volume('data');
  await it.attach(volume.name);
  const displayName = 'Each hour 2026-03-01 13:00:00';
  await it.array().snapshots.take([volume], { displayName, application: 'user' }, 'tester');
  await it.tick(HOUR / 2);
  assert.deepEqual(it.names(), [displayName, `${displayName} (2)`]);
});

test('the policies an array comes with are made once, even when they are all deleted', async (t) => {
  const made = await snapshotsAlone(t);
  const first = made.array.policies.list(WHOLE).policies;
  assert.deepEqual(
    first.map(({ displayName, schedule, keep, isDefault }) => [displayName, schedule, keep, isDefault]),
    [
      ['Hourly for a Day', '0 * * * *', 24, true],
      ['Daily for a Week', '0 0 * * *', 7, true],
      ['Weekly for a Year', '0 0 * * 0', 53, true],
    ],
  );
  for (const { name } of first) await made.array.policies.delete(name, 'tester');
  const { policies } = await made.restart();
  assert.equal(policies.list(WHOLE).count, 0);
});

test('a new volume can have the default policies', async (t) => {
  const it = await alone(t);
  const volume = await it.volume('data');
  await it.array().store.write((tx) => it.array().policies.attachDefaultsIn(tx, volume.name, 'tester'));
  const attached = it.array().policies.listOfGroup(volume.consistencyGroup, WHOLE).policies;
  assert.deepEqual(
    attached.map(({ displayName }) => displayName),
    ['Hourly for a Day', 'Daily for a Week', 'Weekly for a Year'],
  );
});
