import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pageOf, sqlPage, WHOLE } from './paging.ts';

test('a limit of 0 is no limit, in SQL and in memory', () => {
  assert.deepEqual(sqlPage(WHOLE), { start: 0, limit: -1 });
  assert.deepEqual(sqlPage({ start: 4, limit: 2 }), { start: 4, limit: 2 });
  assert.deepEqual(pageOf([1, 2, 3], WHOLE), [1, 2, 3]);
  assert.deepEqual(pageOf([1, 2, 3], { start: 1, limit: 0 }), [2, 3]);
});

test('a page ends where the list ends', () => {
  assert.deepEqual(pageOf([1, 2, 3], { start: 1, limit: 1 }), [2]);
  assert.deepEqual(pageOf([1, 2, 3], { start: 2, limit: 9 }), [3]);
  assert.deepEqual(pageOf([1, 2, 3], { start: 3, limit: 9 }), []);
});
