import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QuickDisk } from './quick-disk.ts';

/** How many of `count` syncs that take so long each were waited for on the spot. */
function onTheSpot(disk: QuickDisk, count: number, milliseconds: (call: number) => number): number {
  let done = 0;
  for (let call = 0; call < count; call += 1) {
    if (!disk.isWorthIt) continue;
    disk.took(milliseconds(call));
    done += 1;
  }
  return done;
}

test('a quick disk is waited for, also when the thread has to stand back now and then', () => {
  assert.equal(
    onTheSpot(new QuickDisk(), 1000, (call) => (call % 3 === 0 ? 0.06 : 5)),
    1000,
  );
});

test('a slow disk is waited for a few times only, and a quick one again once it is', () => {
  const disk = new QuickDisk();
  assert.ok(onTheSpot(disk, 640, () => 4) <= 8 + 10);
  assert.ok(onTheSpot(disk, 640, () => 0.06) >= 640 - 64);
});

test('a disk that was quick and takes long once is not waited for again at once', () => {
  const disk = new QuickDisk();
  onTheSpot(disk, 100, () => 0.06);
  assert.equal(
    onTheSpot(disk, 60, () => 2_000),
    1,
  );
});
