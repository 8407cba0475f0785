import type { BlockDevice } from '../../block-device.ts';
import { allocate, checksum, release } from '../../kernels/index.ts';
import { BLOCK_BYTES } from '../../units.ts';
import type { Run } from './space-map-page.ts';

/** The checksum of blocks that a batch refers to. Runs are at most as long as a write that is checked this way. */
export interface DataCheck extends Run {
  readonly sum: number;
}

/** Larger writes are flushed before their batch: computing the checksum would cost more than it saves. */
export const CHECKED_BYTES_MAX = 256 * 1024;

const SEED = 0x64617461;

export function sumOf(data: Buffer): number {
  return checksum(data, 0, data.length, SEED);
}

export function overlapsAny(runs: readonly Run[], start: number, count: number): boolean {
  return runs.some((run) => run.start < start + count && start < run.start + run.count);
}

/** Whether the blocks match their checksum. Unreadable blocks were written; repairing them is up to the layer below. */
export async function holds(device: BlockDevice, { start, count, sum }: DataCheck): Promise<boolean> {
  const data = allocate(count * BLOCK_BYTES);
  try {
    await device.read(start * BLOCK_BYTES, data);
    return sumOf(data) === sum;
  } catch {
    return true;
  } finally {
    release(data);
  }
}
