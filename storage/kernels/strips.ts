import { isInArena } from './arena.ts';
import { memoryBuffer, POINTERS_AT, POINTERS_MAX, SCRATCH_AT, SCRATCH_BYTES } from './instance.ts';

const COLUMN_BYTES = 64;
const STRIP_BYTES_MAX = 16 * 1024;

/** Where the kernels find each shard: the list they are given as `POINTERS_AT`. */
export const pointers = new Uint32Array(memoryBuffer, POINTERS_AT, POINTERS_MAX);
const scratch = new Uint8Array(memoryBuffer, SCRATCH_AT, SCRATCH_BYTES);

export interface Strips {
  readonly shards: readonly Buffer[];
  /** The indices of the shards that `run` writes. */
  readonly written: readonly number[];
  /** Whether `run` also reads what is in them. */
  readonly keeps: boolean;
  /** Processes the next `bytes` bytes of every shard, at the addresses in `pointers`. It may change `pointers`. */
  readonly run: (bytes: number) => void;
}

/**
 * Runs a kernel over shards of equal length: in one call when all are in the arena, else in strips short enough that
 * the copies in scratch stay in the processor's cache.
 */
export function runInStrips(strips: Strips): void {
  const { shards } = strips;
  const length = shards[0]?.length ?? 0;
  if (shards.every(isInArena)) {
    for (let index = 0; index < shards.length; index += 1) pointers[index] = shards[index]?.byteOffset ?? 0;
    strips.run(length);
    return;
  }
  const share = Math.floor(SCRATCH_BYTES / shards.length / COLUMN_BYTES) * COLUMN_BYTES;
  const stride = Math.min(STRIP_BYTES_MAX, share);
  for (let from = 0; from < length; from += stride) {
    const until = Math.min(from + stride, length);
    copyIn(strips, from, until, stride);
    strips.run(until - from);
    copyOut(strips, from, until, stride);
  }
}

function copyIn({ shards, written, keeps }: Strips, from: number, until: number, stride: number): void {
  for (const [index, shard] of shards.entries()) {
    const inArena = isInArena(shard);
    pointers[index] = inArena ? shard.byteOffset + from : SCRATCH_AT + index * stride;
    if (!inArena && (keeps || !written.includes(index))) shard.copy(scratch, index * stride, from, until);
  }
}

function copyOut({ shards, written }: Strips, from: number, until: number, stride: number): void {
  for (const index of written) {
    const shard = shards[index];
    if (!shard || isInArena(shard)) continue;
    const at = index * stride;
    shard.set(scratch.subarray(at, at + until - from), from);
  }
}
