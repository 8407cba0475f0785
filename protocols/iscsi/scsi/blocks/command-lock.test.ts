import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { CommandLock } from './command-lock.ts';

test('what is done at once is done at once and leaves nothing behind', () => {
  const lock = new CommandLock();
  assert.equal(
    lock.run(0, 10, false, () => undefined),
    undefined,
  );
  assert.equal(
    lock.run(0, 10, true, () => undefined),
    undefined,
  );
});

test('an exclusive range is never shared, and every command gets a turn', async () => {
  const range = fc.record({ start: fc.nat(20), length: fc.integer({ min: 1, max: 10 }), exclusive: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(range, { maxLength: 30 }), async (ranges) => {
      const lock = new CommandLock();
      const inside = new Set<(typeof ranges)[number]>();
      const runs = ranges.map((mine, index) =>
        lock.run(mine.start, mine.start + mine.length, mine.exclusive, async () => {
          for (const other of inside) {
            const overlaps = mine.start < other.start + other.length && other.start < mine.start + mine.length;
            assert.ok(!overlaps || (!mine.exclusive && !other.exclusive));
          }
          inside.add(mine);
          for (let turns = 0; turns <= index % 3; turns++) await turn();
          inside.delete(mine);
        }),
      );
      await Promise.all(runs);
      assert.equal(inside.size, 0);
    }),
    { numRuns: 50 },
  );
});

test('who fails lets the next one in', async () => {
  const lock = new CommandLock();
  const failing = lock.run(0, 1, true, () => Promise.reject(new Error('no')));
  const next = lock.run(0, 1, true, () => Promise.resolve('in'));
  await assert.rejects(failing);
  assert.equal(await next, 'in');
});

test('a later range does not overtake a waiting one it overlaps', async () => {
  const lock = new CommandLock();
  const order: string[] = [];
  const step = (name: string) => async () => {
    await turn();
    order.push(name);
  };
  await Promise.all([
    lock.run(0, 5, false, step('first')),
    lock.run(0, 10, true, step('exclusive')),
    lock.run(8, 9, false, step('later')),
  ]);
  assert.deepEqual(order, ['first', 'exclusive', 'later']);
});
