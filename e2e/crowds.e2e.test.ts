import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { arrayClient, type ArrayClient } from '@granary/client';
import { temporaryFolder } from '../testing/folders.ts';
import { crowd } from '../kernel/edge/testing/crowd.ts';
import { S3Client } from '../protocols/s3/testing/client.ts';
import { attach, makePool, orderArray } from './block-array.ts';
import { pause, startGranary, type Granary } from './granary.ts';
import { openAccount, orderObjects } from './object-account.ts';

/**
 * Goal: connections that send nothing take no array down and lock no client out, at any port of an installation. Method:
 * many more of them than a port has places, from a few addresses or a single one, while clients of another address work. The number
 * of places follows from the files a process may open, so few are allowed where few connections are made.
 */
const isTorture = process.env['GRANARY_TORTURE'] === '1';
const OPEN_FILES_MAX = isTorture ? undefined : 2048;
const COUNTS = isTorture
  ? { management: 4_300, s3: 8_192, iscsi: 1_024, services: 4_300 }
  : { management: 1_000, s3: 1_000, iscsi: 1_000, services: 1_000 };
const ADDRESSES = ['127.0.66.1', '127.0.66.2', '127.0.66.3', '127.0.66.4'];
const DATA_PORT = 8080;
const ISCSI_PORT = 3260;
/** The health of a process is looked at every five seconds. */
const WATCHED_MS = isTorture ? 60_000 : 6_000;

async function flood(t: TestContext, host: string, port: number, count: number): Promise<void> {
  const place = { host, port };
  const each = Math.ceil(count / ADDRESSES.length);
  await Promise.all(ADDRESSES.map((from) => crowd(t, place, { from, count: each })));
  // One host by itself locks no other client out either.
  await crowd(t, place, { from: '127.0.67.1', count: each });
}

async function processes(granary: Granary) {
  const { data } = await granary.cloud().hostedArrays.list();
  return data.map(({ internal_name, state, pid, restarts }) => ({ internal_name, state, pid, restarts }));
}

async function setUp(t: TestContext) {
  const granary = await startGranary(join(temporaryFolder(t), 'data'), { openFilesMax: OPEN_FILES_MAX });
  t.after(() => granary.kill());
  const admin = await granary.admin();
  const [tank, store] = await Promise.all([
    orderArray(admin, 'tank', { SSD_10GB: 2 }),
    orderObjects(admin, 'store', 2),
  ]);
  const account = await openAccount(store, 'acme', 'carol');
  return { granary, admin, tank, store, account };
}

async function diskOf(array: ArrayClient) {
  const { pool } = await makePool(array, 'main');
  const { vol_name: volume } = await array.volumes.create({ name: 'disk', capacity: 64, pool });
  return (await attach(array, volume)).disk;
}

test('idle connections at every port take no array down and keep no client out', { timeout: 600_000 }, async (t) => {
  const { granary, admin, tank, store, account } = await setUp(t);
  const disk = await diskOf(tank.client);
  const { session, unit } = await disk.session();
  const keys = { access: account.accessKey, secret: account.secretKey };
  const newClient = () => {
    const s3 = new S3Client(account.endpoint, keys);
    t.after(() => s3.close());
    return s3;
  };
  const s3 = newClient();
  assert.equal((await s3.call('PUT', '/books')).status, 200);
  const before = await processes(granary);
  const management = [tank.url, store.url].map((url) => new URL(url));

  const flooded = performance.now();
  for (const { hostname, port } of management) await flood(t, hostname, Number(port), COUNTS.management);
  await flood(t, new URL(account.endpoint).hostname, DATA_PORT, COUNTS.s3);
  await flood(t, management[0]?.hostname ?? '', ISCSI_PORT, COUNTS.iscsi);
  for (const url of [granary.url, granary.cloudUrl])
    await flood(t, new URL(url).hostname, Number(new URL(url).port), COUNTS.services);
  t.diagnostic(`all connections were made in ${Math.round(performance.now() - flooded)} ms`);

  const block = Buffer.alloc(4096, 'a');
  do {
    const { user } = await arrayClient({ url: tank.url }).users.login({ user: 'admin', password: tank.passcode });
    assert.equal((await arrayClient({ url: tank.url, accessKey: user.access_key }).volumes.list()).count, 1);
    assert.equal((await tank.client.volumes.list()).count, 1);
    assert.equal((await store.client.accounts.list({ filter_value: 'acme' })).count, 1);
    for (const one of [s3, newClient()]) {
      assert.equal((await one.call('PUT', '/books/a', { body: 'some words' })).status, 200);
      assert.equal((await one.call('GET', '/books/a')).text, 'some words');
    }
    await unit.write(0, block);
    await disk.write(8192, block);
    assert.deepEqual(Buffer.from(await unit.read(16, 8)), block);
    assert.equal((await admin.arrays.list({ name: 'tank' })).data[0]?.status, 'created');
    assert.deepEqual(await processes(granary), before);
    await pause(500);
  } while (performance.now() - flooded < WATCHED_MS);
  await session.close();
});
