import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gate } from '../src/objects/s3/gate.ts';

test('as many as there are places go on at a time, in turn, and a failure gives its place back', async () => {
  const gate = new Gate(2);
  const begun: number[] = [];
  const ends: ((isGood: boolean) => void)[] = [];
  const all = [0, 1, 2, 3].map((number) =>
    gate.run(
      () =>
        new Promise<number>((resolve, reject) => {
          begun.push(number);
          ends[number] = (isGood) => (isGood ? resolve(number) : reject(new Error('lost')));
        }),
    ),
  );
  const settled = Promise.allSettled(all);
  assert.deepEqual(begun, [0, 1]);
  ends[1]?.(false);
  await assert.rejects(all[1] ?? Promise.resolve());
  assert.deepEqual(begun, [0, 1, 2]);
  ends[0]?.(true);
  ends[2]?.(true);
  await all[2];
  ends[3]?.(true);
  assert.deepEqual(
    (await settled).map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  );
});
