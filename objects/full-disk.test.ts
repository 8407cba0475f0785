import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { objectsApi } from '@granary/contract/objects';
import { testObjects } from './testing/test-objects.ts';

const { accounts } = objectsApi.groups;

test('object storage starts on a disk whose reserve is used up', async (t) => {
  const objects = await testObjects(t);
  await objects.stop();
  writeFileSync(join(objects.configuration.folder, 'objects.db-reserve'), '');
  await objects.start();
  assert.equal((await objects.owner.client.call(accounts.list, {})).count, 1);
});
