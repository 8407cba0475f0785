import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createLog } from '@granary/kernel';
import { testConfiguration } from '../../kernel/process/testing/configuration.ts';
import { FakeProcess, FakeTiming } from '../testing/fake-process.ts';
import { supervisionLimits } from './limits.ts';
import type { SupervisedArray } from './supervised-array.ts';
import { Supervisor } from './supervisor.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A supervisor whose processes and time the test moves by hand. */
async function setUp(t: TestContext, count: number, { hasServed = true, startsMax = 2 } = {}) {
  const timing = new FakeTiming();
  const processes: FakeProcess[] = [];
  const supervisor = new Supervisor({
    programs: { storage_array: 'none', object_storage: 'none' },
    cacheFolder: undefined,
    log: createLog('test', 'silent'),
    limits: { startsMax },
    timing,
    launch: ({ configuration }) => {
      processes.push(new FakeProcess(configuration));
      return processes.at(-1)!;
    },
    onChange: () => undefined,
    onReturn: () => Promise.resolve(null),
    onListening: () => undefined,
    onEncryption: () => undefined,
  });
  t.after(() => supervisor.stopAll());
  const arrays: SupervisedArray[] = [];
  for (let number = 1; number <= count; number += 1) {
    const uuid = `array-${number}`;
    arrays.push(
      await supervisor.describe('storage_array', { ...testConfiguration('/nowhere'), uuid, number }, hasServed),
    );
  }
  for (const array of arrays) array.start();
  await timing.pass(0);
  return { supervisor, timing, processes, arrays, first: arrays[0]! };
}

test('no more processes start at once than there are processors, in the order of the arrays', async (t) => {
  const { timing, processes, arrays, supervisor } = await setUp(t, 5);
  assert.deepEqual(
    processes.map(({ configuration }) => configuration.number),
    [1, 2],
  );
  assert.deepEqual(supervisor.counts(), { up: 0, starting: 5, failed: 0 });
  assert.equal(arrays[4]?.reason, 'It waits for its turn to start (3 arrays wait).');
  processes[1]?.serve();
  await timing.pass(0);
  assert.equal(processes.length, 3);
  processes[0]?.end('it broke');
  await timing.pass(0);
  assert.equal(processes[3]?.configuration.number, 4, 'the one that broke waits for its next try first');
  assert.deepEqual(supervisor.counts(), { up: 1, starting: 4, failed: 0 });
  assert.ok(supervisionLimits.startsMax >= 1);
});

test('other limits take another process; a change without them is sent to the one that runs', async (t) => {
  const { timing, processes, supervisor, first } = await setUp(t, 1);
  processes[0]?.serve();
  await timing.pass(0);
  const known = processes[0]!.configuration;
  await supervisor.describe('storage_array', { ...known, cacheGb: 7 });
  await timing.pass(0);
  assert.equal(processes.length, 1);
  await supervisor.describe('storage_array', { ...known, limits: { processors: 4 } });
  assert.equal(first.state, 'starting');
  await timing.pass(0);
  assert.deepEqual(processes[1]?.configuration.limits, { processors: 4 });
  processes[1].serve();
  await timing.pass(0);
  assert.deepEqual([first.state, first.restarts, processes.length], ['running', 0, 2]);
  await supervisor.describe('storage_array', { ...known, limits: { processors: 4 } });
  await timing.pass(0);
  assert.equal(processes.length, 2, 'the same limits change nothing');
});

test('an array that is stopped while it gets another process follows its configuration after the next start', async (t) => {
  const { timing, processes, supervisor, first } = await setUp(t, 1);
  processes[0]?.serve();
  await timing.pass(0);
  const known = processes[0]!.configuration;
  const limits = { processors: 4 };
  await Promise.all([supervisor.describe('storage_array', { ...known, limits }), first.stop()]);
  first.start();
  await timing.pass(0);
  processes[1]?.serve();
  await timing.pass(0);
  await supervisor.describe('storage_array', { ...known, limits: { processors: 8 } });
  await timing.pass(0);
  assert.deepEqual(processes[2]?.configuration.limits, { processors: 8 });
});

test('limits that change while a process starts are those of the next one', async (t) => {
  const { timing, processes, supervisor, first } = await setUp(t, 1);
  const known = processes[0]!.configuration;
  await supervisor.describe('storage_array', { ...known, limits: { managementHeapMb: 512 } });
  assert.equal(processes.length, 1);
  processes[0]?.serve();
  await timing.pass(0);
  assert.deepEqual(processes[1]?.configuration.limits, { managementHeapMb: 512 });
  processes[1].serve();
  await timing.pass(0);
  assert.equal(first.state, 'running');
});

test('a start that reports progress may take as long as it needs, and shows how far it is', async (t) => {
  const { timing, processes, first } = await setUp(t, 1);
  for (let minute = 0; minute < 40; minute += 1) {
    processes[0]?.progress(`opening pool ${minute}`);
    await timing.pass(MINUTE);
  }
  assert.equal(first.reason, 'Its process is opening pool 39.');
  processes[0]?.serve();
  await timing.pass(0);
  assert.equal(first.state, 'running');
  assert.equal(processes.length, 1);
});

test('a start without progress lets others go first, and is killed in the end', async (t) => {
  const { timing, processes, first } = await setUp(t, 3, { startsMax: 1 });
  processes[0]?.progress('opening its database');
  await timing.pass(25 * SECOND);
  assert.equal(processes.length, 1);
  await timing.pass(10 * SECOND);
  assert.equal(processes.length, 2);
  processes[0]?.progress('starting its controllers');
  await timing.pass(4 * MINUTE);
  assert.equal(processes[0]?.killedFor, undefined);
  await timing.pass(2 * MINUTE);
  assert.equal(processes[0]?.killedFor, 'its start made no progress for 300 seconds (starting its controllers)');
  assert.equal(first.state, 'starting');
});

test('an array that served before is tried for as long as it is wanted, with growing pauses up to a minute', async (t) => {
  const { timing, processes, first } = await setUp(t, 1);
  const starts: number[] = [];
  for (let round = 0; round < 40; round += 1) {
    starts.push(timing.now());
    processes.at(-1)?.end('the disk is gone');
    const before = processes.length;
    while (processes.length === before) await timing.pass(100);
  }
  const pauses = starts.slice(1).map((start, index) => start - starts[index]!);
  assert.deepEqual(pauses.slice(0, 8), [500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
  assert.ok(pauses.slice(8).every((pause) => pause === 60_000));
  assert.equal(first.state, 'starting');
  assert.equal(first.reason, 'Its process is loading its program; before, the disk is gone.');
  processes.at(-1)?.serve();
  await timing.pass(0);
  assert.equal(first.state, 'running');
  assert.equal(first.reason, undefined);
});

test('a process that served for long starts the pauses anew; asked to start, it does not wait', async (t) => {
  const { timing, processes, first } = await setUp(t, 1);
  for (let round = 0; round < 8; round += 1) {
    processes.at(-1)?.end('it broke');
    await timing.pass(MINUTE);
  }
  assert.equal(processes.length, 9);
  processes.at(-1)?.end('it broke');
  await timing.pass(30 * SECOND);
  assert.equal(first.reason, 'Its process is started again in 30 seconds; before, it broke.');
  first.start();
  await timing.pass(0);
  assert.equal(processes.length, 10);
  processes.at(-1)?.serve();
  await timing.pass(MINUTE);
  processes.at(-1)?.end('it broke');
  await timing.pass(500);
  assert.equal(processes.length, 11);
});

test('one that never served is given up after three starts', async (t) => {
  const { timing, processes, first } = await setUp(t, 1, { hasServed: false });
  for (let round = 0; round < 3; round += 1) {
    processes.at(-1)?.end('no room');
    await timing.pass(MINUTE);
  }
  assert.equal(processes.length, 3);
  assert.equal(first.state, 'failed');
  assert.deepEqual(first.outages, []);
});

test('one that waits for its turn can be stopped at once', async (t) => {
  const { timing, processes, arrays } = await setUp(t, 3, { startsMax: 1 });
  await arrays[1]?.stop();
  assert.equal(arrays[1]?.state, 'stopped');
  processes[0]?.serve();
  await timing.pass(0);
  assert.deepEqual(
    processes.map(({ configuration }) => configuration.number),
    [1, 3],
  );
});

test('a process is killed only when its main thread and its data path are silent', async (t) => {
  const { timing, processes, first } = await setUp(t, 1);
  const process = processes[0]!;
  process.serve();
  await timing.pass(MINUTE);
  process.isAnswering = false;
  for (let second = 0; second < 3_600; second += 1) {
    process.pulses += 1;
    await timing.pass(SECOND);
  }
  assert.equal(process.killedFor, undefined);
  assert.deepEqual([first.state, first.reason], ['running', 'its management does not answer; its data path works']);
  await timing.pass(26 * SECOND);
  assert.equal(process.killedFor, undefined);
  await timing.pass(10 * SECOND);
  assert.match(String(process.killedFor), /neither its management nor its data path/);
});

test('outages tell exactly from when to when an array did not serve', async (t) => {
  const { timing, processes, first } = await setUp(t, 1);
  const times = () => first.outages.map(({ beganAt, endedAt }) => [beganAt, endedAt]);
  assert.deepEqual(times(), [[undefined, undefined]], 'since before the cloud came up');
  await timing.pass(7 * SECOND);
  processes[0]?.serve();
  await timing.pass(3 * SECOND);
  assert.deepEqual(times(), [[undefined, 7_000]]);
  processes[0]?.end('it broke');
  await timing.pass(2 * SECOND);
  processes[1]?.serve();
  await timing.pass(38 * SECOND);
  processes[1]?.end('it hung', 40_000);
  await timing.pass(0);
  assert.deepEqual(times(), [
    [undefined, 7_000],
    [10_000, 12_000],
    [40_000, undefined],
  ]);
  assert.equal(new Set(first.outages.map(({ id }) => id)).size, 3);
  await first.stop();
  assert.deepEqual(times(), [], 'one that is not wanted has none');
});
