import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ManualClock } from '@granary/kernel';
import { temporaryFolder } from '../../testing/folders.ts';
import type { Engine } from '../engine/engine.ts';
import type { SettingsService } from '../settings/service.ts';
import { toolsAlone } from '../testing/tools-alone.ts';
import { controllerPerformanceRoutes } from './routes.ts';
import { PerformanceService } from './service.ts';

const SECONDS = 120;
const CONTROLLER = 'vsa-00000001-vc-0';
const MB = 2 ** 20;
const NO_IO = { reads: { count: 0, bytes: 0, microseconds: 0 }, writes: { count: 0, bytes: 0, microseconds: 0 } };
const settings = { current: () => ({ cpuUsageAlert: 0, memUsageAlert: 0 }) } as unknown as SettingsService;

interface Point {
  readonly point: number;
  readonly zcache_data_read_hit: number;
}
interface Routes {
  performance(input: object): { usages: readonly { zcache_data_dirty: number; zcache_meta_dirty: number }[] };
  cachePerformance(input: object): { zcache_usages: readonly Point[]; count: number };
  cacheStats(input: object): { usages: readonly Point[]; count: number };
}

/** A cache that was read once a second for two minutes: of the first minute all were hits, of the second none. */
async function setUp(t: TestContext): Promise<Routes> {
  const clock = new ManualClock('2026-03-01T12:00:00Z');
  const metadataCache = {
    ...{ capacityBytes: 4 * MB, cleanBytes: 2 * MB, dirtyBytes: MB },
    ...{ readHits: 0, readMisses: 0, writeHits: 0, writeMisses: 0 },
  };
  const cache = { capacityBytes: 8 * MB, usedBytes: MB, hits: 0, misses: 0, writeHits: 0, writeMisses: 0 };
  const controller = { name: CONTROLLER, state: 'active', memoryBytes: MB, cpuUserMicroseconds: 0 };
  const report = () =>
    Promise.resolve({
      ...{ version: 1, drives: [], volumes: [], sessions: [], servers: [] },
      controllers: [{ ...controller, cpuSystemMicroseconds: 0 }],
      groups: [{ id: 'RaidGroup-1', metadataCache: { ...metadataCache }, io: NO_IO }],
      pools: [{ id: 'pool-1', cache: { ...cache }, io: NO_IO }],
    });
  const engine = { report } as unknown as Engine;
  const tools = toolsAlone({ folder: temporaryFolder(t), engine, clock });
  let record: (readings: typeof tools.readings, atMs: number) => unknown = () => undefined;
  tools.readings.onReading = (listener) => (record = listener);
  const performance = new PerformanceService(tools, settings);
  performance.start();
  t.after(async () => {
    await performance.stop();
    tools.store.close();
  });
  for (let second = 1; second <= SECONDS; second++) {
    clock.advance(1_000);
    cache[second <= SECONDS / 2 ? 'hits' : 'misses'] += 1;
    cache[second % 4 === 0 ? 'writeHits' : 'writeMisses'] += 1;
    metadataCache[second % 2 === 0 ? 'readHits' : 'readMisses'] += 1;
    metadataCache.writeHits += 1;
    await tools.readings.refresh();
    await record(tools.readings, clock.now());
  }
  return controllerPerformanceRoutes(performance) as unknown as Routes;
}

test('the points of the cache are as far apart as the interval, and each is of all that time', async (t) => {
  const routes = await setUp(t);
  for (const [interval, hits] of [
    [1, Array.from({ length: 60 }, () => 0)],
    [10, [...Array.from({ length: 6 }, () => 100), ...Array.from({ length: 6 }, () => 0)]],
    [60, [100, 0]],
    [120, [50]],
  ] as const) {
    const { zcache_usages: points, count } = routes.cachePerformance({ id: CONTROLLER, interval });
    assert.equal(count, points.length);
    assert.deepEqual(
      points.map(({ zcache_data_read_hit: share }) => share),
      hits,
      `every ${interval} seconds`,
    );
    for (const [index, { point }] of points.entries())
      assert.equal(point, points[0]!.point + index * interval, `every ${interval} seconds`);
    assert.deepEqual(routes.cacheStats({ id: CONTROLLER, interval }), {
      zcache_name: CONTROLLER,
      usages: points,
      count,
    });
  }
});

test('each of the ten figures of the caches follows what the engine counts', async (t) => {
  const routes = await setUp(t);
  const { point, ...figures } = routes.cacheStats({ id: CONTROLLER, interval: 120 }).usages[0]!;
  assert.ok(point > 0);
  assert.deepEqual(figures, {
    zcache_data_dirty: 0,
    zcache_meta_dirty: 1,
    zcache_data_clean: 1,
    zcache_meta_clean: 2,
    zcache_data_cb_util: 12.5,
    zcache_meta_cb_util: 75,
    zcache_data_read_hit: 50,
    zcache_meta_read_hit: 50,
    zcache_data_write_hit: 25,
    zcache_meta_write_hit: 100,
  });
  const { usages } = routes.performance({ id: CONTROLLER, interval: 120 });
  assert.deepEqual([usages[0]?.zcache_data_dirty, usages[0]?.zcache_meta_dirty], [0, 1]);
});
