import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Minutes } from '../src/parts/minutes.ts';

/** Goal: "just now" does not stand on a page for hours. */

test('all who show how long ago something was share one timer, which ends with the last of them', () => {
  let now = 60_000;
  const due = new Set<() => void>();
  const minutes = new Minutes(
    (action) => {
      due.add(action);
      return () => due.delete(action);
    },
    () => now,
  );
  const heard: string[] = [];
  const stops = ['one', 'other'].map((name) => minutes.subscribe(() => heard.push(name)));
  assert.equal(due.size, 1);
  assert.equal(minutes.current(), 1);
  now += 60_000;
  for (const action of due) action();
  assert.deepEqual([heard, minutes.current()], [['one', 'other'], 2]);
  stops[0]?.();
  assert.equal(due.size, 1);
  stops[1]?.();
  assert.equal(due.size, 0);
  minutes.subscribe(() => undefined);
  assert.equal(due.size, 1);
});
