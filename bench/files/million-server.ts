import { readFileSync } from 'node:fs';
import type { Filesystem } from '@granary/storage/filesystem';
import type { MillionFigures } from './million.ts';
import { openFilesystem } from './volume.ts';

const SUPERUSER = { uid: 0, gid: 0, groups: [] };
const MANY = 1_000_000;
const FEW = 1000;
const TOGETHER = 1000;
const LOOKUPS = 50_000;
const LISTED = 100_000;
const PAGE = 1000;

/** Fills a filesystem with two directories, or measures them; the task and the folder are the arguments. */
const [task, folder] = process.argv.slice(-2) as [string, string];
const { filesystem, close } = await openFilesystem(folder);
process.send?.(task === 'fill' ? await fill(filesystem) : await measure(filesystem));
await close();
process.disconnect();

function nameOf(index: number): Buffer {
  return Buffer.from(`file number ${index}`);
}

async function fill(into: Filesystem): Promise<object> {
  for (const [name, count] of [
    ['few', FEW],
    ['many', MANY],
  ] as const) {
    const node = { type: 'directory', mode: 0o755 } as const;
    const { inode } = await into.create(SUPERUSER, into.root, Buffer.from(name), node);
    for (let first = 0; first < count; first += TOGETHER) {
      const made = Array.from({ length: TOGETHER }, (_, index) =>
        into.create(SUPERUSER, inode, nameOf(first + index), { type: 'file', mode: 0o644 }),
      );
      await Promise.all(made);
    }
  }
  return {};
}

async function measure(from: Filesystem): Promise<MillionFigures> {
  const times = { few: [] as number[], many: [] as number[] };
  for (let round = 0; round < 6; round += 1) {
    for (const [name, count] of [
      ['few', FEW],
      ['many', MANY],
    ] as const) {
      const time = await timeOfLookup(from, name, count);
      if (round > 0) times[name].push(time);
    }
  }
  const [few, many] = [Math.min(...times.few), Math.min(...times.many)];
  const listedPerSecond = await listingRate(from);
  // All of them once, as a backup does.
  for (let after = 0, isEnd = false; !isEnd;) {
    const page = await from.listInodes(after, PAGE);
    after = page.at(-1)?.attributes.inode ?? after;
    isEnd = page.length < PAGE;
  }
  return { lookupRatio: many / few, lookupMicroseconds: many, residentMb: residentMb(), listedPerSecond };
}

/** In microseconds, of names in no order. */
async function timeOfLookup(from: Filesystem, directory: string, count: number): Promise<number> {
  const { inode } = await from.lookup(SUPERUSER, from.root, Buffer.from(directory));
  const startedMs = performance.now();
  for (let index = 0; index < LOOKUPS; index += 1) {
    const found = from.lookup(SUPERUSER, inode, nameOf((Math.imul(index, 0x9e3779b1) >>> 0) % count));
    if (found instanceof Promise) await found;
  }
  return ((performance.now() - startedMs) * 1000) / LOOKUPS;
}

async function listingRate(from: Filesystem): Promise<number> {
  const startedMs = performance.now();
  let listed = 0;
  for (let after = 0; listed < LISTED;) {
    const page = await from.listInodes(after, PAGE);
    listed += page.length;
    after = page.at(-1)?.attributes.inode ?? after;
  }
  return (listed * 1000) / (performance.now() - startedMs);
}

function residentMb(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024;
}
