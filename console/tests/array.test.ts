import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sumOf, type IoPoint } from '../src/array/performance/points.ts';

/** Goal: what the pages of a block array work out without a browser. */

function point(at: number, reads: number, latency = 0): IoPoint {
  const nothing = { wrt_iops: 0, rd_bandwidth: 0, wrt_bandwidth: 0, rd_queue_len: 0, wrt_queue_len: 0, wrt_iotime: 0 };
  return { ...nothing, point: at, rd_iops: reads, rd_iotime: latency };
}

const shown = (points: readonly IoPoint[]) => points.map(({ point: at, rd_iops: reads }) => [at, reads]);

test('rates of pools add up, and latency is weighted by the reads it was of', () => {
  const sum = sumOf([[point(10, 30, 1)], [point(10, 10, 5)]]);
  assert.deepEqual(shown(sum), [[10, 40]]);
  assert.equal(sum[0]?.rd_iotime, 2);
});

test('a point that only some pools have yet is no sum: the line of the array does not drop at its end', () => {
  const early = [point(10, 5), point(20, 5), point(30, 5)];
  const late = [point(10, 7), point(20, 7)];
  assert.deepEqual(shown(sumOf([early, late])), [
    [10, 12],
    [20, 12],
  ]);
});

test('a pool that was just made, and one that says nothing any more, hold up nobody', () => {
  const running = [10, 20, 30, 40, 50, 60].map((at) => point(at, 5));
  assert.equal(sumOf([running, [point(60, 1)], [point(10, 7)], []]).at(-1)?.point, 60);
  assert.deepEqual(sumOf([]), []);
});
