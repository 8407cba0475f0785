import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fillDisk, smallFileSystem } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { attach, Disk, makePool, orderArray, randomBuffer, signInTo } from './block-array.ts';
import { startGranary } from './granary.ts';

/**
 * Goal: a disk that is full to its last block can be emptied through the product.
 * Method: a whole installation on a small file system; a file that takes all the room; then people sign in at the portal
 * and at the arrays, and delete. In the middle of it everything is killed.
 */
const DISK_MB = 768;
const MEGABYTE = 2 ** 20;
const WAIT_MS = 120_000;

test('on a full disk one signs in and deletes, the room comes back, and nothing else is lost', async (t) => {
  const folder = smallFileSystem(t, DISK_MB);
  if (folder === undefined) {
    t.skip('only root may mount a small file system');
    return;
  }
  let granary = await startGranary(join(folder, 'data'));
  t.after(() => granary.kill());
  const admin = await granary.admin();
  const { client: tank } = await orderArray(admin, 'tank', { SSD_10GB: 2 });
  const { id: doomed } = await orderArray(admin, 'doomed', { SSD_10GB: 2 });
  const { pool } = await makePool(tank, 'main');
  const { vol_name: kept } = await tank.volumes.create({ name: 'kept', capacity: 256, pool });
  const { vol_name: gone } = await tank.volumes.create({ name: 'gone', capacity: 256, pool });
  const { disk: before } = await attach(tank, kept);
  const data = randomBuffer(8);
  await before.write(0, data);
  const { initiator } = await before.place();
  const other = await attach(tank, gone);
  await other.disk.write(0, randomBuffer(16));
  await until(async () => Promise.resolve(reserves(folder) >= 6), 'every database and engine has its reserve', WAIT_MS);

  fillDisk(join(folder, 'filler'));
  await assert.rejects(tank.volumes.create({ name: 'refused', capacity: 16, pool }));
  const full = await signInTo(await granary.admin(), 'tank');
  await full.client.volumes.detach({ id: gone, servers: [other.server] });
  const cutOff = full.client.volumes.delete({ id: gone }).catch(() => undefined);
  await granary.kill();
  await cutOff;

  // All of it starts again on the full disk, and the deletion is done or can be.
  granary = await startGranary(join(folder, 'data'));
  await until(
    async () => (await granary.cloud().hostedArrays.list()).data.every(({ state }) => state === 'running'),
    'the arrays run',
    WAIT_MS,
  );
  const again = await signInTo(await granary.admin(), 'tank');
  const { volumes: left } = await again.client.volumes.list();
  if (left.some(({ name }) => name === gone)) await again.client.volumes.delete({ id: gone });
  await until(
    async () => {
      const { volumes } = await again.client.volumes.list();
      return !volumes.some(({ name }) => name === gone);
    },
    'the volume is gone',
    WAIT_MS,
  );
  const disk = new Disk(again.client, initiator, kept);
  assert.deepEqual(await disk.read(0, data.length), data);
  const portal = await granary.admin();
  await portal.arrays.delete({ array_id: doomed });
  await until(
    async () => (await portal.arrays.get({ array_id: doomed })).data.status === 'deleted',
    'the array is deleted',
    WAIT_MS,
  );
  await portal.arrays.purge({ array_id: doomed });
  const folders = () => readdirSync(join(folder, 'data', 'cloud', 'arrays')).length;
  await until(() => Promise.resolve(folders() === 1), 'its files are removed', WAIT_MS);
  rmSync(join(folder, 'filler'));
  await until(
    async () => {
      return again.client.volumes.create({ name: 'after', capacity: 16, pool }).then(
        () => true,
        () => false,
      );
    },
    'there is room again',
    WAIT_MS,
  );
  assert.deepEqual(await disk.read(0, data.length), data);
});

function reserves(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('-reserve'));
  return files.filter((name) => statSync(join(folder, name)).size === 8 * MEGABYTE).length;
}
