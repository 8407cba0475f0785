import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Attribute } from '../../protocols/nfs/v4/attributes/attribute.ts';
import { ops } from '../../protocols/nfs/testing/client4.ts';
import { atLeast, atMost, median, type Ratio } from '../ratio.ts';
import { BenchClient } from './nfs-client.ts';
import { startShare } from './share.ts';

const LOOKUP_GOAL = 2;
const MEMORY_MB_MAX = 300;
const LISTED_GOAL = 20_000;
const ROUNDS = 5;
const LOOKUPS = 20_000;
const DEPTH = 16;
const LISTING_BYTES = 64 * 1024;

export const DIRECTORIES = [
  ['few', 1000],
  ['many', 1_000_000],
] as const;

export function nameOf(index: number): string {
  return `file number ${index}`;
}

/** A directory of a million files beside one of a thousand: made, listed and served by three processes in turn. */
export async function benchMillionFiles(folder: string): Promise<Ratio[]> {
  await run(folder, 'fill');
  const { listedPerSecond } = await run(folder, 'list');
  const share = await startShare(folder);
  try {
    const client = await BenchClient.connect(share.port, 'million');
    const { few, many } = await timesOfLookup(client);
    await listAll(client);
    const residentMb = residentMbOf(share.pid);
    client.close();
    const times = `${few.toFixed(0)} and ${many.toFixed(0)} µs`;
    return [
      atMost(`of the time of a LOOKUP among 1,000 names: among 1,000,000 [${times}]`, many / few, LOOKUP_GOAL),
      atMost('MB resident with 1,000,000 files, each looked at over NFS', residentMb, MEMORY_MB_MAX),
      atLeast('files a second listed by number with paths', listedPerSecond, LISTED_GOAL),
    ];
  } finally {
    await share.stop();
  }
}

async function run(folder: string, task: 'fill' | 'list'): Promise<{ readonly listedPerSecond: number }> {
  const child: ChildProcess = fork(new URL('million-server.ts', import.meta.url), [task, folder]);
  const [figures] = (await once(child, 'message')) as [{ readonly listedPerSecond: number }];
  await once(child, 'exit');
  return figures;
}

/** In microseconds, with several under way, of names in no order; the two directories in turns. */
async function timesOfLookup(client: BenchClient): Promise<{ few: number; many: number }> {
  const times = { few: [] as number[], many: [] as number[] };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const [name, count] of DIRECTORIES) {
      const time = await timeOfLookup(client, await directory(client, name), count);
      // The first round does not count: code is compiled and caches are filled.
      if (round > 0) times[name].push(time);
    }
  }
  return { few: median(times.few), many: median(times.many) };
}

async function timeOfLookup(client: BenchClient, handle: Buffer, count: number): Promise<number> {
  const startedMs = performance.now();
  let index = 0;
  const work = async (): Promise<void> => {
    while (index < LOOKUPS) {
      const name = nameOf((Math.imul((index += 1), 0x9e3779b1) >>> 0) % count);
      await client.compound(ops.put(handle), ops.lookup(name), ops.getattr(Attribute.size));
    }
  };
  await Promise.all(Array.from({ length: DEPTH }, work));
  return ((performance.now() - startedMs) * 1000) / LOOKUPS;
}

/** Every name with its size, as a backup does. */
async function listAll(client: BenchClient): Promise<void> {
  const handle = await directory(client, 'many');
  for (let cookie = 0n, isEnd = false; !isEnd;) {
    const read = ops.readdir(cookie, LISTING_BYTES, Attribute.size);
    const [, page] = await client.compound(ops.put(handle), read);
    const { entries, eof } = page as { entries: { cookie: bigint }[]; eof: boolean };
    cookie = entries.at(-1)?.cookie ?? cookie;
    isEnd = eof;
  }
}

async function directory(client: BenchClient, name: string): Promise<Buffer> {
  const results = await client.compound(ops.putRoot(), ops.lookup('share'), ops.lookup(name), ops.get());
  return results.at(-1) as Buffer;
}

function residentMbOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
