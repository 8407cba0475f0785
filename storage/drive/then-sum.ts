import { checksumBlocks } from '../kernels/index.ts';
import type { Done } from '../units.ts';
import type { Drive } from './drive.ts';

/** Stores the checksum of each block in `sums` once the read or write is done: for drives without `readSummed`. */
export function thenSum(done: Done, bytes: Buffer, sums: Uint32Array): Done {
  if (done !== undefined) return done.then(() => checksumBlocks(bytes, sums, 0));
  checksumBlocks(bytes, sums, 0);
  return undefined;
}

/** Reads, and stores the checksum of each block in `sums`. */
export function readSummed(drive: Drive, offset: number, into: Buffer, sums: Uint32Array): Done {
  return drive.large ? drive.large.readSummed(offset, into, sums) : thenSum(drive.read(offset, into), into, sums);
}
