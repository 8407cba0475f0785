import assert from 'node:assert/strict';
import { BLOCK_BYTES } from '../units.ts';
import { isInArena } from './arena.ts';
import { CHECKSUMS_AT, CHECKSUMS_MAX, kernels, memoryBuffer, SCRATCH_AT } from './instance.ts';

/** A piece is small enough that what was copied to scratch is still in the processor's cache when it is read. */
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
