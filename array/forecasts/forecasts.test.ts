import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock, Store } from '@granary/kernel';
import { migrations } from '../migrations.ts';
import { ForecastService } from './service.ts';

const HOUR_MS = 3_600_000;
const GB = 2 ** 30;

/** Pools and volumes on record, whose use the test sets. */
async function setUp() {
  const store = new Store(':memory:', migrations);
  const clock = new ManualClock('2031-03-10T12:00:00Z');
  const used = new Map<string, number>();
  const readings = {
    onReading: () => undefined,
    pool: (name: string) => ({ isOpen: used.has(name), totalBytes: 100 * GB, usedBytes: used.get(name) ?? 0 }),
    volume: (name: string) =>
      used.has(name) ? { ownBytes: used.get(name) ?? 0, snapshotBytes: 0, sharedBytes: 0, share: null } : undefined,
  };
  await store.write((tx) => {
    tx.run(
      `INSERT INTO pools (name, display_name, mode, type, capacity_bytes, state, cache, cow_cache, capacity_history,
         alert_mode, protected_mode, emergency_mode, effective_capacity_history, effective_alert_mode,
         effective_protected_mode, effective_emergency_mode, created_at, modified_at)
       VALUES ('pool-1', 'gold', 'simple', 'Balanced', :bytes, 'ready', 0, 0, 60, 0, 0, 0, 60, 0, 0, 0, 0, 0)`,
      { bytes: 100 * GB },
    );
    for (const [name, gb] of [
      ['volume-1', 40],
      ['volume-2', 40],
    ] as const)
      tx.run(
        `INSERT INTO volumes (name, display_name, cg_name, pool, kind, size_bytes, state, compress, dedupe, wwid, created_at,
           modified_at) VALUES (:name, :name, :name, 'pool-1', 'block', :bytes, 'ready', 0, 0, '', 0, 0)`,
        { name, bytes: gb * GB },
      );
  });
  const service = new ForecastService({ store, clock, readings } as never);
  return {
    service,
    /** An hour later these have that use, in GB. */
    hour: async (now: Readonly<Record<string, number>>) => {
      clock.advance(HOUR_MS);
      for (const [name, gb] of Object.entries(now)) used.set(name, Math.round(gb * GB));
      await service.record();
    },
  };
}

test('pools and volumes are ranked together by when they will be full, and each kind alone', async () => {
  const { service, hour } = await setUp();
  for (let index = 0; index <= 48; index++)
    await hour({ 'pool-1': 10 + index / 2, 'volume-1': 10 + index / 4, 'volume-2': 20 - index / 8 });
  const { forecasts, count } = await service.list(undefined, { start: 0, limit: 0 });
  assert.equal(count, 3);
  assert.deepEqual(
    forecasts.map(({ name, kind, state }) => [kind, name, state]),
    [
      ['volume', 'volume-1', 'growing'],
      ['pool', 'gold', 'growing'],
      ['volume', 'volume-2', 'shrinking'],
    ],
  );
  // 18 of 40 GB are left, at 6 a day; 66 of 100 at 12.
  const near = (value: number | null | undefined, wanted: number) => Math.abs((value ?? 0) - wanted) < 0.02;
  assert.ok(
    near(forecasts[0]?.days_likely, 18 / 6) && near(forecasts[1]?.days_likely, 66 / 12),
    JSON.stringify(forecasts),
  );
  assert.deepEqual([forecasts[2]?.days_likely, forecasts[2]?.note], [null, null]);
  const page = await service.list('volume', { start: 1, limit: 1 });
  assert.deepEqual([page.forecasts.map(({ id }) => id), page.count], [['volume-2'], 2]);
});

test('what has no history yet says so, and what the engine does not report is left out and keeps its history', async () => {
  const { service, hour } = await setUp();
  await hour({ 'pool-1': 10 });
  await hour({ 'pool-1': 11 });
  const { forecasts } = await service.list(undefined, { start: 0, limit: 0 });
  assert.deepEqual(
    forecasts.map(({ id, state, note }) => [id, state, note]),
    [['pool-1', 'no_history', 'Not enough history: 1 hour of 1 day.']],
  );
});
