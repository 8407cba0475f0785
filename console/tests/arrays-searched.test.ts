import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ApiError } from '@granary/client/errors';
import { ARRAYS_SEARCHED_MAX, arraysAsked, arraysKnown } from '../src/app/arrays-searched.ts';

/** Goal: a search from the portal's pages says of which arrays it knows nothing, and asks few of them. */

const [vault, shop, attic] = ['vault', 'shop', 'attic'].map((name, index) => ({
  id: index + 1,
  name,
  product: index === 1 ? 'object_storage' : 'storage_array',
  status: 'created',
})) as [Listed, Listed, Listed];

interface Listed {
  readonly id: number;
  readonly name: string;
  readonly product: string;
  readonly status: string;
}

function answered(role: string | null) {
  return { data: { data: { role } }, isPending: false, error: null };
}

function refused(status: number) {
  return { isPending: false, error: new ApiError(status, 'no') };
}

const asking = { isPending: true, error: null };

test('arrays where the person has a user are searched', () => {
  const found = arraysKnown([vault, shop, attic], [answered('storage_admin'), answered('objs_admin'), answered(null)]);
  assert.deepEqual(found, {
    arrays: [
      { id: 1, name: 'vault', kind: 'array' },
      { id: 2, name: 'shop', kind: 'objects' },
    ],
    isSearching: false,
    hasFailed: false,
  });
});

test('while an array has not said who the person is, the search is under way', () => {
  assert.equal(arraysKnown([vault, shop], [answered('storage_admin'), asking]).isSearching, true);
});

test('an array that does not answer is distinguished from one where the person has no user', () => {
  assert.equal(arraysKnown([vault, shop], [answered('storage_admin'), refused(503)]).hasFailed, true);
  assert.equal(arraysKnown([vault, shop], [answered('storage_admin'), refused(404)]).hasFailed, false);
});

test('few arrays are asked, of those that serve; how many are left is known', () => {
  const many = Array.from({ length: ARRAYS_SEARCHED_MAX + 3 }, (_, id) => ({ ...vault, id }));
  const { asked, left } = arraysAsked([{ ...attic, status: 'failed' }, ...many]);
  assert.deepEqual([asked.length, asked[0]?.id, left], [ARRAYS_SEARCHED_MAX, 0, 3]);
});
