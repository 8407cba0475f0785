import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
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

test('a drive an array gives back is free again, its file is gone, and the array is told', async (t) => {
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
