import type { Database } from '@granary/kernel/sqlite';
import { StorageError } from '../errors.ts';
import { BLOCKS_PER_EXTENT } from '../units.ts';
import { extentOf } from '../volume/extent-map.ts';
import type { Layers } from '../volume/layers.ts';
import type { Allocator } from './allocator.ts';

/**
 * Derives the allocated extents from the maps alone, so that allocator and maps cannot disagree. Reads maps page by
 * page without keeping them.
 */
export function claimExtents(database: Database, allocator: Allocator, layers: Layers): void {
  const pages = database.iterate<{ layer: number; entries: Uint8Array }>(
    "SELECT maps.layer, entries FROM maps JOIN layers ON layers.id = maps.layer WHERE layers.format = 'plain'",
  );
  for (const { layer, entries } of pages) {
    let owned = 0;
    for (const entry of new Uint32Array(entries.slice().buffer)) {
      if (extentOf(entry) === 0) continue;
      claim(allocator, extentOf(entry));
      owned++;
    }
    layers.get(layer).addOwned(owned * BLOCKS_PER_EXTENT);
  }
  for (const { extent } of database.iterate<{ extent: number }>('SELECT extent FROM containers')) {
    claim(allocator, extent);
  }
}

function claim(allocator: Allocator, extent: number): void {
  if (allocator.find(extent)?.claim(extent) === true) return;
  throw new StorageError('invalid', `Extent ${extent} is named twice or lies on no group; run the check of the pool.`);
}
