import { blocksMatch, checksumBlocks, clear } from '../kernels/index.ts';
import { BLOCK_BYTES } from '../units.ts';
import { NEVER_WRITTEN } from './checksums/checksum-page.ts';

export function blockOf(data: Buffer, index: number): Buffer {
  return data.subarray(index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES);
}

export function areAllWritten(entries: Uint32Array, first: number, count: number): boolean {
  for (let index = first; index < first + count; index += 1) if (entries[index] === NEVER_WRITTEN) return false;
  return true;
}

export function isNoneWritten(entries: Uint32Array, first: number, count: number): boolean {
  for (let index = first; index < first + count; index += 1) if (entries[index] !== NEVER_WRITTEN) return false;
  return true;
}

/**
 * Verifies blocks against their checksums. Blocks that were never written become zeros, whatever the drive holds there.
 * Returns the indices of damaged blocks.
 */
export function damagedBlocks(data: Buffer, entries: Uint32Array): number[] {
  const damaged: number[] = [];
  if (areAllWritten(entries, 0, entries.length) && blocksMatch(data, entries, 0) === -1) return damaged;
  for (let index = 0; index < entries.length; index += 1) {
    if (entries[index] === NEVER_WRITTEN) clear(blockOf(data, index));
    else if (blocksMatch(blockOf(data, index), entries, index) !== -1) damaged.push(index);
  }
  return damaged;
}

export function checksumsOf(data: Buffer): Uint32Array {
  const entries = new Uint32Array(data.length / BLOCK_BYTES);
  checksumBlocks(data, entries, 0);
  return entries;
}

/** Whether `sums` equals `entries` from `first` on. */
export function areEqual(sums: Uint32Array, entries: Uint32Array, first: number): boolean {
  for (let index = 0; index < sums.length; index += 1) if (sums[index] !== entries[first + index]) return false;
  return true;
}
