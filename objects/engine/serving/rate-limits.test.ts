import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createLimits, LimitSlots, countChange } from './rate-limits.ts';

const NOON = Date.parse('2026-11-16T12:00:00Z');

function counters(): BigInt64Array {
  return new BigInt64Array(createLimits());
}

test('a second has as many changes as its limit says, and the next has as many again', () => {
  const limits = counters();
  const taken = (at: number) => Array.from({ length: 10 }, () => countChange(limits, 3, 4, at)).filter(Boolean).length;
  assert.equal(taken(NOON), 4);
  assert.equal(taken(NOON + 999), 0, 'the same second');
  assert.equal(taken(NOON + 1_000), 4);
  assert.equal(taken(NOON + 3_600_000), 4);
});

test('accounts do not use up what others have', () => {
  const limits = counters();
  const slots = new LimitSlots();
  const [one, other] = [slots.of('a'.repeat(32)), slots.of('b'.repeat(32))];
  assert.notEqual(one, other);
  assert.equal(slots.of('a'.repeat(32)), one, 'it keeps its place');
  assert.deepEqual([countChange(limits, one, 1, NOON), countChange(limits, one, 1, NOON)], [true, false]);
  assert.equal(countChange(limits, other, 1, NOON), true);
});

test('a limit that was lowered within a second holds at once', () => {
  const limits = counters();
  for (let change = 0; change < 5; change++) assert.ok(countChange(limits, 0, 10, NOON));
  assert.equal(countChange(limits, 0, 5, NOON), false);
  assert.equal(countChange(limits, 0, 6, NOON), true);
});

test('threads that ask at the same time get the limit between them, not one change more', async () => {
  const shared = createLimits();
  const program = `
    const { parentPort, workerData } = require('node:worker_threads');
    import(workerData.module).then(({ countChange }) => {
      const limits = new BigInt64Array(workerData.shared);
      const gate = new Int32Array(workerData.gate);
      Atomics.wait(gate, 0, 0);
      let taken = 0;
      for (let round = 0; round < 5000; round++) if (countChange(limits, 7, 3001, workerData.now)) taken += 1;
      parentPort.postMessage(taken);
    });`;
  const gate = new SharedArrayBuffer(4);
  const workerData = { module: new URL('./rate-limits.ts', import.meta.url).href, shared, gate, now: NOON };
  const workers = Array.from({ length: 3 }, () => new Worker(program, { eval: true, workerData }));
  const answers = workers.map((worker) => once(worker, 'message') as Promise<[number]>);
  await Promise.all(workers.map((worker) => once(worker, 'online')));
  Atomics.store(new Int32Array(gate), 0, 1);
  Atomics.notify(new Int32Array(gate), 0);
  const taken = (await Promise.all(answers)).map(([count]) => count);
  assert.equal(
    taken.reduce((sum, count) => sum + count, 0),
    3001,
    taken.join(),
  );
});
