import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CapacityWatch } from './capacity-watch.ts';
import { MIB } from './testing/pool-rig.ts';

const MINUTE_MS = 60_000;
const THRESHOLDS = { historyMinutes: 60, alertMinutes: 120, protectedMinutes: 30, emergencyBytes: 10 * MIB };

/** Notes use that grows by so many MiB a minute, once every `everyMs`. */
function noteGrowth(watch: CapacityWatch, mibPerMinute: number, minutes: number, everyMs = MINUTE_MS): void {
  for (let atMs = 0; atMs <= minutes * MINUTE_MS; atMs += everyMs) {
    watch.record(atMs, ((mibPerMinute * atMs) / MINUTE_MS) * MIB);
  }
}

describe('a capacity watch', () => {
  it('is normal while nothing is known and room is left', () => {
    const watch = new CapacityWatch(THRESHOLDS);
    assert.equal(watch.bytesPerMinute(), 0);
    assert.equal(watch.mode(1000 * MIB), 'normal');
  });

  it('evaluates how long the free space lasts at the rate of the history', () => {
    const watch = new CapacityWatch(THRESHOLDS);
    noteGrowth(watch, 2, 30);
    assert.equal(watch.bytesPerMinute(), 2 * MIB);
    assert.equal(watch.mode(240 * MIB), 'normal');
    assert.equal(watch.mode(239 * MIB), 'alert');
    assert.equal(watch.mode(60 * MIB), 'alert');
    assert.equal(watch.mode(59 * MIB), 'protected');
  });

  it('is in emergency when less than the threshold is left, whatever the rate, and when nothing is', () => {
    const watch = new CapacityWatch(THRESHOLDS);
    assert.equal(watch.mode(10 * MIB), 'normal');
    assert.equal(watch.mode(10 * MIB - 1), 'emergency');
    watch.setThresholds({ ...THRESHOLDS, emergencyBytes: 0 });
    assert.equal(watch.mode(1), 'normal');
    assert.equal(watch.mode(0), 'emergency');
  });

  it('knows no rate while use shrinks or stands still', () => {
    const watch = new CapacityWatch(THRESHOLDS);
    watch.record(0, 500 * MIB);
    watch.record(MINUTE_MS, 500 * MIB);
    assert.equal(watch.bytesPerMinute(), 0);
    watch.record(2 * MINUTE_MS, 100 * MIB);
    assert.equal(watch.bytesPerMinute(), 0);
    assert.equal(watch.mode(11 * MIB), 'normal');
  });

  it('forgets what lies before the history', () => {
    const watch = new CapacityWatch(THRESHOLDS);
    watch.record(0, 0);
    watch.record(MINUTE_MS, 10_000 * MIB);
    for (let minute = 2; minute <= 62; minute++) watch.record(minute * MINUTE_MS, 10_000 * MIB);
    assert.equal(watch.bytesPerMinute(), 0);
  });

  it('looks back over the whole history however often it is sampled', () => {
    const watch = new CapacityWatch(THRESHOLDS);
    for (let second = 0; second <= 3 * 3600; second++) {
      watch.record(second * 1000, second * MIB);
      if (second === 0) continue;
      const rate = watch.bytesPerMinute() / MIB;
      assert(Math.abs(rate - 60) < 0.001, `after ${second} seconds the rate is ${rate} MiB a minute`);
    }
    // A burst in the last minute of an hour of steady growth must not count as the rate of the hour.
    watch.record((3 * 3600 + 1) * 1000, (3 * 3600 + 600) * MIB);
    assert(watch.bytesPerMinute() / MIB < 80);
  });
});
