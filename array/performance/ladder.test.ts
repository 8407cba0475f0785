import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../testing/random.ts';
import { Ladder } from './ladder.ts';

const NOON = 1_800_000_000;
const one = [1, 4096, 200, 0, 0, 0];

function total(windows: readonly Float64Array[], column = 0): number {
  return windows.reduce((sum, window) => sum + (window[column] ?? 0), 0);
}

function near(actual: number, expected: number, tolerance = 1e-6): void {
  assert.ok(Math.abs(actual - expected) <= tolerance * Math.max(1, expected), `${actual} is not near ${expected}`);
}

test('what happened between two moments is spread over that time and lost nowhere', () => {
  const ladder = new Ladder();
  ladder.add(one, NOON + 0.75, NOON + 1.75);
  const windows = ladder.windows(NOON + 3, 1, 4, NOON + 3);
  assert.deepEqual(
    windows.map(([count]) => count),
    [0, 0.25, 0.75, 0],
  );
});

for (const seconds of [1, 2, 7, 10, 30, 59, 60, 90, 600, 3600, 5000, 86_400, 604_800])
  test(`sixty points of ${seconds} seconds hold all that happened in their time`, (t) => {
    const random = seededRandom(t);
    const ladder = new Ladder();
    const end = Math.floor(NOON / seconds) * seconds;
    const start = end - 60 * seconds;
    const stride = Math.max(1, seconds / 20);
    let sent = 0;
    for (let at = start; at < end; at += stride) {
      if (random() < 0.3) continue;
      ladder.add(one, at, Math.min(at + 1, end));
      sent += 1;
    }
    const windows = ladder.windows(end, seconds, 60, end);
    assert.equal(windows.length, 60);
    // Where no step fits the interval, points end in the middle of a bucket.
    const tolerance = [1, 2, 10, 60, 600, 3600, 86_400, 604_800].includes(seconds) ? 1e-6 : 0.01;
    near(total(windows), sent, tolerance);
    near(total(windows, 1), sent * 4096, tolerance);
  });

for (const seconds of [1, 10, 60, 600, 3600, 86_400])
  test(`a steady load shows as the same rate in each point of ${seconds} seconds`, () => {
    const ladder = new Ladder();
    const end = Math.floor(NOON / seconds) * seconds;
    const stretch = Math.min(seconds, 100);
    for (let at = end - 60 * seconds; at < end; at += stretch)
      ladder.add([stretch * 50, 0, 0, 0, 0, 0], at, at + stretch);
    for (const [count] of ladder.windows(end, seconds, 60, end)) near((count ?? 0) / seconds, 50);
  });

test('what is put back from disk counts in every point, only less finely in those of seconds', () => {
  const before = new Ladder();
  for (let at = NOON - 100; at < NOON; at++) before.add(one, at, at + 1);
  const after = new Ladder();
  after.restore(before.takeChanges().buckets, NOON);
  near(total(after.windows(NOON, 10, 60, NOON)), 100);
  near(total(after.windows(NOON, 1, 60, NOON)), 60);
  after.add(one, NOON, NOON + 1);
  near(total(after.windows(NOON + 1, 1, 1, NOON + 1)), 1);
});

test('only what changed since is taken for the disk, and again when it did not get there', () => {
  const ladder = new Ladder();
  ladder.add(one, NOON, NOON + 1);
  assert.equal(ladder.takeChanges().buckets.length, 5);
  assert.ok(!ladder.hasChanges);
  ladder.add(one, NOON + 12, NOON + 13);
  const changes = ladder.takeChanges();
  assert.deepEqual(
    changes.buckets.map(({ step, sums }) => [step, sums[0]]),
    [
      [10, 1],
      [60, 2],
      [600, 2],
      [3600, 2],
      [86_400, 2],
    ],
  );
  ladder.putBack(changes);
  assert.equal(ladder.takeChanges().buckets.length, 5);
});

test('what is too old to be asked for takes no room', () => {
  const ladder = new Ladder();
  ladder.add(one, NOON, NOON + 1);
  assert.ok(!ladder.isEmptyAt(NOON + 400 * 86_400));
  assert.ok(ladder.isEmptyAt(NOON + 430 * 86_400));
});
