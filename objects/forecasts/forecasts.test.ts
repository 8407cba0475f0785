import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CapacityHistory, ManualClock, Store } from '@granary/kernel';
import { migrations } from '../migrations.ts';
import { ForecastService } from './service.ts';

const HOUR_MS = 3_600_000;
const GB = 2 ** 30;

test('a policy whose drives are away for some hours keeps its history', async (t) => {
  const store = new Store(':memory:', migrations);
  t.after(() => store.close());
  const clock = new ManualClock('2031-03-10T12:00:00Z');
  let [used, capacity] = [10 * GB, 100 * GB];
  const policies = {
    list: () => [{ name: 'policy-1', displayName: 'copies', report: { usedBytes: used, capacity } }],
  };
  const service = new ForecastService(
    { store, clock } as never,
    { policies, history: new CapacityHistory({ store, clock }) } as never,
  );
  const hours = async (count: number, growth: number) => {
    for (let hour = 0; hour < count; hour += 1) {
      clock.advance(HOUR_MS);
      used += growth;
      await service.record();
    }
  };
  await hours(48, GB / 2);
  const before = (await service.list({ start: 0, limit: 0 })).forecasts[0];
  assert.ok(before);
  assert.equal(before.state, 'growing');
  capacity = 0;
  await hours(3, 0);
  assert.deepEqual((await service.list({ start: 0, limit: 0 })).forecasts, []);
  capacity = 100 * GB;
  await hours(1, GB / 2);
  const after = (await service.list({ start: 0, limit: 0 })).forecasts[0];
  assert.ok(after);
  assert.equal(after.state, 'growing');
  assert.ok(after.history_days > before.history_days, `${after.history_days} days of history`);
});
