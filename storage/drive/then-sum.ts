import { checksumBlocks } from '../kernels/index.ts';
import type { Done } from '../units.ts';
import type { Drive } from './drive.ts';

/** For drives that nobody sums for: once it is done, puts the checksum of each block into `sums`. */
export function thenSum(done: Done, bytes: Buffer, sums: Uint32Array): Done {
  if (done !== undefined) return done.then(() => checksumBlocks(bytes, sums, 0));
  checksumBlocks(bytes, sums, 0);
  return undefined;
}

/** Reads, and puts the checksum of each block into `sums`. */
export function readSummed(drive: Drive, offset: number, into: Buffer, sums: Uint32Array): Done {
  return drive.large ? drive.large.readSummed(offset, into, sums) : thenSum(drive.read(offset, into), into, sums);
}
