import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { Store } from '@granary/kernel';
import { migrations } from '../migrations.ts';
import { startArray } from '../start.ts';
import { testArray } from '../testing/test-array.ts';
import { testDisk } from '../testing/test-disk.ts';
import { MB } from '../units.ts';

const { volumes, consistencyGroups, messages } = arrayApi.groups;

test('rows older than the engine lose no data: volumes without a row go if they are empty, and stay if they are not', async (t) => {
  const array = await testArray(t);
  const { client, configuration } = array;
  const pool = await array.pool({ name: 'gold' });
  const empty = await array.volume(pool);
  const full = await array.volume(pool);
  await (await testDisk(t, array, full)).write(1, randomBytes(MB));
  const { volume } = await client.call(volumes.get, { id: full });
  await client.call(consistencyGroups.clone, { volume_cg_id: volume.cg_name, name: 'copy' });
  const { volumes: found } = await client.call(volumes.list, {});
  const copy = found.find(({ display_name }) => display_name === 'copy')!.name;
  await array.stop();
  const store = new Store(join(configuration.folder, 'array.db'), migrations);
  await store.write((tx) => {
    tx.run('DELETE FROM attachments');
    tx.run('DELETE FROM volumes');
  });
  store.close();

  const again = await startArray(configuration);
  try {
    const { messages: reported } = await client.call(messages.list, {});
    const kept = reported.map(({ msg_title }) => msg_title).filter((title) => title.includes('is not on record'));
    assert.deepEqual(
      kept.toSorted(),
      [full, copy].map((id) => `Pool gold (${pool}) holds ${id}, which has data and is not on record; it is kept.`),
    );
    assert.ok(!kept.some((title) => title.includes(empty)));
    const { vol_name } = await client.call(volumes.create, { name: 'new', capacity: 1, pool });
    assert.ok(vol_name > copy, 'no name is used twice');
  } finally {
    await again.stop();
  }
});
