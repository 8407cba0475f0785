import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { atLeast, atMost, type Ratio } from '../ratio.ts';

const LOOKUP_GOAL = 2;
const MEMORY_MB_MAX = 300;
const LISTED_GOAL = 20_000;

/** What `million-server.ts` reports. */
export interface MillionFigures {
  readonly lookupRatio: number;
  readonly lookupMicroseconds: number;
  readonly residentMb: number;
  readonly listedPerSecond: number;
}

/** A directory of a million files, beside one of a thousand; made by one process and measured by another. */
export async function benchMillionFiles(folder: string): Promise<Ratio[]> {
  await run(folder, 'fill');
  const { lookupRatio, lookupMicroseconds, residentMb, listedPerSecond } = await run(folder, 'measure');
  const time = `${lookupMicroseconds.toFixed(1)} µs`;
  return [
    atMost(`of the time of a lookup among 1,000 names: among 1,000,000 [${time}]`, lookupRatio, LOOKUP_GOAL),
    atMost('MB resident with 1,000,000 files, each looked at', residentMb, MEMORY_MB_MAX),
    atLeast('files a second listed by number with paths', listedPerSecond, LISTED_GOAL),
  ];
}

async function run(folder: string, task: 'fill' | 'measure'): Promise<MillionFigures> {
  const child: ChildProcess = fork(new URL('million-server.ts', import.meta.url), [task, folder]);
  const [figures] = (await once(child, 'message')) as [MillionFigures];
  await once(child, 'exit');
  return figures;
}
