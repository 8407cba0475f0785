import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../testing/folders.ts';
import { testNetwork } from '../kernel/process/testing/addresses.ts';
import { newUuid, testConfig, testSpec } from './testing/specs.ts';
import { hostedArrays, inventory, startTestCloud, testData, writeConfig } from './testing/test-cloud.ts';

const basic = (user: string, key: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${key}`).toString('base64')}`,
});

test('the inventory tells what there is and what of it is free', async (t) => {
  const { client } = await startTestCloud(t, testData(t));
  const { data } = await client.call(inventory.get, {});
  assert.deepEqual(
    data.drive_types.map(({ key, total, free, free_by_zone }) => [key, total, free, free_by_zone]),
    [
      ['SSD_10GB', 24, 24, { zone_0: 8, zone_1: 8, zone_2: 8 }],
      ['SSD_100GB', 0, 0, { zone_0: 0, zone_1: 0, zone_2: 0 }],
      ['HDD_1000GB', 24, 24, { zone_0: 8, zone_1: 8, zone_2: 8 }],
    ],
  );
  await client.call(hostedArrays.put, { uuid: newUuid(), spec: testSpec({ zone: 'zone_1' }), desired: 'stopped' });
  const after = await client.call(inventory.get, {});
  assert.equal(after.data.drive_types[0]?.free, 22);
  assert.equal(after.data.drive_types[0].free_by_zone['zone_1'], 6);
  assert.equal(after.data.uuid, data.uuid);
});

test('only the administrator gets in, and the key is made once and kept for its owner alone', async (t) => {
  const dataDir = testData(t);
  const cloud = await startTestCloud(t, dataDir);
  const file = join(dataDir, 'cloud', 'admin.key');
  assert.equal(readFileSync(file, 'utf8').trim(), cloud.adminKey);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  for (const headers of [
    { authorization: '' },
    basic('operator', 'wrong'),
    basic('root', cloud.adminKey),
    basic('operator', ''),
  ])
    assert.equal((await cloud.client.with(headers).refused(inventory.get, {})).http, 401);
  for (let n = 0; n < 4; n += 1) await cloud.client.with(basic('operator', `guess ${n}`)).refused(inventory.get, {});
  await cloud.client.call(inventory.get, {});
  await cloud.stop();
  const again = await startTestCloud(t, dataDir);
  assert.equal(again.adminKey, cloud.adminKey);
});

test('an array is placed, started, grown while it runs, stopped, and removed; its drives come back', async (t) => {
  const dataDir = testData(t);
  const { client, reaches, isGone } = await startTestCloud(t, dataDir);
  const uuid = newUuid();
  const placed = await client.call(hostedArrays.put, { uuid, spec: testSpec() });
  assert.equal(placed.data.desired, 'running');
  assert.equal(placed.data.internal_name, 'vsa-00000001');
  assert.equal(new Set(placed.data.drives.map(({ node }) => node)).size, 2);
  const running = await reaches(uuid, 'running');
  assert.equal(await (await fetch(`${running.management_url}/drives`)).text(), '2');

  const grown = await client.call(hostedArrays.put, {
    uuid,
    spec: testSpec({ drives: { SSD_10GB: 3, HDD_1000GB: 1 } }),
  });
  assert.equal(grown.data.state, 'running');
  assert.equal(grown.data.drives.length, 4);
  assert.equal(grown.data.pid, running.pid);
  assert.equal(await (await fetch(`${running.management_url}/drives`)).text(), '4');
  assert.deepEqual((await client.call(inventory.check, {})).data, []);

  await client.call(hostedArrays.put, {
    uuid,
    spec: testSpec({ drives: { SSD_10GB: 3, HDD_1000GB: 1 } }),
    desired: 'stopped',
  });
  const stopped = await reaches(uuid, 'stopped');
  assert.equal(stopped.pid, null);
  assert.equal(stopped.ip_address, running.ip_address);
  assert.ok(existsSync(join(dataDir, 'cloud', 'arrays', 'vsa-00000001', 'data')), 'its data is kept');
  assert.deepEqual((await client.call(inventory.check, {})).data, []);

  const removing = await client.call(hostedArrays.delete, { uuid });
  assert.equal(removing.data?.state, 'removing');
  await isGone(uuid);
  assert.equal((await client.refused(hostedArrays.get, { uuid })).http, 404);
  assert.deepEqual((await client.call(hostedArrays.delete, { uuid })).data, undefined);
  assert.deepEqual((await client.call(hostedArrays.list, {})).data, []);
  assert.deepEqual((await client.call(inventory.check, {})).data, []);
  assert.deepEqual(readdirSync(join(dataDir, 'cloud', 'arrays')), []);
  assert.ok((await client.call(inventory.get, {})).data.drive_types.every(({ free, total }) => free === total));
});

test('an array that is being removed takes no more changes', async (t) => {
  const { client, reaches, isGone } = await startTestCloud(t, testData(t));
  const uuid = newUuid();
  await client.call(hostedArrays.put, { uuid, spec: testSpec() });
  await reaches(uuid, 'running');
  const [, refused] = await Promise.all([
    client.call(hostedArrays.delete, { uuid }),
    new Promise((resolve) => setTimeout(resolve, 5)).then(() => client.call(hostedArrays.delete, { uuid })),
  ]);
  if (refused.data) assert.equal((await client.refused(hostedArrays.put, { uuid, spec: testSpec() })).http, 409);
  await isGone(uuid);
});

test('many orders at once share the stock: some are filled, the others refused, none by half', async (t) => {
  const { client } = await startTestCloud(t, testData(t));
  const spec = testSpec({ drives: { SSD_10GB: 5 } });
  const results = await Promise.allSettled(
    Array.from({ length: 8 }, () => client.call(hostedArrays.put, { uuid: newUuid(), spec, desired: 'stopped' })),
  );
  assert.equal(
    results.filter(({ status }) => status === 'fulfilled').length,
    3,
    '8 in each of three zones, 5 an order',
  );
  const { data } = await client.call(hostedArrays.list, {});
  assert.deepEqual(
    data.map(({ drives }) => drives.length),
    [5, 5, 5],
  );
  assert.equal(new Set(data.map(({ ip_address }) => ip_address)).size, 3);
  assert.deepEqual((await client.call(inventory.check, {})).data, []);
});

test('a failed array shows why, and runs again when it is asked to', async (t) => {
  const dataDir = testData(t);
  const { client, reaches } = await startTestCloud(t, dataDir);
  const uuid = newUuid();
  await client.call(hostedArrays.put, { uuid, spec: testSpec(), desired: 'stopped' });
  const mood = join(dataDir, 'cloud', 'arrays', 'vsa-00000001', 'mood');
  writeFileSync(mood, 'fail');
  await client.call(hostedArrays.put, { uuid, spec: testSpec(), desired: 'running' });
  const failed = await reaches(uuid, 'failed');
  assert.match(failed.reason ?? '', /did not start 3 times in a row, last: The cellar is flooded\. Restore/);
  writeFileSync(mood, 'serve');
  const unasked = await client.call(hostedArrays.put, { uuid, spec: testSpec({ name: 'Renamed' }) });
  assert.equal(unasked.data.state, 'failed', 'a change alone does not start it');
  await client.call(hostedArrays.put, { uuid, spec: testSpec(), desired: 'running' });
  assert.equal((await reaches(uuid, 'running')).reason, null);
});

test('a config that forgets drives in use stops the start; one that adds and drops free ones is followed', async (t) => {
  const dataDir = testData(t);
  const network = testNetwork();
  const cloud = await startTestCloud(t, dataDir);
  const spec = testSpec({ drives: { SSD_10GB: 6 }, zone: 'zone_0' });
  await cloud.client.call(hostedArrays.put, { uuid: newUuid(), spec, desired: 'stopped' });
  await cloud.stop();
  writeConfig(dataDir, testConfig(2, network));
  await assert.rejects(
    startTestCloud(t, dataDir),
    /3 drives of type SSD_10GB .* of node node-1 in zone zone_0 are in use/,
  );
  writeConfig(dataDir, testConfig(3, network));
  const smaller = await startTestCloud(t, dataDir);
  const { data } = await smaller.client.call(inventory.get, {});
  assert.deepEqual(
    data.drive_types.map(({ total, free }) => [total, free]),
    [
      [18, 12],
      [0, 0],
      [18, 18],
    ],
  );
  assert.deepEqual((await smaller.client.call(inventory.check, {})).data, []);
});

test('a range that overlaps the public one, or that this machine does not carry, stops the start', async (t) => {
  const dataDir = temporaryFolder(t);
  const network = testNetwork();
  writeConfig(dataDir, testConfig(1, network));
  await assert.rejects(
    startTestCloud(t, dataDir, { addresses: `${network}.0/24` }),
    /--addresses cannot be used:\s+network\.public: .* overlaps --addresses/,
  );
  await assert.rejects(
    startTestCloud(t, dataDir, { addresses: '203.0.113.0/24' }),
    /--addresses cannot be used:\s+203\.0\.113\.0\/24: this machine carries no address of it/,
  );
});

test('an array whose files are lost to a broken disk is failed with the reason while the others run', async (t) => {
  const dataDir = testData(t);
  const first = await startTestCloud(t, dataDir);
  const [broken, sound] = [newUuid(), newUuid()];
  for (const uuid of [broken, sound]) {
    await first.client.call(hostedArrays.put, { uuid, spec: testSpec(), desired: 'running' });
    await first.reaches(uuid, 'running');
  }
  const { data } = await first.client.call(hostedArrays.get, { uuid: broken });
  await first.stop();
  const folder = join(dataDir, 'cloud', 'arrays', data.internal_name);
  rmSync(folder, { recursive: true });
  writeFileSync(folder, 'not a folder');
  const second = await startTestCloud(t, dataDir);
  await second.reaches(sound, 'running');
  assert.match((await second.reaches(broken, 'failed')).reason ?? '', /could not be made.*Restore it/);
  rmSync(folder);
  await second.client.call(hostedArrays.put, { uuid: broken, spec: testSpec(), desired: 'running' });
  await second.reaches(broken, 'running');
});
