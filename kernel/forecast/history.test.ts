import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { temporaryFolder } from '../../testing/folders.ts';
import { ManualClock } from '../clock.ts';
import { Store } from '../store/index.ts';
import { DAY_MS } from './fit.ts';
import { CapacityHistory } from './history.ts';
import { lastPoints, putPoint } from './repository.ts';
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
    history,
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
    lastUsedBytes: (id = 'a') => history.lastUsedBytes('pool', id),
    forecast: async (usedBytes: number, id = 'a') => {
      const [found] = await history.forecasts('pool', [{ id, usedBytes, capacityBytes: 1_000 * GB }]);
      assert.ok(found);
      return found;
    },
  };
}

test('what does not answer holds what it last held, also after a restart', async (t) => {
  const { hour, silence, lastUsedBytes, restart } = setUp(t);
  assert.equal(lastUsedBytes(), undefined);
  await hour(7 * GB);
  await silence();
  restart();
  assert.equal(lastUsedBytes(), 7 * GB);
});

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

test('of thousands of things, a few are worked out at a time', async (t) => {
  const { clock, history } = setUp(t);
  const things = Array.from({ length: 1_000 }, (_, index) => ({
    id: `volume-${index}`,
    usedBytes: index * GB,
    capacityBytes: 2_000 * GB,
  }));
  await history.record('volume', things, new Set(things.map(({ id }) => id)));
  clock.advance(DAY_MS);
  let turns = 0;
  let isDone = false;
  const turn = () => {
    turns += 1;
    if (!isDone) setImmediate(turn);
  };
  setImmediate(turn);
  const found = await history.forecasts('volume', things);
  isDone = true;
  assert.deepEqual(
    found.map(({ id }) => id),
    things.map(({ id }) => id),
  );
  assert.ok(turns >= 9, `${turns} turns of other work`);
});

test('the newest point is found of each thing of a kind', async (t) => {
  const store = new Store(join(temporaryFolder(t), 'own.db'), own);
  t.after(() => store.close());
  assert.deepEqual(
    store.read((db) => lastPoints(db, 'pool')),
    [],
  );
  await store.write((tx) => {
    for (const [id, at] of [
      ['a', 5],
      ['a', 7],
      ['b/c', 3],
      ['b', 1],
    ] as const)
      putPoint(tx, 'pool', { id, at, usedBytes: at * GB });
    putPoint(tx, 'volume', { id: 'a', at: 9, usedBytes: 0 });
  });
  assert.deepEqual(
    store.read((db) => lastPoints(db, 'pool')).map((point) => ({ ...point })),
    [
      { id: 'a', at: 7, usedBytes: 7 * GB },
      { id: 'b', at: 1, usedBytes: GB },
      { id: 'b/c', at: 3, usedBytes: 3 * GB },
    ],
  );
});
