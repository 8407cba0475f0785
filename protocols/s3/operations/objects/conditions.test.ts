import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evaluate } from './conditions.ts';

const modifiedAt = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const version = { etag: 'abc', modifiedAt };
const exact = new Date(modifiedAt).toUTCString();
const before = new Date(modifiedAt - 60_000).toUTCString();
const after = new Date(modifiedAt + 60_000).toUTCString();

test('ETags are taken quoted, bare, weak, in lists and as *', () => {
  for (const ifMatch of ['"abc"', 'abc', 'W/"abc"', '"x", "abc"', '*'])
    assert.equal(evaluate({ ifMatch }, version), 'met');
  assert.equal(evaluate({ ifMatch: '"x"' }, version), 'failed');
  assert.equal(evaluate({ ifNoneMatch: '"abc"' }, version), 'not-modified');
  assert.equal(evaluate({ ifNoneMatch: '"x"' }, version), 'met');
});

test('dates are compared in whole seconds', () => {
  assert.equal(evaluate({ ifModifiedSince: exact }, version), 'not-modified');
  assert.equal(evaluate({ ifModifiedSince: before }, version), 'met');
  assert.equal(evaluate({ ifUnmodifiedSince: exact }, version), 'met');
  assert.equal(evaluate({ ifUnmodifiedSince: before }, version), 'failed');
  assert.equal(evaluate({ ifUnmodifiedSince: 'not a date', ifModifiedSince: 'nor this' }, version), 'met');
});

test('a demand on the ETag outweighs the date that goes with it', () => {
  assert.equal(evaluate({ ifMatch: '"abc"', ifUnmodifiedSince: before }, version), 'met');
  assert.equal(evaluate({ ifNoneMatch: '"x"', ifModifiedSince: after }, version), 'met');
  assert.equal(evaluate({ ifNoneMatch: '"abc"', ifModifiedSince: before }, version), 'not-modified');
});
