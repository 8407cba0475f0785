import { BLOCK_BYTES, EXTENT_BYTES } from '../units.ts';
import { type Layer, stackOf } from '../volume/layers.ts';
import type { Volume } from '../volume/volume.ts';
import type { PoolSnapshots } from './pool-snapshots.ts';
import type { PoolState } from './state.ts';
import type { PoolVolumes } from './pool-volumes.ts';

/** Exact to the extent: free + used = total. */
export interface PoolUsage {
  readonly totalBytes: number;
  readonly usedBytes: number;
  readonly freeBytes: number;
  /** The sum of the volumes' sizes. */
  readonly provisionedBytes: number;
}

/**
 * Space of the volume itself, of its snapshots, and shared: layers it reads and does not own, as clones do. Shared
 * space counts for each.
 */
export interface VolumeUsage {
  readonly sizeBytes: number;
  readonly ownBytes: number;
  readonly snapshotBytes: number;
  readonly sharedBytes: number;
  /** Stored plain, and to be reduced in the background: its reduction was switched on later. */
  readonly unreducedBytes: number;
}

export function spaceOf(state: PoolState): { readonly totalBytes: number; readonly usedBytes: number } {
  const { totalExtents, usedExtents } = state.extents.allocator;
  return { totalBytes: totalExtents * EXTENT_BYTES, usedBytes: usedExtents * EXTENT_BYTES };
}

export function usageOf(state: PoolState, volumes: PoolVolumes): PoolUsage {
  const { totalBytes, usedBytes } = spaceOf(state);
  return {
    totalBytes,
    usedBytes,
    freeBytes: totalBytes - usedBytes,
    provisionedBytes: volumes.list().reduce((sum, volume) => sum + volume.sizeBytes, 0),
  };
}

export function volumeUsageOf(volume: Volume, snapshots: PoolSnapshots): VolumeUsage {
  const frozen = new Set(snapshots.list(volume.id).map(({ layer }) => layer));
  const others = stackOf(volume.layer.parent).filter((layer) => !frozen.has(layer));
  return {
    sizeBytes: volume.sizeBytes,
    ownBytes: volume.layer.ownedBlocks * BLOCK_BYTES,
    snapshotBytes: blocksOf(frozen) * BLOCK_BYTES,
    sharedBytes: blocksOf(others) * BLOCK_BYTES,
    unreducedBytes: blocksOf(unreducedLayers(volume.layer)) * BLOCK_BYTES,
  };
}

/** Plain layers that are converted into the reduced ones above them; what snapshots and clones refer to is not. */
function* unreducedLayers(top: Layer): Generator<Layer> {
  if (top.format === 'plain') return;
  for (let layer = top.parent; layer; layer = layer.parent) {
    if (layer.format === 'reduced') continue;
    if (!layer.isUnreferenced) return;
    yield layer;
  }
}

function blocksOf(layers: Iterable<Layer>): number {
  let blocks = 0;
  for (const layer of layers) blocks += layer.ownedBlocks;
  return blocks;
}
