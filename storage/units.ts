/**
 * The units of everything below an array. A sector is the smallest unit a drive writes atomically. A block is the unit
 * of checksums, reads and writes. An extent is the unit of allocation in a pool. The size of a region, which one page
 * of checksums and one bit of the write-intent log cover, depends on the format of the RAID group.
 */
export const SECTOR_BYTES = 512;
export const BLOCK_BYTES = 4096;
export const EXTENT_BYTES = 256 * 1024;

export const BLOCKS_PER_EXTENT = EXTENT_BYTES / BLOCK_BYTES;

/**
 * The result of a read or write: `undefined` when it is done already, which saves the fast path a promise and a turn of
 * the event loop. `await` accepts both. A failure is thrown or rejected, so await inside a `try`.
 */
export type Done = Promise<void> | undefined;
