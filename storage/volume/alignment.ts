import { StorageError } from '../errors.ts';
import { allocate, release } from '../kernels/index.ts';
import { BLOCK_BYTES } from '../units.ts';
import type { LayerFormat, LayerView } from './format.ts';

const SECTOR_BYTES = 512;

export function checkRange(offset: number, length: number, sizeBytes: number): void {
  const whole = offset % SECTOR_BYTES === 0 && length % SECTOR_BYTES === 0;
  if (whole && offset >= 0 && offset + length <= sizeBytes) return;
  throw new StorageError('invalid', `${length} bytes at ${offset} are not whole sectors within ${sizeBytes} bytes`);
}

/** The offsets of blocks the range covers only in part: none, one or two. */
export function edgesOf(offset: number, length: number): number[] {
  const end = offset + length;
  const first = Math.floor(offset / BLOCK_BYTES) * BLOCK_BYTES;
  const last = Math.floor((end - 1) / BLOCK_BYTES) * BLOCK_BYTES;
  const edges: number[] = [];
  if (first < offset || end < first + BLOCK_BYTES) edges.push(first);
  if (last !== first && end < last + BLOCK_BYTES) edges.push(last);
  return edges;
}

export async function readUnaligned(format: LayerFormat, view: LayerView, offset: number, into: Buffer): Promise<void> {
  const start = Math.floor(offset / BLOCK_BYTES) * BLOCK_BYTES;
  const end = Math.ceil((offset + into.length) / BLOCK_BYTES) * BLOCK_BYTES;
  const whole = allocate(end - start);
  try {
    await format.read(view, start, whole);
    whole.copy(into, 0, offset - start);
  } finally {
    release(whole);
  }
}
