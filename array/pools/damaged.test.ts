import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { arrayApi } from '@granary/contract/array';
import { testArray } from '../testing/test-array.ts';

const { pools, volumes } = arrayApi.groups;

test('an array with a pool whose books are damaged starts, and forgets none of what is in it', async (t) => {
  const array = await testArray(t);
  const { client, configuration } = array;
  const damaged = await array.pool();
  const sound = await array.pool();
  const volume = await array.volume(damaged, { readiopscapping: 100 });
  await array.volume(damaged, { readiopscapping: 100 });
  await array.stop();
  const file = join(configuration.folder, 'pools', `${damaged}.db`);
  copyFileSync(file, `${file}.good`);
  writeFileSync(file, 'no books at all');
  await array.restart();
  const statusOf = async () => (await client.call(pools.list, {})).pools.map(({ name, status }) => [name, status]);
  const count = async () => (await client.call(volumes.list, {})).count;
  assert.deepEqual(await statusOf(), [
    [damaged, 'failed'],
    [sound, 'normal'],
  ]);
  await array.volume(sound);
  await client.refused(volumes.delete, { id: volume, timeout: -1 });
  assert.equal(await count(), 3, 'it is on record as long as its bytes may be there');
  assert.equal(
    (await client.call(volumes.get, { id: volume })).volume.status,
    'Available',
    'a refusal changes nothing',
  );
  await array.stop();
  copyFileSync(`${file}.good`, file);
  await array.restart();
  assert.deepEqual((await statusOf())[0], [damaged, 'normal']);
  assert.equal(await count(), 3);
  await client.call(volumes.delete, { id: volume, timeout: -1 });
  assert.equal(await count(), 2);
});
