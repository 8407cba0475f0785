import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PortalClient } from '@granary/client';
import { temporaryFolder } from '../testing/folders.ts';
import { until } from '../testing/waiting.ts';
import { Random } from '../testing/random.ts';
import { orderWith, PortalWorker } from './crash-model.ts';
import { startGranary, type Granary } from './granary.ts';

/**
 * Goal: nothing acknowledged is lost, no array is half made, no drive is lost or given twice.
 * Method: workers make 200 random changes; somewhere among them Granary is killed with SIGKILL (all of it, or only
 * the main process), started again on the same data, and compared with what was acknowledged. The seed replays a run.
 */
const rounds = process.env['GRANARY_TORTURE'] === '1' ? 20 : 1;
const seed = Number(process.env['GRANARY_SEED'] ?? Date.now() % 1_000_000);
const WORKERS = 3;
const OPERATIONS = 200;
const ROUND_MS_MAX = 30_000;

test(`kill -9 during random operations loses nothing acknowledged (kills: ${rounds}, seed ${seed})`, async (t) => {
  const dataDir = temporaryFolder(t);
  let granary = await startGranary(dataDir);
  t.after(() => granary.kill());
  const random = new Random(seed);
  let acknowledged = 0;
  for (let round = 0; round < rounds; round += 1) {
    const client = await granary.admin();
    const workers = await makeWorkers(client, round, random);
    const running = workers.map((worker) => worker.run(client, Math.ceil(OPERATIONS / WORKERS)));
    await somewhereAmong(workers, random);
    await killed(granary, random.below(2) === 0);
    await Promise.all(running);
    granary = await startGranary(dataDir);
    const after = await granary.admin();
    await settled(after);
    for (const [index, worker] of workers.entries()) {
      acknowledged += worker.acknowledged;
      assert.deepEqual(await worker.verify(after), [], `seed ${seed}, round ${round}, worker ${index}`);
    }
    await booksAgree(granary, after, `seed ${seed}, round ${round}`);
    await removeArrays(granary, after);
    await booksAgree(granary, after, `seed ${seed}, round ${round}, after removal`);
  }
  assert.equal(await granary.stop(), 0);
  t.diagnostic(`${acknowledged} changes acknowledged over ${rounds} kill(s)`);
});

async function makeWorkers(client: PortalClient, round: number, random: Random): Promise<PortalWorker[]> {
  const provider = (await client.providers.list()).data[0];
  const tenant = (await client.tenants.list()).data.find(({ username }) => username === 'admin');
  const engine = (await client.clouds.list()).data[0]?.engine_types[0];
  assert.ok(provider && tenant && engine);
  orderWith(engine.key);
  const ids = { providerId: Number(provider.id), tenantId: tenant.id };
  return Array.from(
    { length: WORKERS },
    (_, index) => new PortalWorker(`w${index}r${round}`, new Random(random.below(2 ** 31)), ids),
  );
}

/** Until a random number of changes is acknowledged, and a little more, so that the kill falls into the middle of one. */
async function somewhereAmong(workers: readonly PortalWorker[], random: Random): Promise<void> {
  const count = random.below(OPERATIONS);
  const end = Date.now() + ROUND_MS_MAX;
  while (workers.reduce((sum, { acknowledged }) => sum + acknowledged, 0) < count && Date.now() < end) await sleep(5);
  await sleep(random.below(100));
}

async function killed(granary: Granary, whole: boolean): Promise<void> {
  if (whole) return granary.kill();
  // The children notice by themselves that their parent is gone.
  granary.process.kill('SIGKILL');
  await until(async () => granary.process.signalCode !== null, 'the process is gone');
}

const RESTING = ['created', 'hibernated', 'failed'];

async function settled(client: PortalClient): Promise<void> {
  await until(
    async () => (await client.arrays.list()).data.every(({ status }) => RESTING.includes(status)),
    'every array has come to rest',
    90_000,
  );
}

/** The cloud's own proof, and the portal's count of drives against the cloud's. */
async function booksAgree(granary: Granary, client: PortalClient, where: string): Promise<void> {
  const cloud = granary.cloud();
  assert.deepEqual((await cloud.inventory.check()).data, [], where);
  const { drive_types: types } = (await cloud.inventory.get()).data;
  const taken = types.reduce((sum, type) => sum + type.total - type.free, 0);
  const deleted = (await client.arrays.list({ restorable: true })).data;
  const arrays = [...(await client.arrays.list()).data, ...deleted];
  assert.equal(
    taken,
    arrays.reduce((sum, array) => sum + array.drive_count, 0),
    `${where}: drives taken`,
  );
  const hosted = (await cloud.hostedArrays.list()).data;
  assert.deepEqual(
    hosted.map(({ internal_name: name }) => name).sort(),
    arrays.map(({ internal_name: name }) => name).sort(),
    where,
  );
}

async function removeArrays(granary: Granary, client: PortalClient): Promise<void> {
  for (const { id } of (await client.arrays.list()).data) await client.arrays.delete({ array_id: id });
  await until(async () => (await client.arrays.list()).data.length === 0, 'every array is deleted', 60_000);
  for (const { id } of (await client.arrays.list({ restorable: true })).data)
    await client.arrays.purge({ array_id: id });
  await isPurged(granary);
}

async function isPurged(granary: Granary): Promise<void> {
  await until(
    async () => (await granary.cloud().hostedArrays.list()).data.length === 0,
    'every array is purged',
    60_000,
  );
}
