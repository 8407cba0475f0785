import type { Reads } from '@granary/kernel/sqlite';
import { StorageError } from '../../errors.ts';
import type { Layers } from '../layers.ts';
import { blockCountOf, containerOf, isAddress, isIndexed } from './address.ts';
import type { ChunkSpace } from './chunk-space.ts';
import type { ReductionTotals } from './reduction.ts';

/** Derives the allocated blocks of containers from the maps alone. Maps are read page by page without keeping them. */
export function openContainers(database: Reads, space: ChunkSpace, totals: ReductionTotals, layers: Layers): void {
  const { containers } = space;
  for (const { id, extent } of database.iterate<{ id: number; extent: number }>('SELECT id, extent FROM containers')) {
    if (!containers.restore(id, extent)) throw damaged(`Container ${id} is not possible`);
  }
  containers.collectSpareSlots();
  for (const { layer, entries } of reducedPages(database)) {
    let blocks = 0;
    for (const entry of entries) {
      if (!isAddress(entry)) continue;
      claim(space, entry);
      totals.add(entry);
      blocks += blockCountOf(entry);
    }
    layers.get(layer).addOwned(blocks);
  }
  space.removeUnused();
}

/** The entries of each page of a reduced map that is on disk. */
export function* reducedPages(database: Reads): Generator<{ layer: number; entries: Float64Array }> {
  const pages = database.iterate<{ layer: number; entries: Uint8Array }>(
    "SELECT maps.layer, entries FROM maps JOIN layers ON layers.id = maps.layer WHERE layers.format = 'reduced'",
  );
  // Copied: the memory that SQLite returns may be unaligned.
  for (const { layer, entries } of pages) yield { layer, entries: new Float64Array(entries.slice().buffer) };
}

function claim({ containers }: ChunkSpace, address: number): void {
  if (containers.extentOf(containerOf(address)) === undefined) {
    throw damaged(`The chunk at ${address} lies in no container`);
  }
  if (isIndexed(address) && containers.isNamed(address)) return;
  if (!containers.name(address)) throw damaged(`Blocks of the chunk at ${address} are named twice`);
}

function damaged(what: string): StorageError {
  return new StorageError('invalid', `${what}; run the check of the pool.`);
}
