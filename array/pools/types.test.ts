import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tuningOf } from './types.ts';

test('the type of a pool decides how it spreads and caches, unless that is sent', () => {
  const nothing = {};
  assert.deepEqual(tuningOf('Repository Storage', nothing), { mode: 'simple', cache: false, cowCache: true });
  assert.deepEqual(tuningOf('Transactional Workloads', nothing), { mode: 'stripe', cache: true, cowCache: true });
  assert.deepEqual(tuningOf('Archival Storage', nothing), { mode: 'simple', cache: false, cowCache: false });
  assert.deepEqual(tuningOf('Balanced', nothing), { mode: 'stripe', cache: false, cowCache: true });
  const sent = { mode: 'simple', cache: false, cowCache: false } as const;
  assert.deepEqual(tuningOf('IOPs-Optimized', sent), sent);
});
