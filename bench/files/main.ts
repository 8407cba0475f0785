import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atLeast, median, type Ratio } from '../ratio.ts';
import { Ganesha } from './ganesha.ts';
import { benchMillionFiles } from './million.ts';
import { BenchClient } from './nfs-client.ts';
import { startShare } from './share.ts';
import { type Workload, WORKLOADS } from './workloads.ts';

const ROUNDS = Number(process.env.GRANARY_BENCH_ROUNDS ?? 5);
const ROUND_MS = 1500;

/** A share on RAID1 beside nfs-ganesha on a local directory, with the same client, in turns. */
export async function benchFiles(): Promise<Ratio[]> {
  return [...(await inFolder(benchGanesha)), ...(await inFolder(benchMillionFiles))];
}

async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'granary-bench-files-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function benchGanesha(folder: string): Promise<Ratio[]> {
  const ganesha = await Ganesha.start(folder);
  const ours = await startShare(folder);
  try {
    const rows: Ratio[] = [];
    const clients = {
      ours: await BenchClient.connect(ours.port, 'ours'),
      theirs: await BenchClient.connect(ganesha.port, 'theirs'),
    };
    for (const workload of WORKLOADS) rows.push(await compare(workload, clients));
    for (const client of Object.values(clients)) client.close();
    return rows;
  } finally {
    await ganesha.stop();
    await ours.stop();
  }
}

async function compare(
  workload: Workload,
  { ours, theirs }: { readonly ours: BenchClient; readonly theirs: BenchClient },
): Promise<Ratio> {
  const sides = { ours: await workload.prepare(ours), theirs: await workload.prepare(theirs) };
  const rates = { ours: [] as number[], theirs: [] as number[] };
  const turns = { ours: 0, theirs: 0 };
  // The first round does not count: code is compiled and caches are filled.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const side of ['ours', 'theirs'] as const) {
      const startedMs = performance.now();
      const first = turns[side];
      const work = async (): Promise<void> => {
        while (performance.now() - startedMs < ROUND_MS) await sides[side](turns[side]++);
      };
      await Promise.all(Array.from({ length: workload.depth }, work));
      const rate = ((turns[side] - first) * 1000) / (performance.now() - startedMs);
      if (round > 0) rates[side].push(rate);
    }
  }
  const [mine, other] = [median(rates.ours), median(rates.theirs)];
  const figures = `granary ${mine.toFixed(0)}, ganesha ${other.toFixed(0)} a second`;
  return atLeast(`of nfs-ganesha: ${workload.name}, depth ${workload.depth} [${figures}]`, mine / other, workload.goal);
}
