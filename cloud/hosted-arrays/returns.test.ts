import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ArraySpec } from '@granary/contract/cloud';
import { newUuid, testSpec } from '../testing/specs.ts';
import { hostedArrays, inventory, startTestCloud, testData } from '../testing/test-cloud.ts';

async function arrayOfThree(t: Parameters<typeof testData>[0]) {
  const dataDir = testData(t);
  const cloud = await startTestCloud(t, dataDir);
  const uuid = newUuid();
  const spec = testSpec({ drives: { SSD_10GB: 3 } });
  await cloud.client.call(hostedArrays.put, { uuid, spec });
  const running = await cloud.reaches(uuid, 'running');
  const give = async (drive: string) => (await fetch(`${running.management_url}/return/${drive}`)).text();
  const shown = async () => (await cloud.client.call(hostedArrays.get, { uuid })).data;
  return { dataDir, ...cloud, uuid, spec, running, give, shown };
}

test('a drive an array gives back is free again, its file is gone, and the array is notified', async (t) => {
  const { dataDir, client, running, give, shown } = await arrayOfThree(t);
  const [first] = running.drives;
  assert.ok(first);
  assert.equal(await give(first.uuid), 'taken');
  const after = await shown();
  assert.deepEqual([after.drives.length, after.drives_returned], [2, { SSD_10GB: 1 }]);
  assert.equal(await (await fetch(`${running.management_url}/drives`)).text(), '2');
  assert.equal(existsSync(join(dataDir, 'cloud', 'nodes', first.node, `${first.uuid}.drive`)), false);
  assert.equal((await client.call(inventory.get, {})).data.drive_types[0]?.free, 22);
  assert.deepEqual((await client.call(inventory.check, {})).data, []);
});

test('a wish that was on its way does not bring the drive back; one that knows of it may add another', async (t) => {
  const { client, uuid, spec, running, give, shown } = await arrayOfThree(t);
  await give(running.drives[0]?.uuid ?? '');
  await client.call(hostedArrays.put, { uuid, spec });
  assert.equal((await shown()).drives.length, 2);
  const heard = { ...spec, drives_returned: { SSD_10GB: 1 } };
  await client.call(hostedArrays.put, { uuid, spec: heard });
  assert.equal((await shown()).drives.length, 3);
});

test('an array keeps as many drives as an order needs, and gives nothing that is not its own', async (t) => {
  const { client, running, give, shown } = await arrayOfThree(t);
  const [first, second] = running.drives.map((drive) => drive.uuid);
  await give(first ?? '');
  assert.match(await give(second ?? ''), /An array keeps at least 2 drives/);
  assert.match(await give(newUuid()), /There is no drive/);
  assert.equal((await shown()).drives.length, 2);
  assert.deepEqual((await client.call(inventory.check, {})).data, []);
});

async function objectStorage(t: Parameters<typeof testData>[0], changes: Partial<ArraySpec> = {}) {
  const dataDir = testData(t);
  const cloud = await startTestCloud(t, dataDir);
  const uuid = newUuid();
  const policies = [
    { name: 'two', type_id: 1, drives: { SSD_10GB: 4 } },
    { name: 'more', type_id: 1, drives: { SSD_10GB: 3 } },
  ];
  const spec = testSpec({ product: 'object_storage', engine: null, drives: { SSD_10GB: 7 }, policies, ...changes });
  await cloud.client.call(hostedArrays.put, { uuid, spec });
  const running = await cloud.reaches(uuid, 'running');
  const ask = async (path: string) => (await fetch(`${running.management_url}${path}`)).text();
  const put = async (wish: ArraySpec) => (await cloud.client.call(hostedArrays.put, { uuid, spec: wish })).data;
  const shown = async () => (await cloud.client.call(hostedArrays.get, { uuid })).data;
  return { dataDir, ...cloud, uuid, spec, running, ask, put, shown };
}

const countOf = (drives: readonly { policy: string | null }[], name: string) =>
  drives.filter(({ policy }) => policy === name).length;

test('a drive of object storage is given back for its policy, with its folder, and is not given again', async (t) => {
  const { dataDir, client, spec, running, ask, put, shown } = await objectStorage(t);
  const leaving = running.drives.find(({ policy }) => policy === 'more');
  assert.ok(leaving);
  const folder = join(dataDir, 'cloud', 'nodes', leaving.node, `${leaving.uuid}.drive`);
  assert.ok(statSync(folder).isDirectory());
  assert.equal(await ask(`/return/${leaving.uuid}`), 'taken');
  assert.equal(existsSync(folder), false);
  const after = await shown();
  assert.deepEqual([countOf(after.drives, 'two'), countOf(after.drives, 'more')], [4, 2]);
  assert.deepEqual(after.policy_drives_returned, { more: { SSD_10GB: 1 } });
  const unheard = await put(spec);
  assert.deepEqual([countOf(unheard.drives, 'two'), countOf(unheard.drives, 'more')], [4, 2]);
  const { drives_returned, policy_drives_returned } = after;
  const heard = await put({ ...spec, drives_returned, policy_drives_returned });
  assert.deepEqual([countOf(heard.drives, 'two'), countOf(heard.drives, 'more')], [4, 3]);
  assert.deepEqual((await client.call(inventory.check, {})).data, []);
});

test('proxy controllers that were given back stay away, and only what is new is added', async (t) => {
  const { spec, ask, put, shown } = await objectStorage(t, { proxy_zones: ['zone_1', 'zone_2'] });
  assert.equal(await ask('/proxies/1'), 'taken');
  assert.equal(await ask('/proxies/1'), 'taken', 'to ask again changes nothing');
  const after = await shown();
  assert.deepEqual([after.proxy_zones, after.proxies_returned], [['zone_1'], 1]);
  assert.deepEqual((await put(spec)).proxy_zones, ['zone_1']);
  const unheard = { ...spec, proxy_zones: ['zone_1', 'zone_2', 'zone_0'] };
  assert.deepEqual((await put(unheard)).proxy_zones, ['zone_1', 'zone_0']);
  assert.deepEqual((await put(unheard)).proxy_zones, ['zone_1', 'zone_0']);
  const heard = { ...spec, proxies_returned: 1, proxy_zones: ['zone_1', 'zone_0', 'zone_2'] };
  assert.deepEqual((await put(heard)).proxy_zones, ['zone_1', 'zone_0', 'zone_2']);
});

test('object storage has a storage controller for each of the first two nodes of its drives', async (t) => {
  const { running } = await objectStorage(t);
  assert.equal(running.storage_controllers, Math.min(2, availableParallelism()));
  const { running: block } = await arrayOfThree(t);
  assert.equal(block.storage_controllers, 0);
});
