import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { until } from '../../testing/waiting.ts';
import { startFakeCloud } from '../testing/fake-cloud.ts';
import { refused, startTestPortal } from '../testing/portal.ts';

/** Goal: what is locked down takes no changes from anyone until it is released, and stays so whatever happens to it. */
const LOCKED = /is locked down: it serves its data, and nothing of it is changed until an administrator/;

test('an array that is locked down takes no changes, through hibernation and a restart of the portal', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'granary-portal-'));
  t.after(() => rmSync(dataDir, { recursive: true }));
  const cloud = await startFakeCloud();
  t.after(() => cloud.stop());
  const first = await startTestPortal({ cloud, dataDir });
  const { id, name } = await first.array(first.friend);
  const { admin } = first;
  const { arrays } = first.friend.client;
  const shown = async () => (await arrays.get({ array_id: id })).data;
  assert.equal((await shown()).locked_down, false);
  await refused(arrays.lockDown({ array_id: id }), 403, /role/);
  assert.match((await admin.client.arrays.lockDown({ array_id: id })).message, /locking it down is done/);
  assert.equal((await shown()).locked_down, true);
  assert.equal(cloud.specOf(name).locked_down, true);
  const calls = [
    () => arrays.setCache({ array_id: id, flash_cache_capacity: 200 }),
    () => arrays.addDrives({ array_id: id, drives: { SSD_10GB: 1 } }),
    () => arrays.addPublicIp({ array_id: id }),
    () => arrays.hibernate({ array_id: id }),
    () => arrays.delete({ array_id: id }),
    () => admin.client.arrays.delete({ array_id: id }),
  ];
  for (const call of calls) await refused(call(), 409, LOCKED);
  await admin.client.arrays.hibernate({ array_id: id });
  await until(async () => (await shown()).status === 'hibernated');
  await refused(arrays.restore({ array_id: id }), 409, LOCKED);
  await first.stop();
  const second = await startTestPortal({ cloud, dataDir });
  t.after(() => second.stop());
  const again = second.admin.client.arrays;
  assert.equal((await again.get({ array_id: id })).data.locked_down, true);
  await again.restore({ array_id: id });
  await until(async () => (await again.get({ array_id: id })).data.status === 'created');
  assert.equal(cloud.specOf(name).locked_down, true);
  await again.release({ array_id: id });
  assert.equal((await again.get({ array_id: id })).data.locked_down, false);
  assert.equal(cloud.specOf(name).locked_down, false);
  await again.addPublicIp({ array_id: id });
  const titles = (await second.admin.client.events.list()).data.map((event) => event.msg_title);
  assert.ok(titles.includes(`Array ${name} was locked down: it takes no changes.`));
  assert.ok(titles.includes(`Array ${name} was released: it takes changes again.`));
});

test('file lifecycle is off unless it was ordered, and its owner switches it on later', async (t) => {
  const portal = await startTestPortal();
  t.after(() => portal.stop());
  const { client } = portal.friend;
  const { id, name } = await portal.array(portal.friend);
  const enabled = async () => (await client.arrays.get({ array_id: id })).data.flc_enabled;
  assert.equal(await enabled(), false);
  assert.equal(portal.cloud.specOf(name).file_lifecycle, false);
  assert.match(
    (await client.arrays.enableFileLifecycle({ array_id: id })).message,
    /switching file lifecycle on is done/,
  );
  assert.equal(await enabled(), true);
  assert.equal(portal.cloud.specOf(name).file_lifecycle, true);
  const bucket = await portal.objectArray(portal.friend);
  await refused(client.arrays.enableFileLifecycle({ array_id: bucket.id }), 409, /not a block and file array/);
});
