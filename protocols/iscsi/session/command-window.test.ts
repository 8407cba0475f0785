import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CommandWindow } from './command-window.ts';

test('the next command is taken, later ones in the window wait, all others are ignored', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffffff }), fc.integer({ min: 1, max: 300 }), (first, depth) => {
      const window = new CommandWindow(first, depth);
      assert.equal(window.place(first), 'next');
      assert.equal(window.place((first - 1) >>> 0), 'outside');
      assert.equal(window.place((first + depth) >>> 0), 'outside');
      if (depth > 1) assert.equal(window.place((first + depth - 1) >>> 0), 'early');
    }),
  );
});

test('a full window opens again as commands end, across the wrap-around', () => {
  const window = new CommandWindow(0xfffffffe, 4);
  for (const number of [0xfffffffe, 0xffffffff, 0, 1]) {
    assert.equal(window.place(number), 'next');
    window.received();
  }
  assert.equal(window.place(2), 'outside');
  window.ended();
  assert.equal(window.place(2), 'next');
  assert.deepEqual([window.expected, window.maximum], [2, 2]);
});

test('a window never lets in more than its depth: a command ends once, and only after it was received', () => {
  const window = new CommandWindow(7, 2);
  assert.throws(() => window.ended(), /ends once/);
  assert.deepEqual([window.expected, window.maximum], [7, 8]);
  window.received();
  window.received();
  assert.throws(() => window.received(), /within the window/);
  assert.deepEqual([window.expected, window.maximum], [9, 8]);
});
