import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hintOf } from '../src/contract/hints.ts';

/** Goal: what forms say beside a label. */

test('a hint does not repeat the label', () => {
  assert.equal(hintOf('Operating system', 'Operating system'), '');
  assert.equal(hintOf('Its iSCSI initiator name', 'iSCSI initiator name'), '');
  assert.equal(hintOf('Move its snapshots too', 'Move its snapshots, too'), '');
  assert.equal(hintOf('Name shown to users', 'Name'), '');
  assert.equal(hintOf('Name of the account', 'Name'), '');
});

test('a hint says what the label does not', () => {
  assert.equal(hintOf('Size (such as 500G; a number alone is GB)', 'Size'), 'Such as 500G; a number alone is GB');
  assert.equal(hintOf('At least 8 characters', 'Password'), 'At least 8 characters');
  assert.equal(
    hintOf('Name of the request; a new array is given this one', 'Name'),
    'Name of the request; a new array is given this one',
  );
});
