import { BLOCK_BYTES } from '../units.ts';
import type { Time } from './files/inode.ts';
import type { FormatOptions } from './store/format.ts';
import type { FilesystemStore } from './store/filesystem-store.ts';

export interface NewFilesystem extends FormatOptions {
  /** Of the root directory. */
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly now?: () => Time;
}

export interface MountOptions {
  /** How much memory the metadata may take. */
  readonly cacheBytes?: number;
  readonly now?: () => Time;
  /** Whether reading a file changes its time of access; asked each time. */
  readonly updatesAccessTimes?: () => boolean;
}

export interface FilesystemStatistics {
  readonly blockBytes: number;
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** What files can have: free space without what the filesystem keeps for itself. */
  readonly availableBytes: number;
  readonly inodes: number;
}

export function statisticsOf(store: FilesystemStore): FilesystemStatistics {
  const { totalBlocks, allocatedBlocks } = store.space;
  const free = totalBlocks - allocatedBlocks;
  return {
    blockBytes: BLOCK_BYTES,
    totalBytes: totalBlocks * BLOCK_BYTES,
    freeBytes: free * BLOCK_BYTES,
    availableBytes: Math.max(free - store.reserveBlocks, 0) * BLOCK_BYTES,
    inodes: store.inodes,
  };
}

/** The clock of those who bring none. */
export function present(): Time {
  const milliseconds = performance.timeOrigin + performance.now();
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds, nanoseconds: Math.floor((milliseconds - seconds * 1000) * 1e6) };
}
