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
  readonly held: HeldSpace;
}

/**
 * What of the pool's space a volume is charged for, each place once over all volumes: their sum is what the pool has
 * given out. A layer is charged to the volume that it, or the first layer above it with a name, is of. Chunks may be
 * shared between layers, and their containers have gaps: volumes share that out by what their maps refer to. So bytes of
 * chunks are to be multiplied by `chunkShare`.
 */
export interface HeldSpace {
  readonly own: HeldBytes;
  readonly snapshots: HeldBytes;
}

export interface HeldBytes {
  readonly plainBytes: number;
  readonly chunkBytes: number;
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
    held: { own: heldThrough([volume.layer]), snapshots: heldThrough(frozen) },
  };
}

/** How much space of the pool a byte of a chunk takes that a map refers to. */
export function chunkShareOf({ formats }: PoolState): number {
  const { containerBytes, compressedBytes } = formats.reduced.reduction();
  return compressedBytes === 0 ? 0 : containerBytes / compressedBytes;
}

/** The layer with a name that is charged for this one; `undefined` when nothing refers to it any more. */
export function chargedFor(layer: Layer): Layer | undefined {
  let at: Layer | undefined = layer;
  while (at && !at.isNamed) at = at.firstChild;
  return at;
}

function heldThrough(named: Iterable<Layer>): HeldBytes {
  const blocks = { plain: 0, reduced: 0 };
  for (const layer of named) {
    blocks[layer.format] += layer.ownedBlocks;
    let above = layer;
    for (let at = layer.parent; at && !at.isNamed && at.firstChild === above; at = at.parent) {
      blocks[at.format] += at.ownedBlocks;
      above = at;
    }
  }
  return { plainBytes: blocks.plain * BLOCK_BYTES, chunkBytes: blocks.reduced * BLOCK_BYTES };
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

/** Nothing is left to convert; snapshots and clones may refer to plain layers. */
export function isAllReduced(top: Layer): boolean {
  return top.format === 'reduced' && unreducedLayers(top).next().done === true;
}

function blocksOf(layers: Iterable<Layer>): number {
  let blocks = 0;
  for (const layer of layers) blocks += layer.ownedBlocks;
  return blocks;
}
