import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutCopies } from './capacity.ts';

test('of what drives hold, further copies and parity are no objects', () => {
  const fragments = { copies: 0, dataFragments: 4, parityFragments: 2 };
  assert.equal(withoutCopies({ copies: 2, dataFragments: 0, parityFragments: 0 }, 20), 10);
  assert.equal(withoutCopies(fragments, 60), 40);
  assert.equal(withoutCopies(fragments, 0), 0);
});
