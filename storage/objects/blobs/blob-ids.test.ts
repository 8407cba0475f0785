import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupedIds } from './blob-ids.ts';

const groupOf = (id: Uint8Array): string => Buffer.from(id.subarray(0, 4)).toString('hex');
const groupsOf = (ids: readonly Uint8Array[]): Set<string> => new Set(ids.map(groupOf));

test('small blobs of the same moment begin alike, and no two are the same', () => {
  const ids = new GroupedIds(() => 0);
  const made = Array.from({ length: 64 }, () => ids.next(4096));
  assert.equal(groupsOf(made).size, 1);
  assert.equal(new Set(made.map((id) => Buffer.from(id).toString('hex'))).size, made.length);
});

test('a group ends after a while, however long its blobs take to be written', () => {
  let nowMs = 0;
  const ids = new GroupedIds(() => nowMs);
  const made = Array.from({ length: 64 }, () => {
    nowMs += 1;
    return ids.next(16);
  });
  assert.equal(groupsOf(made).size, 16);
});

test('a group has so many blobs, and so many bytes, however many there are', () => {
  const few = new GroupedIds(() => 0);
  assert.equal(groupsOf(Array.from({ length: 1024 }, () => few.next(1))).size, 4);
  const large = new GroupedIds(() => 0);
  assert.equal(groupsOf(Array.from({ length: 32 }, () => large.next(64 * 1024))).size, 4);
});

test('a large blob has an id of its own, and those beside it stay together', () => {
  const ids = new GroupedIds(() => 0);
  const made = Array.from({ length: 8 }, () => [ids.next(1024 * 1024), ids.next(16)] as const);
  assert.equal(groupsOf(made.map(([large]) => large)).size, 8);
  assert.equal(groupsOf(made.map(([, small]) => small)).size, 1);
});
