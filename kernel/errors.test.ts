import assert from 'node:assert/strict';
import { test } from 'node:test';
import { badParameters, fail, GranaryError } from './errors.ts';

test('an error tells the facts of its case in the words of the catalogue', () => {
  const error = fail('pool_not_empty', { id: 'pool-00000001', count: 3 });
  assert.ok(error instanceof GranaryError);
  assert.equal(
    error.message,
    'Pool pool-00000001 still has 3 volumes, those in the recycle bin included; delete or migrate them first.',
  );
});

test('a fact is told as it is, whatever it holds', () => {
  assert.equal(fail('volume_not_found', { id: '$& {id} $1' }).message, 'Volume $& {id} $1 was not found.');
});

test('bad input names every parameter that is bad', () => {
  const error = badParameters([
    { field: 'name', message: 'is required' },
    { field: 'capacity', message: 'must be a capacity' },
  ]);
  assert.equal(error.message, 'name is required; capacity must be a capacity.');
  assert.equal(error.problems.length, 2);
});
