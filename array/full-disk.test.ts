import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from './testing/test-array.ts';

const { pools } = arrayApi.groups;

test('an array starts on a disk whose reserve is used up, and takes deletions', async (t) => {
  const array = await testArray(t, { drives: 2 });
  const pool = await array.pool();
  await array.stop();
  writeFileSync(join(array.configuration.folder, 'array.db-reserve'), '');
  await array.restart();
  await array.client.call(pools.delete, { id: pool });
  assert.equal((await array.client.call(pools.list, {})).count, 0);
});
