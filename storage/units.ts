/**
 * The three sizes everything below an array is measured in. A block is what a checksum covers and what is read and
 * written at once; a region is what one page of checksums and one bit of the write-intent log cover; an extent is what
 * a pool hands out.
 */
export const BLOCK_BYTES = 4096;
export const REGION_BYTES = 4 * 1024 * 1024;
export const EXTENT_BYTES = 256 * 1024;

export const BLOCKS_PER_EXTENT = EXTENT_BYTES / BLOCK_BYTES;
export const BLOCKS_PER_REGION = REGION_BYTES / BLOCK_BYTES;

/**
 * The answer of anything that reads or writes bytes: `undefined` when it is done already, which spares the fast path a
 * promise and a turn of the event loop. `await` takes both. A failure is thrown or rejected, so await inside a `try`.
 */
export type Done = Promise<void> | undefined;
