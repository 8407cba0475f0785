import { StorageError } from '../errors.ts';
import type { Database } from '../metadata/database.ts';
import { extentOf } from '../volume/extent-map.ts';
import type { Allocator } from './allocator.ts';

/**
 * Which extents are taken follows from the maps and from nothing else, so it cannot disagree with them. Maps are read
 * page by page without keeping them.
 */
export function claimExtents(database: Database, allocator: Allocator): void {
  const pages = database.iterate<{ entries: Uint8Array }>(
    "SELECT entries FROM maps JOIN layers ON layers.id = maps.layer WHERE layers.format = 'plain'",
  );
  for (const { entries } of pages) {
    for (const entry of new Uint32Array(entries.slice().buffer)) {
      if (extentOf(entry) !== 0) claim(allocator, extentOf(entry));
    }
  }
  for (const { extent } of database.iterate<{ extent: number }>('SELECT extent FROM containers')) {
    claim(allocator, extent);
  }
}

function claim(allocator: Allocator, extent: number): void {
  if (allocator.find(extent)?.claim(extent) === true) return;
  throw new StorageError('invalid', `Extent ${extent} is named twice or lies on no group; run the check of the pool.`);
}
