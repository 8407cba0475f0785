import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Meter } from './statistics.ts';

describe('a meter', () => {
  it('counts operations and bytes when they are done, not when they start', async () => {
    const meter = new Meter();
    const { promise, resolve }: PromiseWithResolvers<void> = Promise.withResolvers();
    const measured = meter.measure(performance.now(), 512, promise);
    assert.equal(meter.totals().count, 0);
    resolve();
    await measured;
    assert.equal(meter.measure(performance.now(), 4096, undefined), undefined);
    const { count, bytes, errors } = meter.totals();
    assert.deepEqual({ count, bytes, errors }, { count: 2, bytes: 4608, errors: 0 });
  });

  it('counts a failure as an error alone and passes it on', async () => {
    const meter = new Meter();
    const failing = meter.measure(performance.now(), 512, Promise.reject(new Error('the drive is gone')));
    await assert.rejects(async () => failing, /the drive is gone/);
    const { count, bytes, errors, microseconds } = meter.totals();
    assert.deepEqual({ count, bytes, errors, microseconds }, { count: 0, bytes: 0, errors: 1, microseconds: 0 });
  });

  it('adds up microseconds and keeps the longest', (t) => {
    t.mock.method(performance, 'now', () => 1000);
    const meter = new Meter();
    meter.record(970, 0);
    meter.record(990, 0);
    const { microseconds, microsecondsMax } = meter.totals();
    assert.deepEqual([microsecondsMax, microseconds], [30_000, 40_000]);
  });
});
