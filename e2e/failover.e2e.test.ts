import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { StillRunning, type ArrayClient } from '@granary/client';
import { Checker, type Lun } from '@granary/protocols/iscsi/testing';
import { ArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import { attach, makePool, randomBuffer, reaches, type Disk } from './block-array.ts';
import { temporaryFolder, until } from './granary.ts';

const MEGABYTE = 2 ** 20;
const VOLUME_MB = 64;
const MOVED_MB = 384;
const SCRUBBED_MB_PER_SECOND = 40;
const GAP_MS_MAX = 10_000;
const LOAD = { depth: 8, transferBytesMax: 64 * 1024, flushPercent: 5 };

test('a controller hands over under verified load: servers go on, and so do a migration and a scrub', async (t) => {
  const array = await ArrayProcess.start(arrayConfiguration(temporaryFolder(t), 4, 1));
  t.after(() => array.kill());
  const { client } = array;
  const near = await makePool(client, 'near');
  const far = await makePool(client, 'far');
  const checked = await client.volumes.create({ name: 'checked', capacity: VOLUME_MB, pool: near.pool });
  const moved = await client.volumes.create({ name: 'moved', capacity: MOVED_MB, pool: near.pool });
  const { disk } = await attach(client, moved.vol_name);
  const content = randomBuffer(MOVED_MB);
  await disk.write(0, content);

  const gaps: number[] = [];
  const server = await attach(client, checked.vol_name);
  const lun = await openUnit(t, server.disk);
  const reconnect = async () => {
    const from = performance.now();
    const again = await insist(() => openUnit(t, server.disk));
    gaps.push(performance.now() - from);
    return again;
  };
  const checker = new Checker(lun, { seed: 21, sectors: (VOLUME_MB * MEGABYTE) / 512, unmap: true, reconnect });
  await checker.run({ ...LOAD, operations: 300 });

  t.diagnostic('a scrub and a migration are under way, and servers at work');
  const speed = { min: SCRUBBED_MB_PER_SECOND, max: SCRUBBED_MB_PER_SECOND };
  await client.raidGroups.setResyncSpeed({ id: near.group, ...speed });
  await submitted(client.raidGroups.scrub({ id: near.group, timeout: 0 }));
  const { cg_name: cg } = (await client.volumes.get({ id: moved.vol_name })).volume;
  let isOver = false;
  const load = checker.run({ ...LOAD, operations: Infinity, seconds: 12 }).finally(() => (isOver = true));
  await sleep(500);
  await submitted(client.consistencyGroups.migrate({ volume_cg_id: cg, poolname: far.pool, timeout: 0 }));
  const migration = async () => (await client.migrationJobs.get({ migration_cg_id: cg })).migration_job;
  await until('the migration has begun', async () => (await migration()).already_migrated_mb > 0);
  console.log((await migration()), (await client.raidGroups.get({id: near.group})).raid_group);
  const first = await activeOf(client);
  const from = performance.now();
  await client.controllers.failover();
  console.log('failover ms', performance.now()-from, await activeOf(client), await migration(), (await client.raidGroups.get({id: near.group})).raid_group.status);
  assert.notEqual(await activeOf(client), first);
  await until('io', async()=> gaps.length > 0);
  console.log(gaps);
  assert.equal(isOver, false);
  console.log(await load);
  console.log(await migration(), (await client.raidGroups.get({id: near.group})).raid_group.status);
  await until('migrated', async () => (await migration()).status === 'Completed');
  const { messages } = await client.messages.list({limit:0});
  console.log(messages.map(({msg_title})=>msg_title));
});

async function openUnit(t: TestContext, disk: Disk): Promise<Lun> {
  const { session, unit } = await disk.session();
  t.after(() => session.destroy());
  return unit;
}

async function activeOf(client: ArrayClient): Promise<string | undefined> {
  const { vcontrollers } = await client.controllers.list();
  return vcontrollers.find(({ state }) => state === 'active')?.name;
}

async function submitted(call: Promise<unknown>): Promise<void> {
  await assert.rejects(call, StillRunning);
}

async function insist<T>(attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + GAP_MS_MAX;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await sleep(50);
  }
}
