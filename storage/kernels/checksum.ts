import assert from 'node:assert/strict';
import { BLOCK_BYTES } from '../units.ts';
import { isInArena } from './arena.ts';
import { CHECKSUMS_AT, CHECKSUMS_MAX, kernels, memoryBuffer, SCRATCH_AT } from './instance.ts';

/** Small enough that data copied to scratch is still in the processor's cache when it is read. */
const PIECE_BLOCKS = 16;
const checksums = new Uint32Array(memoryBuffer, CHECKSUMS_AT, CHECKSUMS_MAX);
const scratch = new Uint8Array(memoryBuffer, SCRATCH_AT, PIECE_BLOCKS * BLOCK_BYTES);

/** Writes one checksum for each block of `data`, from `into[at]` on. No block has the checksum 0. */
export function checksumBlocks(data: Buffer, into: Uint32Array, at: number): void {
  const blocks = countBlocks(data, into, at);
  for (let first = 0; first < blocks; first += PIECE_BLOCKS) {
    const count = Math.min(PIECE_BLOCKS, blocks - first);
    computePiece(data, first, count);
    for (let index = 0; index < count; index += 1) into[at + first + index] = checksums[index] as number;
  }
}

/** The index of the first block of `data` that does not have the checksum in `expected`, from `at` on; -1 if all have. */
export function blocksMatch(data: Buffer, expected: Uint32Array, at: number): number {
  const blocks = countBlocks(data, expected, at);
  for (let first = 0; first < blocks; first += PIECE_BLOCKS) {
    const count = Math.min(PIECE_BLOCKS, blocks - first);
    computePiece(data, first, count);
    for (let index = 0; index < count; index += 1) {
      if (expected[at + first + index] !== checksums[index]) return first + index;
    }
  }
  return -1;
}

/**
 * One checksum for bytes of any number from `from` up to `until`, which starts from `seed`: the checksums of its blocks
 * of 4096 bytes, folded in order. The last block counts as if zeros followed, so lengths have to be known otherwise.
 */
export function checksum(data: Buffer, from: number, until: number, seed: number): number {
  let folded = seed;
  for (let first = from; first < until; first += scratch.length) {
    const bytes = Math.min(scratch.length, until - first);
    const count = Math.ceil(bytes / BLOCK_BYTES);
    if (bytes % BLOCK_BYTES === 0 && isInArena(data)) {
      kernels.checksums(data.byteOffset + first, count, CHECKSUMS_AT);
    } else {
      data.copy(scratch, 0, first, first + bytes);
      scratch.fill(0, bytes, count * BLOCK_BYTES);
      kernels.checksums(SCRATCH_AT, count, CHECKSUMS_AT);
    }
    for (let index = 0; index < count; index += 1) folded = fold(folded, checksums[index] as number);
  }
  return folded >>> 0;
}

/** A bijection in both arguments: a change of either checksum changes the result. */
function fold(folded: number, next: number): number {
  const mixed = Math.imul(folded ^ (folded >>> 15), 0x2c1b3c6d) ^ next;
  return Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
}

function countBlocks(data: Buffer, list: Uint32Array, at: number): number {
  const blocks = data.length / BLOCK_BYTES;
  if (!Number.isInteger(blocks)) assert.fail(`${data.length} bytes are not whole blocks of ${BLOCK_BYTES}`);
  if (!Number.isInteger(at) || at < 0 || at + blocks > list.length) {
    assert.fail(`the list of ${list.length} has no ${blocks} checksums from ${at} on`);
  }
  return blocks;
}

function computePiece(data: Buffer, first: number, count: number): void {
  const offset = first * BLOCK_BYTES;
  if (isInArena(data)) {
    kernels.checksums(data.byteOffset + offset, count, CHECKSUMS_AT);
    return;
  }
  data.copy(scratch, 0, offset, offset + count * BLOCK_BYTES);
  kernels.checksums(SCRATCH_AT, count, CHECKSUMS_AT);
}
