import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';
import type { Volume } from '../volume/volume.ts';
import type { Snapshots } from './snapshots.ts';
import type { PoolState } from './state.ts';
import type { Volumes } from './volumes.ts';

/** Exact to the extent: free + used = total. */
export interface PoolUsage {
  readonly totalBytes: number;
  readonly usedBytes: number;
  readonly freeBytes: number;
  /** The sum of what volumes promise. */
  readonly provisionedBytes: number;
}

/** Space that belongs to the volume itself, and to the snapshots below it. Chunks that several share count for each. */
export interface VolumeUsage {
  readonly sizeBytes: number;
  readonly ownBytes: number;
  readonly snapshotBytes: number;
}

export function spaceOf(state: PoolState): { readonly totalBytes: number; readonly usedBytes: number } {
  const { totalExtents, usedExtents } = state.extents.allocator;
  return { totalBytes: totalExtents * EXTENT_BYTES, usedBytes: usedExtents * EXTENT_BYTES };
}

export function usageOf(state: PoolState, volumes: Volumes): PoolUsage {
  const { totalBytes, usedBytes } = spaceOf(state);
  return {
    totalBytes,
    usedBytes,
    freeBytes: totalBytes - usedBytes,
    provisionedBytes: volumes.list().reduce((sum, volume) => sum + volume.sizeBytes, 0),
  };
}

export function volumeUsageOf(volume: Volume, snapshots: Snapshots): VolumeUsage {
  const frozen = snapshots.list(volume.id).reduce((sum, { layer }) => sum + layer.ownedBlocks, 0);
  return {
    sizeBytes: volume.sizeBytes,
    ownBytes: volume.layer.ownedBlocks * BLOCK_BYTES,
    snapshotBytes: frozen * BLOCK_BYTES,
  };
}
