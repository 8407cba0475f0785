import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DriveRow, RingRow } from './drive-catalogue.ts';
import { membersOf, nextToJoin } from './membership.ts';
import { PartitionStates } from './partition-states.ts';
import { SegmentNumbers } from './segment-numbers.ts';

const POLICY = { index: 0, name: 'three', copies: 3, dataFragments: 0, parityFragments: 0 };
const RING: RingRow = {
  policy: 0,
  version: 1,
  partitions: 2,
  slots: 3,
  drives: Uint32Array.of(1, 2, 3, 2, 3, 4),
  rebalancedAt: null,
};

function statesWith(dead: readonly number[]): PartitionStates {
  return new PartitionStates((drive) => drive !== 0 && !dead.includes(drive));
}

test('a partition that is not marked is as its drives are', () => {
  const states = statesWith([1]);
  assert.equal(states.health(0, POLICY, RING), 'degraded');
  assert.equal(states.health(1, POLICY, RING), 'normal');
  assert.equal(statesWith([2, 3]).health(0, POLICY, RING), 'critical');
});

test('a marked partition is as the worst of its blobs is', () => {
  const states = statesWith([1, 9]);
  states.update([{ partition: 1, mark: 5, doubted: false }]);
  assert.equal(states.health(1, POLICY, RING), 'degraded', 'its spreads are unknown yet');
  states.setSpreads(1, 5, [
    [2, 3, 4],
    [2, 0, 9],
  ]);
  assert.equal(states.health(1, POLICY, RING), 'critical');
  states.setSpreads(1, 5, [[2, 3, 5]]);
  assert.equal(states.health(1, POLICY, RING), 'normal', 'it only has to move');
  states.setSpreads(1, 5, []);
  assert.equal(states.health(1, POLICY, RING), 'normal', 'an empty one follows its drives');
  states.update([]);
  assert.equal(states.marked.size, 0);
});

test('a partition that is marked again while it is known lacks at least one piece', () => {
  const states = statesWith([]);
  states.update([{ partition: 1, mark: 5, doubted: false }]);
  states.setSpreads(1, 5, [[2, 3, 4]]);
  states.update([{ partition: 1, mark: 6, doubted: false }]);
  assert.equal(states.health(1, POLICY, RING), 'degraded');
});

function row(number: number, stage: DriveRow['stage'], batch = 0): DriveRow {
  return { number, uuid: `u${number}`, folder: '', node: '', zone: '', capacity: 1, policy: 0, stage, batch };
}

test('drives that should go are used only while there are too few others', () => {
  const drives = [row(1, 'joined'), row(2, 'leaving'), row(3, 'lost'), row(4, 'waiting')];
  const numbers = (slots: number): number[] =>
    membersOf(drives, slots, (drive) => drive !== 3, new Set([1, 2, 3])).map(({ number }) => number);
  assert.deepEqual(numbers(1), [1]);
  assert.deepEqual(numbers(2), [1, 2]);
  assert.deepEqual(numbers(3), [1, 2, 3]);
});

test('a step adds a share of the drives that came together, and at least one', () => {
  const waiting = [1, 2, 3, 4].map((number) => row(number, 'waiting', 8));
  assert.equal(nextToJoin(waiting, 25).length, 2);
  assert.equal(nextToJoin(waiting, 1).length, 1);
  assert.equal(nextToJoin(waiting, 1000).length, 4);
  assert.deepEqual(nextToJoin([], 50), []);
});

test('no two segments of a drive ever have the same number, also after a restart', async () => {
  let next = 1;
  const take = async (_drive: number, count: number): Promise<number> => {
    const first = next;
    next += count;
    return first;
  };
  const numbers = new SegmentNumbers(take);
  const given = await Promise.all(Array.from({ length: 200 }, () => numbers.next(1)));
  const later = new SegmentNumbers(take);
  given.push(await later.next(1));
  assert.equal(new Set(given).size, 201);
  assert.ok(numbers.wasGiven(1, 5) && !later.wasGiven(1, 5));
});
