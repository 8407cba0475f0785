import { StorageError } from '../../errors.ts';
import type { Database } from '../../metadata/database.ts';
import { containerOf, isAddress, isIndexed } from './address.ts';
import type { ChunkSpace } from './chunk-space.ts';
import type { Totals } from './reduction.ts';

/** Which blocks of containers are taken follows from the maps alone. They are read page by page without keeping them. */
export function openContainers(database: Database, space: ChunkSpace, totals: Totals): void {
  const { containers } = space;
  for (const { id, extent } of database.iterate<{ id: number; extent: number }>('SELECT id, extent FROM containers')) {
    if (!containers.restore(id, extent)) throw damaged(`Container ${id} is not possible`);
  }
  containers.collectSpareSlots();
  for (const entries of reducedPages(database)) {
    for (const entry of entries) {
      if (!isAddress(entry)) continue;
      claim(space, entry);
      totals.add(entry);
    }
  }
  space.removeUnused();
}

/** The entries of each page of a reduced map that is on disk. */
export function* reducedPages(database: Database): Generator<Float64Array> {
  const pages = database.iterate<{ entries: Uint8Array }>(
    "SELECT entries FROM maps JOIN layers ON layers.id = maps.layer WHERE layers.format = 'reduced'",
  );
  // In memory of their own: what SQLite returns may lie anywhere.
  for (const { entries } of pages) yield new Float64Array(entries.slice().buffer);
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
