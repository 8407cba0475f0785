import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { allocate, type Done, FileDrive, Pool, RaidGroup, release } from '@granary/storage';
import { atLeast, median, type Ratio } from '../ratio.ts';

const MIB = 1024 * 1024;
const SPAN_BYTES = 512 * MIB;
const ROUNDS = 9;
const ROUND_MS = 600;
const OPERATIONS_PER_TURN = 32;
const GOAL = 0.7;

type Operate = (offset: number, buffer: Buffer) => Done;

interface Workload {
  readonly name: string;
  readonly kind: 'read' | 'write';
  readonly bytes: number;
  readonly depth: number;
}

const WORKLOADS: readonly Workload[] = [
  { name: '4 KiB random read, depth 1', kind: 'read', bytes: 4096, depth: 1 },
  { name: '4 KiB random read, depth 32', kind: 'read', bytes: 4096, depth: 32 },
  { name: '4 KiB random write, depth 1', kind: 'write', bytes: 4096, depth: 1 },
  { name: '4 KiB random write, depth 32', kind: 'write', bytes: 4096, depth: 32 },
  { name: '1 MiB sequential read, depth 1', kind: 'read', bytes: MIB, depth: 1 },
  { name: '1 MiB sequential read, depth 4', kind: 'read', bytes: MIB, depth: 4 },
  { name: '1 MiB sequential write, depth 1', kind: 'write', bytes: MIB, depth: 1 },
  { name: '1 MiB sequential write, depth 4', kind: 'write', bytes: MIB, depth: 4 },
];

/** A volume on RAID1 beside plain `fs` on a file; writes also beside plain `fs` on two files, which is what they are. */
export async function benchVolume(): Promise<Ratio[]> {
  const folder = fs.mkdtempSync(join(tmpdir(), 'granary-bench-volume-'));
  try {
    const { volume, close } = await openVolume(folder);
    const files = ['one', 'two'].map((name) => fs.openSync(join(folder, name), 'w+'));
    const ours: Record<Workload['kind'], Operate> = {
      read: (offset, buffer) => volume.read(offset, buffer),
      write: (offset, buffer) => volume.write(offset, buffer),
    };
    for (const operate of [ours.write, plainWrite(files)]) await fill(operate);
    const rows: Ratio[] = [];
    for (const workload of WORKLOADS) {
      const one = workload.kind === 'read' ? plainRead(files[0] ?? 0) : plainWrite(files.slice(0, 1));
      rows.push(await compare(`of plain fs: ${workload.name}`, workload, ours[workload.kind], one, GOAL));
      if (workload.kind === 'read') continue;
      const twice = plainWrite(files);
      rows.push(await compare(`of plain fs, two files: ${workload.name}`, workload, ours.write, twice, GOAL));
    }
    await close();
    for (const file of files) fs.closeSync(file);
    return rows;
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

async function openVolume(folder: string) {
  const opening = ['a', 'b'].map((id) =>
    FileDrive.open({ id, path: join(folder, id), sizeBytes: SPAN_BYTES + 64 * MIB }),
  );
  const group = await RaidGroup.create({ id: 'group', level: 'RAID1', members: await Promise.all(opening) });
  const pool = await Pool.create({ file: join(folder, 'pool.db'), id: 'pool', mode: 'simple', groups: [group] });
  const volume = await pool.volumes.create({ id: 'volume', sizeBytes: SPAN_BYTES });
  const close = async (): Promise<void> => {
    await pool.close();
    await group.close();
  };
  return { volume, close };
}

function plainRead(file: number): Operate {
  return (offset, buffer) =>
    new Promise((resolve, reject) => {
      fs.read(file, buffer, 0, buffer.length, offset, (error) => (error ? reject(error) : resolve()));
    });
}

function plainWrite(files: readonly number[]): Operate {
  const write = (file: number, offset: number, buffer: Buffer): Promise<void> =>
    new Promise((resolve, reject) => {
      fs.write(file, buffer, 0, buffer.length, offset, (error) => (error ? reject(error) : resolve()));
    });
  return async (offset, buffer) => {
    await Promise.all(files.map((file) => write(file, offset, buffer)));
  };
}

async function fill(operate: Operate): Promise<void> {
  const buffer = Buffer.alloc(MIB, 'granary');
  for (let offset = 0; offset < SPAN_BYTES; offset += MIB) await operate(offset, buffer);
}

async function compare(what: string, workload: Workload, ours: Operate, theirs: Operate, goal: number): Promise<Ratio> {
  const rates = { ours: [] as number[], theirs: [] as number[] };
  // A round that does not count: the engine compiles what it runs often, and the first writes find pages to be made.
  for (const operate of [ours, theirs]) await measure(workload, operate);
  for (let round = 0; round < ROUNDS; round++) {
    rates.ours.push(await measure(workload, ours));
    rates.theirs.push(await measure(workload, theirs));
  }
  const [mine, plain] = [median(rates.ours), median(rates.theirs)];
  return atLeast(`${what} [${mine.toFixed(0)} and ${plain.toFixed(0)} a second]`, mine / plain, goal);
}

/** Operations a second, with `depth` of them under way. Places follow from a fixed sequence, the same for both sides. */
async function measure({ bytes, depth }: Workload, operate: Operate): Promise<number> {
  const places = SPAN_BYTES / bytes;
  const free = Array.from({ length: depth }, () => allocate(bytes).fill('granary'));
  const startedMs = performance.now();
  let started = 0;
  let ended = 0;
  let wake: () => void = () => undefined;
  const submit = (buffer: Buffer): void => {
    const place = bytes === MIB ? started : Math.imul(started, 0x9e3779b1) >>> 0;
    started++;
    const end = (): void => {
      ended++;
      free.push(buffer);
      wake();
    };
    const done = operate((place % places) * bytes, buffer);
    if (done === undefined) end();
    else void done.then(end);
  };
  while (performance.now() - startedMs < ROUND_MS) {
    // What is done at once makes room for the next at once; what is not is heard of when the event loop turns.
    for (let turn = 0; turn < OPERATIONS_PER_TURN && free.length > 0; turn++) submit(free.pop() as Buffer);
    await (free.length > 0 ? setImmediate() : new Promise<void>((resolve) => (wake = resolve)));
  }
  const rate = (ended * 1000) / (performance.now() - startedMs);
  while (free.length < depth) await new Promise<void>((resolve) => (wake = resolve));
  for (const buffer of free) release(buffer);
  return rate;
}
