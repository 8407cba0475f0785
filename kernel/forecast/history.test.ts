import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { ManualClock } from '../clock.ts';
import { Store } from '../store/index.ts';
import { DAY_MS } from './fit.ts';
import { CapacityHistory } from './history.ts';
import { forecastView } from './view.ts';

const HOUR_MS = DAY_MS / 24;
const GB = 2 ** 30;
const own = { component: 'test', steps: [] };

function setUp(t: TestContext) {
  const folder = temporaryFolder(t);
  const clock = new ManualClock(2_000 * DAY_MS);
  const open = () => new Store(join(folder, 'own.db'), own);
  let store = open();
  t.after(() => store.close());
  let history = new CapacityHistory({ store, clock });
  const count = () => store.read((db) => db.get<{ n: number }>('SELECT count(*) AS n FROM capacity_points'))?.n;
  return {
    clock,
    count,
    restart: () => {
      store.close();
      store = open();
      history = new CapacityHistory({ store, clock });
    },
    /** An hour later a thing has this use. */
    hour: async (usedBytes: number, id = 'a', existing = ['a', id]) => {
      clock.advance(HOUR_MS);
      await history.record('pool', [{ id, usedBytes, capacityBytes: 1_000 * GB }], new Set(existing));
    },
    /** An hour in which its use is not known: it is there, and does not answer. */
    silence: async (id = 'a') => {
      clock.advance(HOUR_MS);
      await history.record('pool', [], new Set([id]));
    },
    forecast: async (usedBytes: number, id = 'a') => {
      const [found] = await history.forecasts('pool', [{ id, usedBytes, capacityBytes: 1_000 * GB }]);
      assert.ok(found);
      return found;
    },
  };
}

test('a use that grows evenly gives the day, also after a restart', async (t) => {
  const { hour, forecast, restart } = setUp(t);
  for (let used = 0; used <= 48; used++) await hour(used * GB);
  const days = (1_000 - 48) / 24;
  const before = await forecast(48 * GB);
  assert.ok(before.days && Math.abs(before.days.likely - days) < 1e-6, String(before.days?.likely));
  restart();
  const after = await forecast(48 * GB);
  assert.ok(after.days && Math.abs(after.days.likely - days) < 1e-6, String(after.days?.likely));
  assert.deepEqual([after.growth.day, after.growth.week], [24 * GB, undefined]);
});

test('points come once an hour, however often they are offered', async (t) => {
  const { clock, hour, count } = setUp(t);
  await hour(GB);
  clock.advance(-HOUR_MS / 2);
  await hour(2 * GB);
  assert.equal(count(), 1);
});

test('what is new has its first point at once', async (t) => {
  const { clock, hour, count, forecast } = setUp(t);
  await hour(GB, 'a');
  clock.advance(-HOUR_MS / 2);
  await hour(GB, 'b');
  assert.equal(count(), 2);
  clock.advance(2 * HOUR_MS);
  assert.equal((await forecast(GB, 'b')).note, 'Not enough history: 2 hours of 1 day.');
});

test('a use that stands still takes no points, and did not grow before it jumped', async (t) => {
  const { hour, forecast, count } = setUp(t);
  for (let index = 0; index < 30; index++) await hour(GB);
  assert.equal(count(), 1);
  await hour(25 * GB);
  assert.equal(count(), 3, 'the jump, and the last hour in which it stood');
  const { growth } = await forecast(25 * GB);
  assert.equal(growth.day, 24 * GB);
});

test('points are thinned as they grow old, and those of two months ago are dropped', async (t) => {
  const { hour, count, forecast } = setUp(t);
  for (let used = 1; used <= 90 * 24; used++) await hour(used * 2 ** 20);
  const kept = count() ?? 0;
  assert.ok(kept > 48 + 24 + 50 && kept < 48 + 24 + 64 + 10, String(kept));
  const { days, growth } = await forecast(90 * 24 * 2 ** 20);
  assert.ok(days && Math.abs(days.likely - (1_000 * 1024 - 90 * 24) / 24) < 1, String(days?.likely));
  assert.equal(growth.month, 30 * 24 * 2 ** 20);
});

test('what is gone takes its points along, also when it went while nothing ran', async (t) => {
  const { hour, count, restart } = setUp(t);
  await hour(GB, 'a');
  await hour(GB, 'b', ['b']);
  assert.equal(count(), 1);
  restart();
  await hour(GB, 'c', ['c']);
  assert.equal(count(), 1);
});

test('what does not answer keeps its points', async (t) => {
  const { hour, silence, count, restart } = setUp(t);
  await hour(GB);
  await silence();
  restart();
  await silence();
  assert.equal(count(), 1);
});

test('a record says why there are no days, and since when the use is known', async (t) => {
  const { clock, hour, forecast } = setUp(t);
  await hour(GB);
  await hour(2 * GB);
  await hour(3 * GB);
  const view = forecastView({ ...(await forecast(3 * GB)), kind: 'pool', name: 'main' }, clock.now());
  assert.deepEqual(
    [view.state, view.days_likely, view.note, view.history_days],
    ['no_history', null, 'Not enough history: 2 hours of 1 day.', 0.08],
  );
});
