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
  /** The memory limit of the metadata cache. */
  readonly cacheBytes?: number;
  readonly now?: () => Time;
  /** Whether reading a file changes its access time; evaluated each time. */
  readonly updatesAccessTimes?: () => boolean;
}

export interface FilesystemStatistics {
  readonly blockBytes: number;
  readonly totalBytes: number;
  readonly freeBytes: number;
  /** Space available to files: free space without the filesystem's own reserve. */
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

/** The default clock. */
export function present(): Time {
  const milliseconds = performance.timeOrigin + performance.now();
  const seconds = Math.floor(milliseconds / 1000);
  return { seconds, nanoseconds: Math.floor((milliseconds - seconds * 1000) * 1e6) };
}
