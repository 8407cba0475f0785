import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createLog } from '@granary/kernel';
import { cpuMs } from '../../testing/timing.ts';
import { until } from '../../testing/waiting.ts';
import { temporaryStore } from '../../kernel/testing/temporary-store.ts';
import type { Engine } from '../engine/engine.ts';
import type { IoTotals, Report, VolumeReport } from '../engine/report.ts';
import { migrations } from '../migrations.ts';
import { Readings } from '../readings/readings.ts';
import { PerformanceHistory } from './history.ts';
import { ioPoint } from './points.ts';
import { PerformanceRecorder } from './recorder.ts';

const NOON = 1_800_000_000;
const log = createLog('test', 'silent');

function io(count: number): IoTotals {
  const writes = { count, bytes: count * 4096, microseconds: count * 500 };
  return { reads: { count: 0, bytes: 0, microseconds: 0 }, writes };
}

function volume(id: string, count: number): VolumeReport {
  const sizes = {
    pool: 'pool-00000001',
    sizeBytes: 0,
    ownBytes: 0,
    snapshotBytes: 0,
    sharedBytes: 0,
    isLocked: false,
    sizes: null,
    share: null,
  };
  return { id, ...sizes, io: io(count) };
}

function setUp(t: TestContext) {
  const store = temporaryStore(
    t,
    migrations.steps.map(({ sql }) => sql).find((sql) => sql.includes('performance')),
  );
  let next: readonly VolumeReport[] = [];
  const nothing = { version: 1, drives: [], groups: [], pools: [], sessions: [], servers: [], controllers: [] };
  const engine = { report: async (): Promise<Report> => ({ ...nothing, volumes: next }) } as unknown as Engine;
  const readings = new Readings(engine, log);
  const history = new PerformanceHistory({ store, log });
  const recorder = new PerformanceRecorder(history);
  return {
    store,
    history,
    recorder,
    at: async (second: number, volumes: readonly VolumeReport[]) => {
      next = volumes;
      await readings.refresh();
      recorder.record(readings, second);
    },
    iops: (from: PerformanceHistory, id: string, end: number, count: number) =>
      from.windows('volume', id, end, 1, count, end).map((sums) => ioPoint(sums, 1, end).wrt_iops),
  };
}

test('points are what was added since the reading before, also when the totals begin anew', async (t) => {
  const { history, at, iops } = setUp(t);
  await at(NOON, []);
  await at(NOON + 1, [volume('volume-1', 100)]);
  await at(NOON + 2, []);
  await at(NOON + 3, [volume('volume-1', 160)]);
  await at(NOON + 4, [volume('volume-1', 40)]);
  assert.deepEqual(iops(history, 'volume-1', NOON + 4, 4), [100, 0, 60, 40]);
  const [sums] = history.windows('volume', 'volume-1', NOON + 1, 1, 1, NOON + 4);
  assert.deepEqual(ioPoint(sums!, 1, NOON + 1), {
    rd_iops: 0,
    rd_iotime: 0,
    rd_bandwidth: 0,
    rd_queue_len: 0,
    wrt_iops: 100,
    wrt_iotime: 0.5,
    wrt_bandwidth: 0.391,
    wrt_queue_len: 0.05,
    point: NOON + 1,
  });
});

test('what was measured is there after a restart, save what came after the last flush', async (t) => {
  const { store, history, at } = setUp(t);
  await at(NOON, []);
  await at(NOON + 1, [volume('volume-1', 100)]);
  await history.flush(NOON + 1);
  await at(NOON + 2, [volume('volume-1', 150)]);
  const after = new PerformanceHistory({ store, log });
  const seen = () => after.windows('volume', 'volume-1', NOON + 600, 60, 60, NOON + 600).map(([, , , count]) => count!);
  assert.equal(Math.max(...seen()), 100);
  await history.flush(NOON + 2);
  const again = new PerformanceHistory({ store, log });
  const [last] = again.windows('volume', 'volume-1', NOON + 60, 60, 1, NOON + 60);
  assert.equal(last![3], 150, 'what is flushed twice is not counted twice');
});

test('what is forgotten is gone from memory and disk, and a reading on its way does not bring it back', async (t) => {
  const { store, history, recorder, at } = setUp(t);
  await at(NOON + 1, [volume('volume-1', 100)]);
  await history.flush(NOON + 1);
  recorder.remove('volume', 'volume-1', NOON + 1);
  await at(NOON + 2, [volume('volume-1', 120)]);
  await history.flush(NOON + 2);
  const kept = () => store.read((db) => db.all('SELECT * FROM performance')).length;
  await until(() => kept() === 0);
});

test('ten thousand idle volumes cost nothing to write and little to look at', async (t) => {
  const { store, history, at } = setUp(t);
  const all = Array.from({ length: 10_000 }, (_, index) => volume(`volume-${index}`, 0));
  await at(NOON, all);
  await at(NOON + 1, [volume('volume-7', 5)]);
  const spent = await cpuMs(async () => {
    for (let second = 2; second < 22; second++) await at(NOON + second, []);
  });
  assert.ok(spent < 1000, `${spent} ms for 20 readings`);
  await history.flush(NOON + 30);
  const things = store.read((db) => db.all<{ id: string }>('SELECT DISTINCT id FROM performance'));
  assert.deepEqual(
    things.map(({ id }) => id),
    ['volume-7'],
  );
});
