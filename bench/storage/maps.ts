import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type BlockGroup, EXTENT_BYTES, Pool, type Volume } from '@granary/storage';
import { atMost, median, type Ratio } from '../ratio.ts';

const TERABYTE = 2 ** 40;
const EXTENTS = 1_000_000;
const VOLUMES = 10_000;
const ROUNDS = 9;

/** Takes what is written and keeps nothing: only the maps are of interest here. */
class BottomlessGroup implements BlockGroup {
  readonly id = 'bottomless';
  readonly capacityBytes = 4 * TERABYTE;
  read(_offset: number, into: Buffer): undefined {
    into.fill(0);
  }
  write(): undefined {
    return undefined;
  }
  discard(): undefined {
    return undefined;
  }
  trim(): Promise<void> {
    return Promise.resolve();
  }
  flush(): Promise<void> {
    return Promise.resolve();
  }
}

/** What a volume's size costs: snapshots of a large one, memory of a terabyte, opening a pool of many. */
export async function benchMaps(): Promise<Ratio[]> {
  const folder = fs.mkdtempSync(join(tmpdir(), 'granary-bench-maps-'));
  const file = join(folder, 'pool.db');
  const groups = [new BottomlessGroup()];
  try {
    const pool = await Pool.create({ file, id: 'pool', mode: 'simple', groups });
    const empty = await pool.volumes.create({ id: 'empty', sizeBytes: TERABYTE });
    const large = await pool.volumes.create({ id: 'large', sizeBytes: TERABYTE });
    await map(large, EXTENTS);
    await pool.flush();
    const rows = await compareSnapshots(pool, empty, large);
    rows.push(await memoryOfTerabyte(pool));
    await pool.close();
    fs.rmSync(file);
    return [...rows, await openMany(file, groups)];
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function map(volume: Volume, extents: number): Promise<void> {
  const buffer = Buffer.alloc(16 * EXTENT_BYTES);
  for (let extent = 0; extent < extents; extent += 16) await volume.write(extent * EXTENT_BYTES, buffer);
}

async function compareSnapshots(pool: Pool, empty: Volume, large: Volume): Promise<Ratio[]> {
  const seen: Record<string, number[]> = {};
  const time = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const startedMs = performance.now();
    await work();
    (seen[name] ??= []).push(performance.now() - startedMs);
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (const volume of [empty, large]) {
      const name = volume.id;
      // A little is written in between, as in real life.
      await volume.write(round * 4096, Buffer.alloc(4096, 1));
      const snapshot = `${name}-${round}`;
      await time(`snapshot ${name}`, () => pool.snapshots.take([{ volumeId: name, id: snapshot }], new Date()));
      await time(`clone ${name}`, () => pool.snapshots.clone(snapshot, `clone-${snapshot}`));
      await pool.deleteVolume(`clone-${snapshot}`);
      await pool.whenIdle();
      await time(`delete ${name}`, async () => {
        await pool.snapshots.delete(snapshot);
        await pool.whenIdle();
      });
    }
  }
  return ['snapshot', 'clone', 'delete'].map((what) => {
    const [base, full] = [median(seen[`${what} empty`] ?? []), median(seen[`${what} large`] ?? [])];
    const goal = what === 'delete' ? Infinity : 2;
    const words = `times an empty volume's: ${what} with ${EXTENTS} mapped extents`;
    return atMost(`${words} [${full.toFixed(2)} and ${base.toFixed(2)} ms]`, full / base, goal);
  });
}

async function memoryOfTerabyte(pool: Pool): Promise<Ratio> {
  const volume = await pool.volumes.create({ id: 'terabyte', sizeBytes: TERABYTE });
  const before = memoryBytes();
  await map(volume, TERABYTE / EXTENT_BYTES);
  await pool.flush();
  return atMost('MB of memory a mapped terabyte takes', (memoryBytes() - before) / 2 ** 20, 40);
}

function memoryBytes(): number {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function openMany(file: string, groups: readonly BlockGroup[]): Promise<Ratio> {
  const pool = await Pool.create({ file, id: 'pool', mode: 'simple', groups });
  const creating = Array.from({ length: VOLUMES }, async (_, index) => {
    const volume = await pool.volumes.create({ id: `volume-${index}`, sizeBytes: TERABYTE / 1024 });
    await volume.write(0, Buffer.alloc(EXTENT_BYTES));
  });
  await Promise.all(creating);
  await pool.close();
  const startedMs = performance.now();
  const again = Pool.open({ file, groups });
  const seconds = (performance.now() - startedMs) / 1000;
  await again.close();
  return atMost(`seconds to open a pool of ${VOLUMES} volumes`, seconds, 5);
}
