import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { GB } from '../units.ts';
import { watchWithHistory } from './history.ts';

const MINUTE_MS = 60_000;
const THRESHOLDS = { historyMinutes: 60, alertMinutes: 60, protectedMinutes: 10, emergencyBytes: 0 };

describe('a watch with a history', () => {
  it('spreads a burst in its first seconds over the whole history, and still does minutes later', () => {
    const watch = watchWithHistory(THRESHOLDS, [], { atMs: 0, usedBytes: 0 });
    for (let second = 1; second <= 10 * 60; second++) {
      watch.record(second * 1000, Math.min(second, 6) * GB);
      assert.ok(watch.bytesPerMinute() <= 0.11 * GB, `${watch.bytesPerMinute() / GB} GB a minute after ${second} s`);
    }
    assert.ok(watch.bytesPerMinute() > 0.09 * GB);
  });

  it('goes on from samples as if it had never stopped', () => {
    const samples = Array.from({ length: 60 }, (_, minute) => ({ atMs: minute * MINUTE_MS, usedBytes: minute * GB }));
    const watch = watchWithHistory(THRESHOLDS, samples, { atMs: 60 * MINUTE_MS, usedBytes: 60 * GB });
    assert.ok(Math.abs(watch.bytesPerMinute() / GB - 1) < 0.05);
  });

  it('makes nothing of samples that are too old or lie in the future', () => {
    const samples = [
      { atMs: -90 * MINUTE_MS, usedBytes: 0 },
      { atMs: 30 * MINUTE_MS, usedBytes: 100 * GB },
    ];
    const watch = watchWithHistory(THRESHOLDS, samples, { atMs: 0, usedBytes: 50 * GB });
    assert.equal(watch.bytesPerMinute(), 0);
  });

  it('knows no rate without a history', () => {
    const watch = watchWithHistory({ ...THRESHOLDS, historyMinutes: 0 }, [], { atMs: 0, usedBytes: 0 });
    watch.record(1000, 50 * GB);
    assert.equal(watch.bytesPerMinute(), 0);
    assert.equal(watch.mode(1), 'normal');
  });
});
