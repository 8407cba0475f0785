import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ArrayClient } from '@granary/client';
import { Checker, type Lun } from '@granary/protocols/iscsi/testing';
import { awakeMs } from '../testing/timing.ts';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { TestArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import { attach, makePool, randomBuffer, reaches, type Disk } from './block-array.ts';

const MEGABYTE = 2 ** 20;
const VOLUME_MB = 64;
const MOVED_MB = 256;
const SLOW = { min: 20, max: 20 };
const FAST = { min: 1000, max: 1000 };
const GAP_MS_MAX = 10_000;
const PATIENCE_MS = 60_000;
const LOAD = { depth: 8, transferBytesMax: 64 * 1024, flushPercent: 5 };

test('controllers hand over under verified load: servers go on, and so do a migration and a scrub', async (t) => {
  const array = await TestArrayProcess.start(arrayConfiguration(temporaryFolder(t), 4, 1));
  t.after(() => array.kill());
  const { client } = array;
  const near = await makePool(client, 'near');
  const far = await makePool(client, 'far');
  const { vol_name: moved } = await client.volumes.create({ name: 'moved', capacity: MOVED_MB, pool: near.pool });
  const { disk } = await attach(client, moved);
  const content = randomBuffer(MOVED_MB);
  await disk.write(0, content);
  const server = await busyServer(t, client, near.pool);

  await client.raidGroups.setResyncSpeed({ id: near.group, ...SLOW });
  await client.raidGroups.scrub({ id: near.group });
  const group = async () => (await client.raidGroups.get({ id: near.group })).raid_group.status;
  await until(async () => percentIn(await group()) > 0, 'the scrub is under way', 60_000);
  const { cg_name: cg } = (await client.volumes.get({ id: moved })).volume;
  await client.consistencyGroups.migrate({ volume_cg_id: cg, poolname: far.pool });
  const migration = async () => (await client.migrationJobs.get({ migration_cg_id: cg })).migration_job;

  for (let turn = 1; turn <= 2; turn += 1) {
    await until(async () => (await migration()).already_migrated_mb > 0, 'the migration is under way');
    assert.equal((await migration()).status, 'Running');
    const [before, scrubbed] = [await activeOf(client), percentIn(await group())];
    await client.controllers.failover();
    assert.notEqual(await activeOf(client), before);
    await until(async () => server.gaps.length === turn, 'the server is back');
    const again = await until(async () => /^Scrubbing/.test(await group()) && (await group()), 'the scrub goes on');
    assert.ok(percentIn(again) >= scrubbed, `${scrubbed} % before, ${again} after`);
    t.diagnostic(`the server was away for ${Math.round(server.gaps.at(-1) ?? 0)} ms; ${again}`);
  }

  const counts = await server.end();
  t.diagnostic(JSON.stringify(counts));
  // No pause can be longer than the longest few operations were.
  assert.ok(counts.longestMs < GAP_MS_MAX);
  await reaches('the migration', async () => (await migration()).status, 'Completed', 120_000);
  assert.equal((await client.volumes.get({ id: moved })).volume.pool_name, far.pool);
  assert.ok((await disk.read(0, content.length)).equals(content));
  await client.raidGroups.setResyncSpeed({ id: near.group, ...FAST });
  await reaches('the group', group, 'Normal', 120_000);
  const { messages } = await client.messages.list({ limit: 0 });
  const scrubs = messages
    .map(({ msg_title }) => msg_title)
    .filter((title) => /scrub/.test(title) && !/MiB\/s/.test(title));
  assert.deepEqual(scrubs.toReversed(), [
    `RAID group pair of near (${near.group}) is being scrubbed.`,
    `The scrub of RAID group pair of near (${near.group}) ended: no mismatches found.`,
  ]);
});

/** A server that reads and writes, and checks every byte, until it is stopped. */
async function busyServer(t: TestContext, client: ArrayClient, pool: string) {
  const { vol_name: volume } = await client.volumes.create({ name: 'checked', capacity: VOLUME_MB, pool });
  const { disk } = await attach(client, volume);
  const gaps: number[] = [];
  const reconnect = async () => {
    const from = performance.now();
    const unit = await insist(() => openUnit(t, disk));
    gaps.push(performance.now() - from);
    return unit;
  };
  const checker = new Checker(await openUnit(t, disk), {
    seed: 21,
    sectors: (VOLUME_MB * MEGABYTE) / 512,
    unmap: true,
    reconnect,
  });
  const ending = new AbortController();
  const running = (async () => {
    const counts = { reads: 0, writes: 0, longestMs: 0 };
    while (!ending.signal.aborted) {
      const ms = await awakeMs(async () => {
        const { reads, writes } = await checker.run({ ...LOAD, operations: 16 });
        counts.reads += reads;
        counts.writes += writes;
      });
      counts.longestMs = Math.max(counts.longestMs, ms);
    }
    await checker.verifyAll();
    return counts;
  })();
  // Errors are reported at the end.
  running.catch(() => undefined);
  return {
    /** How long each time it was without a session. */
    gaps,
    end: () => {
      ending.abort();
      return running;
    },
  };
}

function percentIn(status: string): number {
  return Number(/(\d+)%/.exec(status)?.[1]);
}

async function openUnit(t: TestContext, disk: Disk): Promise<Lun> {
  const { session, unit } = await disk.session();
  t.after(() => session.destroy());
  return unit;
}

async function activeOf(client: ArrayClient): Promise<string | undefined> {
  const { vcontrollers } = await client.controllers.list();
  return vcontrollers.find(({ state }) => state === 'active')?.name;
}

async function insist<T>(attempt: () => Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    await sleep(50);
  }
}
