/**
 * The sizes everything below an array is measured in. A sector is the smallest unit a drive writes atomically; a block
 * is what a checksum covers and what is read and written at once; an extent is what a pool hands out. A region, which
 * one page of checksums and one bit of the write-intent log cover, depends on the format of the RAID group.
 */
export const SECTOR_BYTES = 512;
export const BLOCK_BYTES = 4096;
export const EXTENT_BYTES = 256 * 1024;

export const BLOCKS_PER_EXTENT = EXTENT_BYTES / BLOCK_BYTES;

/**
 * The answer of anything that reads or writes bytes: `undefined` when it is done already, which spares the fast path a
 * promise and a turn of the event loop. `await` takes both. A failure is thrown or rejected, so await inside a `try`.
 */
export type Done = Promise<void> | undefined;
