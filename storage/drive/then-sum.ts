import { checksumBlocks } from '../kernels/index.ts';
import type { Done } from '../units.ts';

/** For drives that nobody sums for: once it is done, puts the checksum of each block into `sums`. */
export function thenSum(done: Done, bytes: Buffer, sums: Uint32Array): Done {
  if (done !== undefined) return done.then(() => checksumBlocks(bytes, sums, 0));
  checksumBlocks(bytes, sums, 0);
  return undefined;
}
