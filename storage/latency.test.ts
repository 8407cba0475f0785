import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LATENCY_ENDS_MS, LatencyCounter } from './latency.ts';

test('an operation counts in the first bucket that is long enough, and beyond the last in none of them', () => {
  const counter = new LatencyCounter();
  for (const end of LATENCY_ENDS_MS) counter.add(end);
  counter.add(0);
  counter.add(1e6);
  const [first, ...others] = counter.counts();
  assert.equal(first, 2);
  assert.deepEqual(others, new Array(LATENCY_ENDS_MS.length).fill(1));
});
