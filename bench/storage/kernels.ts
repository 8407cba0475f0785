import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { allocate, blocksMatch, checksumBlocks, computeParity, recover } from '../../storage/kernels/index.ts';
import { release, updateParity, xorInto, Xts } from '../../storage/kernels/index.ts';

const KIBIBYTE = 1024;
const SHARD_BYTES = 64 * KIBIBYTE;
const DATA_SHARDS = 8;
const BLOCK_BYTES = 4096;
const ROUNDS = 7;
const ROUND_MS = 40;

export interface KernelRow {
  readonly name: string;
  readonly gigabytesPerSecond: number;
  /** Against `Buffer.copy` of 8 × 64 KiB in the same run. */
  readonly ratioToCopy: number;
}

interface Subject {
  readonly name: string;
  readonly bytes: number;
  readonly run: () => void;
}

/** Each subject takes its turn in every round, so that a slow moment of the machine hits all; the median counts. */
export function benchKernels(): KernelRow[] {
  const copy = copySubject();
  const subjects = [copy, ...checksumSubjects(), ...paritySubjects(), ...cipherSubjects(), arenaSubject()];
  for (const subject of subjects) measure(subject);
  const seen = new Map(subjects.map((subject) => [subject, [] as number[]]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [subject, speeds] of seen) speeds.push(measure(subject));
  }
  const copySpeed = median(seen.get(copy) ?? []);
  return [...seen].map(([{ name }, speeds]) => {
    const gigabytesPerSecond = median(speeds);
    return { name, gigabytesPerSecond, ratioToCopy: gigabytesPerSecond / copySpeed };
  });
}

function copySubject(): Subject {
  const from = shardsFrom((bytes) => Buffer.alloc(bytes));
  const to = shardsFrom((bytes) => Buffer.alloc(bytes));
  const run = () => {
    for (let index = 0; index < DATA_SHARDS; index += 1) from[index]?.copy(to[index] as Buffer);
  };
  return { name: 'Buffer.copy, 8 × 64 KiB', bytes: DATA_SHARDS * SHARD_BYTES, run };
}

function checksumSubjects(): Subject[] {
  const checksums = new Uint32Array(SHARD_BYTES / BLOCK_BYTES);
  const subjects = (place: string, make: (bytes: number) => Buffer): Subject[] => {
    const block = filled(make(BLOCK_BYTES));
    const shard = filled(make(SHARD_BYTES));
    return [
      { name: `checksumBlocks, 4 KiB, ${place}`, bytes: block.length, run: () => checksumBlocks(block, checksums, 0) },
      { name: `checksumBlocks, 64 KiB, ${place}`, bytes: shard.length, run: () => checksumBlocks(shard, checksums, 0) },
      { name: `blocksMatch, 64 KiB, ${place}`, bytes: shard.length, run: () => void blocksMatch(shard, checksums, 0) },
    ];
  };
  const block = filled(Buffer.alloc(BLOCK_BYTES));
  const other = { name: 'zlib.crc32, 4 KiB', bytes: block.length, run: () => void crc32(block) };
  return [other, ...subjects('arena', allocate), ...subjects('ordinary', (bytes) => Buffer.alloc(bytes))];
}

function paritySubjects(): Subject[] {
  return [
    ['arena', shardsFrom(allocate)] as const,
    ['ordinary', shardsFrom((bytes) => Buffer.alloc(bytes))] as const,
  ].flatMap(([place, shards]) => {
    const [first, second] = shards as [Buffer, Buffer];
    const [p, q] = shards.slice(-2) as [Buffer, Buffer];
    const small = [first, p, q].map((shard) => shard.subarray(0, BLOCK_BYTES)) as [Buffer, Buffer, Buffer];
    const stripe = DATA_SHARDS * SHARD_BYTES;
    return [
      { name: `computeParity, 8 × 64 KiB, ${place}`, bytes: stripe, run: () => computeParity(shards) },
      { name: `recover one, 8 × 64 KiB, ${place}`, bytes: stripe, run: () => recover(shards, [3]) },
      { name: `recover two, 8 × 64 KiB, ${place}`, bytes: stripe, run: () => recover(shards, [2, 5]) },
      { name: `updateParity, 64 KiB, ${place}`, bytes: SHARD_BYTES, run: () => updateParity(5, first, p, q) },
      { name: `updateParity, 4 KiB, ${place}`, bytes: BLOCK_BYTES, run: () => updateParity(5, ...small) },
      { name: `xorInto, 64 KiB, ${place}`, bytes: SHARD_BYTES, run: () => xorInto(first, second) },
    ];
  });
}

function cipherSubjects(): Subject[] {
  const xts = new Xts(randomBytes(64));
  let unit = 0;
  return [4, 64, 1024].flatMap((kibibytes) => {
    const data = filled(allocate(kibibytes * KIBIBYTE));
    // Units far apart, as random access has them: nothing is left over from the call before.
    const next = () => (unit += 4099);
    const size = kibibytes < 1024 ? `${kibibytes} KiB` : `${kibibytes / 1024} MiB`;
    return [
      { name: `Xts.encrypt, ${size}, arena`, bytes: data.length, run: () => xts.encrypt(data, next()) },
      { name: `Xts.decrypt, ${size}, arena`, bytes: data.length, run: () => xts.decrypt(data, next()) },
    ];
  });
}

/** Its speed says how many bytes are handed out in a second, which is what one would save by copying instead. */
function arenaSubject(): Subject {
  return { name: 'allocate + release, 4 KiB', bytes: BLOCK_BYTES, run: () => release(allocate(BLOCK_BYTES)) };
}

function shardsFrom(make: (bytes: number) => Buffer): Buffer[] {
  return Array.from({ length: DATA_SHARDS + 2 }, () => filled(make(SHARD_BYTES)));
}

function filled(buffer: Buffer): Buffer {
  randomBytes(buffer.length).copy(buffer);
  return buffer;
}

function measure({ bytes, run }: Subject): number {
  const batch = Math.max(1, Math.round(SHARD_BYTES / bytes));
  const start = process.hrtime.bigint();
  const end = start + BigInt(ROUND_MS) * 1_000_000n;
  let runs = 0;
  let now = start;
  for (; now < end; now = process.hrtime.bigint()) {
    for (let index = 0; index < batch; index += 1) run();
    runs += batch;
  }
  return (runs * bytes) / Number(now - start);
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}

if (import.meta.main) {
  for (const { name, gigabytesPerSecond, ratioToCopy } of benchKernels()) {
    const speed = gigabytesPerSecond.toFixed(2).padStart(8);
    process.stdout.write(`${name.padEnd(40)} ${speed} GB/s ${ratioToCopy.toFixed(2).padStart(7)} of copy\n`);
  }
}
