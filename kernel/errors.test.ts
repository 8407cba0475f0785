import assert from 'node:assert/strict';
import { test } from 'node:test';
import { badParameters, fail, GranaryError, retryLater } from './errors.ts';

test('an error tells the facts of its case in the words of the catalogue', () => {
  const error = fail('pool_not_empty', { id: 'pool-00000001', count: 3 });
  assert.ok(error instanceof GranaryError);
  assert.equal(
    error.message,
    'Pool pool-00000001 still has 3 volumes, those in the recycle bin included; delete or migrate them first.',
  );
});

test('what there is one of is named in the singular', () => {
  const { message } = fail('pool_not_empty', { id: 'pool-00000001', count: 1 });
  assert.match(message, /^Pool pool-00000001 still has 1 volume, /);
  assert.match(fail('quota_project_in_use', { project: 'logs', count: 1 }).message, /has 1 directory;/);
  assert.match(retryLater('too_many_attempts', 1).message, /in 1 second\.$/);
});

test('a fact is shown as it is, whatever it holds', () => {
  assert.equal(fail('volume_not_found', { id: '$& {id} $1' }).message, 'Volume $& {id} $1 was not found.');
});

test('an error of a family is declared by the name of the family', () => {
  const error = fail('account_being_deleted', { name: 'web' });
  assert.equal(error.message, 'Account web is being deleted.');
  assert.equal(error.entry, 'objs_state_conflict');
});

test('bad input names every parameter that is bad', () => {
  const error = badParameters([
    { field: 'name', message: 'is required' },
    { field: 'capacity', message: 'must be a capacity' },
  ]);
  assert.equal(error.message, 'name is required; capacity must be a capacity.');
  assert.equal(error.problems.length, 2);
});

test('a fact that a message has a place for is asked for by type, and no other', () => {
  // @ts-expect-error `count` is missing
  fail('pool_not_empty', { id: 'pool-00000001' });
  // @ts-expect-error the facts are missing
  fail('volume_not_found');
  // @ts-expect-error the message has no place for a name
  fail('volume_not_found', { id: 'volume-00000001', name: 'data' });
  // @ts-expect-error the message has no places
  fail('nothing_to_delete', { id: 'volume-00000001' });
  assert.equal(fail('nothing_to_delete').message, 'There is nothing to delete.');
});

test('an error of the moment says when to come again', () => {
  const error = retryLater('too_many_requests', 9);
  assert.equal(error.message, 'This was asked for too often; try again in 9 seconds.');
  assert.deepEqual(error.headers, { 'retry-after': '9' });
});
