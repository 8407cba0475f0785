import assert from 'node:assert/strict';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { hintOf, leftOutWords } from '../src/contract/hints.ts';

/** Goal: what forms say beside a label. */

test('a hint does not repeat the label', () => {
  assert.equal(hintOf('Operating system', 'Operating system'), '');
  assert.equal(hintOf('Its iSCSI initiator name', 'iSCSI initiator name'), '');
  assert.equal(hintOf('Move its snapshots too', 'Move its snapshots, too'), '');
  assert.equal(hintOf('Name shown to users', 'Name'), '');
  assert.equal(hintOf('Name of the account', 'Name'), '');
});

test('a hint says what the label does not', () => {
  assert.equal(hintOf('Size (such as 500G; a number alone is GiB)', 'Size'), 'Such as 500G; a number alone is GiB');
  assert.equal(
    hintOf('Size (such as `500G`, `2T` or `100M`; a number alone is GiB)', 'Size'),
    'Such as `500G`, `2T` or `100M`; a number alone is GiB',
  );
  assert.equal(hintOf('The two-way path (a, b)', 'Two way path'), 'A, b');
  assert.equal(hintOf('At least 8 characters', 'Password'), 'At least 8 characters');
  assert.equal(
    hintOf('Name of the request; a new array is given this one', 'Name'),
    'Name of the request; a new array is given this one',
  );
});

test('a choice that is left open says what holds then', () => {
  const { create, update } = arrayApi.groups.volumes;
  assert.equal(leftOutWords(create.params.compress.description), 'As the array has it');
  assert.equal(leftOutWords(arrayApi.groups.pools.create.params.cache.description), 'As the pool type has it');
  assert.equal(leftOutWords(update.params.mountsync.description), 'As it is');
  assert.equal(leftOutWords(update.params.compress.description), 'As it is');
});
