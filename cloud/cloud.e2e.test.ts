import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { arrayApi } from '@granary/contract/array';
import { objectsApi } from '@granary/contract/objects';
import { LineProcess } from '../testing/line-process.ts';
import { until } from '../testing/waiting.ts';
import { CheckedClient } from '../kernel/process/testing/checked-client.ts';
import { newUuid, testSpec } from './testing/specs.ts';
import { clientOf, hostedArrays, inventory, startTestCloud, testData } from './testing/test-cloud.ts';

const programs = {
  storage_array: fileURLToPath(new URL('../array/main.ts', import.meta.url)),
  object_storage: fileURLToPath(new URL('../objects/main.ts', import.meta.url)),
};
/** Just started and signed in to; what an idle one takes is held lower, in the benchmark. */
const RSS_MB_MAX = 160;
/** For a process to come up or end on a machine with more to do than it has processors. */
const PROCESS_MS_MAX = 120_000;

const objectSpec = () =>
  testSpec({
    product: 'object_storage',
    engine: null,
    drives: { HDD_1000GB: 3 },
    policies: [{ name: 'default', type_id: 2, drives: { HDD_1000GB: 3 } }],
  });

function rssMb(pid: number | null): number | undefined {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return undefined;
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(file, 'utf8'))?.[1]) / 1024;
}

function isAlive(pid: number | null): boolean {
  try {
    return pid !== null && process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('ordered arrays come up small, are signed in to, hibernate with their data, and go without a trace', async (t) => {
  const cloud = await startTestCloud(t, testData(t), { programs });
  const { client, reaches, isGone } = cloud;
  const [block, objects] = [newUuid(), newUuid()];
  await client.call(hostedArrays.put, { uuid: block, spec: testSpec({ public_ip: true }) });
  await client.call(hostedArrays.put, { uuid: objects, spec: objectSpec() });
  const array = await reaches(block, 'running');
  const objectArray = await reaches(objects, 'running');

  const login = { user: 'dana', password: 'first passcode' };
  const signedIn = await new CheckedClient(arrayApi, array.management_url).call(arrayApi.groups.users.login, login);
  const key = { 'x-access-key': signedIn.user.access_key };
  const onPublic = new CheckedClient(arrayApi, `http://${array.public_ip}:7480`, key);
  const { disks } = await onPublic.call(arrayApi.groups.drives.list, {});
  assert.deepEqual(
    disks.map(({ disk_uuid }) => disk_uuid),
    array.drives.map(({ uuid }) => uuid),
  );
  const { user } = await new CheckedClient(objectsApi, objectArray.management_url).call(
    objectsApi.groups.users.authenticate,
    { account: 'objs_admin', ...login },
  );
  assert.equal(user.objs_data.objs_user.account_name, 'objs_admin');

  for (const { pid, internal_name } of [array, objectArray]) {
    const rss = rssMb(pid);
    t.diagnostic(`${internal_name} uses ${rss?.toFixed(0)} MB`);
    assert.ok(rss === undefined || rss < RSS_MB_MAX, `${internal_name} uses ${rss} MB`);
  }

  await client.call(hostedArrays.put, { uuid: block, spec: testSpec(), desired: 'stopped' });
  await reaches(block, 'stopped');
  assert.equal(isAlive(array.pid), false);
  const before = performance.now();
  await client.call(hostedArrays.put, { uuid: block, spec: testSpec(), desired: 'running' });
  const restored = await reaches(block, 'running');
  t.diagnostic(`restored in ${(performance.now() - before).toFixed(0)} ms`);
  assert.equal(restored.management_url, array.management_url);
  const again = await new CheckedClient(arrayApi, restored.management_url, key).call(arrayApi.groups.drives.list, {});
  assert.deepEqual(again.disks, disks, 'the key still opens it, and the drives have the names they had');

  await Promise.all([isGone(block), isGone(objects)]);
  assert.deepEqual((await client.call(inventory.check, {})).data, []);
});

test('after kill -9 the same arrays are up at the same addresses, and no process is left over', async (t) => {
  const dataDir = testData(t);
  const first = await runCloud(t, dataDir);
  const { client, reaches } = clientOf(first.cloud);
  const [block, objects, asleep, doomed] = [newUuid(), newUuid(), newUuid(), newUuid()];
  await client.call(hostedArrays.put, { uuid: block, spec: testSpec() });
  await client.call(hostedArrays.put, { uuid: objects, spec: objectSpec() });
  await client.call(hostedArrays.put, { uuid: asleep, spec: testSpec(), desired: 'stopped' });
  await client.call(hostedArrays.put, { uuid: doomed, spec: testSpec() });
  const before = [await reaches(block, 'running'), await reaches(objects, 'running')];
  const dying = await reaches(doomed, 'running');
  await client.call(hostedArrays.delete, { uuid: doomed });
  await first.process.kill();
  await until(() => [...before, dying].every(({ pid }) => !isAlive(pid)), undefined, PROCESS_MS_MAX);

  const second = await runCloud(t, dataDir);
  const after = clientOf(second.cloud);
  for (const old of before) {
    const {
      pid,
      restarts: _,
      outages: [outage],
      ...now
    } = await after.reaches(old.uuid, 'running');
    assert.notEqual(pid, old.pid);
    const { pid: _pid, restarts: __, outages, ...then } = old;
    assert.deepEqual(now, then);
    assert.deepEqual(outages, []);
    assert.equal(outage?.began_ms_ago, null, 'the time at which it went down is unknown');
    assert.notEqual(outage.ended_ms_ago, null);
  }
  assert.equal((await after.client.call(hostedArrays.get, { uuid: asleep })).data.state, 'stopped');
  assert.equal((await after.client.refused(hostedArrays.get, { uuid: doomed })).http, 404, 'the removal was finished');
  assert.deepEqual((await after.client.call(inventory.check, {})).data, []);
});

async function runCloud(t: TestContext, dataDir: string) {
  const script = new URL('./testing/run-cloud.ts', import.meta.url);
  const process = new LineProcess(script, dataDir, programs.storage_array, programs.object_storage);
  t.after(() => process.kill());
  await until(() => process.lines.length > 0, undefined, PROCESS_MS_MAX);
  return { process, cloud: JSON.parse(process.lines[0]!) as { url: string; adminUser: string; adminKey: string } };
}
