import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ArrayClient } from '@granary/client';
import { TestArrayProcess, arrayConfiguration } from '../../array/testing/array-process.ts';
import { requestRates, startServer } from '../load.ts';
import { atLeast, atMost, median, reported, type Ratio } from '../ratio.ts';
import { Caller } from './caller.ts';
import { bareCommitsPerSecond } from './commits.ts';

const VOLUMES = 10_000;
const SNAPSHOTS_EACH = 10;
const CALLERS = 16;
const PART = 1_000;
/** Until then the array's code is still being compiled. */
const WARM_UP = 3_000;
const ROUNDS = 5;
const DRIVE_GB = 100;
const IDLE_MS = 15_000;
const PAGE = '/volumes?start=5000&limit=100';

/** An array of 10,000 volumes and 100,000 snapshots: does it get slower, what does a page cost, what does it weigh. */
export async function benchArray(): Promise<Ratio[]> {
  const creates = await inFolder(createRates);
  return [...creates, ...(await inFolder(manyVolumes))];
}

async function inFolder(measure: (folder: string) => Promise<Ratio[]>): Promise<Ratio[]> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-bench-'));
  try {
    return await measure(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function manyVolumes(folder: string): Promise<Ratio[]> {
  const configuration = arrayConfiguration(folder, 2, DRIVE_GB);
  let array = await TestArrayProcess.start(configuration);
  try {
    const pool = await makePool(array);
    const volumes = await inParts(array, VOLUMES, (number) => createVolume(array.client, pool, number));
    const groups = (await array.client.volumes.list()).volumes.map(({ cg_name }) => cg_name);
    const snapshots = await inParts(array, VOLUMES * SNAPSHOTS_EACH, (number) =>
      array.client.snapshots.create({
        volume_cg_id: groups[number % groups.length] ?? '',
        display_name: `snapshot ${number}`,
      }),
    );
    const page = await pageRatio(array);
    await array.stop();
    array = await TestArrayProcess.start(configuration);
    await sleep(IDLE_MS);
    return [
      atMost('processor time of the last 1,000 of 10,000 volumes against the first', volumes, 1.5),
      atMost('processor time of the last 1,000 of 100,000 snapshots against the first', snapshots, 1.5),
      ...page,
      atMost('MB an idle array takes with 10,000 volumes and 100,000 snapshots', array.residentMb(), 200),
    ];
  } finally {
    await array.stop();
  }
}

/** A mirrored pool over all drives; its name. */
async function makePool({ client }: TestArrayProcess): Promise<string> {
  const disk = (await client.drives.listFree()).disks.map(({ name }) => name);
  const { raidgroup_name } = await client.raidGroups.create({ display_name: 'pair', protection: 'RAID1', disk });
  return (await client.pools.create({ display_name: 'main', raid_groups: [raidgroup_name] })).pool_name;
}

function createVolume(client: ArrayClient, pool: string, number: number) {
  return client.volumes.create({ name: `volume ${number}`, capacity: 1024, pool });
}

/** On an array of its own. In turns with bare commits, so that a slow moment of the disk hits both. */
async function createRates(folder: string): Promise<Ratio[]> {
  const array = await TestArrayProcess.start(arrayConfiguration(folder, 2, DRIVE_GB));
  try {
    const pool = await makePool(array);
    const callers = await Promise.all(
      Array.from({ length: CALLERS }, () => Caller.connect(array.url, array.accessKey)),
    );
    let last = 0;
    const rate = async (count: number, some: readonly Caller[]) => {
      const start = performance.now();
      const end = last + count;
      const work = async (caller: Caller) => {
        while (last < end) await caller.post('/volumes', { name: `volume ${++last}`, capacity: '1024M', pool });
      };
      await Promise.all(some.map(work));
      return count / ((performance.now() - start) / 1000);
    };
    await rate(WARM_UP, callers);
    const alone: number[] = [];
    const together: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const bare = bareCommitsPerSecond(folder);
      alone.push((await rate(100, callers.slice(0, 1))) / bare);
      const made = await rate(PART, callers);
      together.push(made / bare);
      process.stdout.write(`  ${Math.round(made)} created a second, ${Math.round(bare)} bare commits\n`);
    }
    for (const caller of callers) caller.close();
    return [
      atLeast(`durable volume creates of ${CALLERS} callers against bare SQLite commits`, median(together), 0.3),
      reported('the same of one caller', median(alone)),
    ];
  } finally {
    await array.stop();
  }
}

/** How much more the last part costs than the first: processor time, because others may use the machine, too. */
async function inParts(
  array: TestArrayProcess,
  count: number,
  work: (number: number) => Promise<unknown>,
): Promise<number> {
  const times: number[] = [];
  const startMs = performance.now();
  for (let from = 0; from < count; from += PART) {
    const cpuMs = array.cpuMs();
    await inParallel(PART, CALLERS, (number) => work(from + number));
    times.push(array.cpuMs() - cpuMs);
  }
  process.stdout.write(`  ${count} made, ${Math.round((count * 1000) / (performance.now() - startMs))} a second\n`);
  return (times.at(-1) ?? 0) / (times[0] ?? 1);
}

async function inParallel(count: number, callers: number, work: (number: number) => Promise<unknown>): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: callers }, caller));
}

async function pageRatio({ url, accessKey }: TestArrayProcess): Promise<Ratio[]> {
  const headers = { 'x-access-key': accessKey };
  const page = (await (await fetch(`${url}/api${PAGE}`, { headers })).json()) as object;
  const bare = await startServer('bare-array.ts', [], page);
  try {
    const rates = await requestRates([
      { name: 'page', url: `${url}/api${PAGE}`, headers },
      { name: 'bare page', url: `${bare.url}/schema` },
      { name: 'plain page', url: `${bare.url}/plain` },
    ]);
    const rate = (name: string) => rates.get(name) ?? 0;
    return [
      atLeast(
        'GET /volumes, 100 of 10,000, against bare Fastify with JSON.stringify',
        rate('page') / rate('plain page'),
        0.5,
      ),
      reported('the same against bare Fastify with the same schema', rate('page') / rate('bare page')),
    ];
  } finally {
    bare.stop();
  }
}
