import assert from 'node:assert/strict';
import { test } from 'node:test';
import { GroupedIds } from './blob-ids.ts';

const groupOf = (id: Uint8Array): string => Buffer.from(id.subarray(0, 4)).toString('hex');
const groupsOf = (ids: readonly Uint8Array[]): Set<string> => new Set(ids.map(groupOf));

test('small blobs written at the same time begin alike, and no two are the same', () => {
  const ids = new GroupedIds();
  const made = Array.from({ length: 64 }, () => ids.begin(4096));
  assert.equal(groupsOf(made).size, 1);
  assert.equal(new Set(made.map((id) => Buffer.from(id).toString('hex'))).size, made.length);
});

test('blobs written one after the other are spread', () => {
  const ids = new GroupedIds();
  const made = Array.from({ length: 64 }, () => {
    const id = ids.begin(16);
    ids.done();
    return id;
  });
  assert.ok(groupsOf(made).size > 60, `${groupsOf(made).size} groups`);
});

test('a group ends with its last writer, and not with the first', () => {
  const ids = new GroupedIds();
  const first = ids.begin(16);
  const second = ids.begin(16);
  ids.done();
  assert.equal(groupOf(ids.begin(16)), groupOf(second));
  ids.done();
  ids.done();
  assert.notEqual(groupOf(ids.begin(16)), groupOf(first));
});

test('a group has so many blobs, and so many bytes, however many are written', () => {
  const few = new GroupedIds();
  assert.equal(groupsOf(Array.from({ length: 1024 }, () => few.begin(1))).size, 4);
  const large = new GroupedIds();
  assert.equal(groupsOf(Array.from({ length: 32 }, () => large.begin(64 * 1024))).size, 4);
  const largest = new GroupedIds();
  assert.equal(groupsOf(Array.from({ length: 8 }, () => largest.begin(1024 * 1024))).size, 8);
});
