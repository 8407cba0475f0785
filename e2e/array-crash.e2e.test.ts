import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ArrayClient } from '@granary/client';
import { checkArray } from '@granary/array';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { Random } from '../testing/random.ts';
import { TestArrayProcess, arrayConfiguration } from '../array/testing/array-process.ts';
import { ArrayWorker } from './array-crash-model.ts';

/**
 * Goal: after kill -9 of an array, records and bytes agree, everything acknowledged is there, and no work is lost or
 * done twice.
 * Method: workers make 300 random changes and write over iSCSI and NFS; again and again the process is killed in the middle,
 * started, and compared with what was acknowledged; at the end `granary array check` proves all of it.
 */
const seeds = process.env['GRANARY_TORTURE'] === '1' ? 30 : 1;
const firstSeed = Number(process.env['GRANARY_SEED'] ?? Date.now() % 1_000_000);
const WORKERS = 3;
const OPERATIONS = 300;
const OPERATIONS_BETWEEN_KILLS = 80;
const ROUND_MS_MAX = 20_000;

for (let seed = firstSeed; seed < firstSeed + seeds; seed += 1) {
  test(`kill -9 of an array during random operations loses nothing (GRANARY_SEED=${seed})`, (t) => crash(t, seed));
}

async function crash(t: TestContext, seed: number): Promise<void> {
  const random = new Random(seed);
  const configuration = arrayConfiguration(temporaryFolder(t), 4, 2);
  let array = await TestArrayProcess.start(configuration);
  t.after(() => array.kill());
  const pools = await makePools(array.client);
  const workers = Array.from(
    { length: WORKERS },
    (_, index) => new ArrayWorker(`w${index}`, new Random(random.below(2 ** 31)), array.client, pools),
  );
  for (const worker of workers) await worker.prepare();
  let kills = 0;
  for (; acknowledgedBy(workers) < OPERATIONS; kills += 1) {
    const running = workers.map((worker) => worker.run(OPERATIONS_BETWEEN_KILLS));
    await somewhereAmong(workers, random);
    await array.kill();
    await Promise.all(running);
    array = await TestArrayProcess.start(configuration);
    await settled(array.client);
    for (const [index, worker] of workers.entries())
      assert.deepEqual(await worker.verify(array.client), [], `seed ${seed}, kill ${kills}, worker ${index}`);
  }
  await nothingTwice(array.client);
  await array.stop();
  assert.deepEqual((await checkArray(configuration)).problems, [], `seed ${seed}`);
  t.diagnostic(`${acknowledgedBy(workers)} changes acknowledged, ${kills} kills`);
}

async function makePools(client: ArrayClient): Promise<string[]> {
  const { disks } = await client.drives.listFree();
  const pools: string[] = [];
  for (const [index, start] of [0, 2].entries()) {
    const disk = disks.slice(start, start + 2).map(({ name }) => name);
    const group = await client.raidGroups.create({ display_name: `pair ${index}`, protection: 'RAID1', disk });
    const pool = await client.pools.create({ display_name: `pool ${index}`, raid_groups: [group.raidgroup_name] });
    pools.push(pool.pool_name);
  }
  return pools;
}

function acknowledgedBy(workers: readonly ArrayWorker[]): number {
  return workers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
}

async function somewhereAmong(workers: readonly ArrayWorker[], random: Random): Promise<void> {
  const wanted = acknowledgedBy(workers) + random.below(OPERATIONS_BETWEEN_KILLS);
  const end = Date.now() + ROUND_MS_MAX;
  while (acknowledgedBy(workers) < wanted && Date.now() < end) await sleep(3);
  await sleep(random.below(40));
}

/** Work that a kill cut off goes on after the start. */
async function settled(client: ArrayClient): Promise<void> {
  await until(async () => {
    const { volumes } = await client.volumes.list();
    return volumes.every(({ status }) => status === 'Available' || status === 'In-use');
  }, 'nothing is under way');
}

/** Each volume is created, and deleted, and each move completed, at most once. */
async function nothingTwice(client: ArrayClient): Promise<void> {
  const { messages } = await client.messages.list();
  const titles = messages.map((message) => message.msg_title).filter((title) => /was (created|deleted)/.test(title));
  assert.equal(new Set(titles).size, titles.length, 'no change is recorded twice');
}
