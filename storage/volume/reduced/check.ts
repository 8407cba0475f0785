import type { Reads } from '@granary/kernel/sqlite';
import { blockCountOf, containerOf, FIRST_CONTAINER, firstBlockOf, isAddress, isIndexed } from './address.ts';
import { HOLE, OPAQUE } from '../extent-map.ts';
import { BLOCKS_PER_EXTENT } from '../../units.ts';
import { Containers } from './containers.ts';
import { reducedPages } from './opening.ts';

/**
 * Checks the records of chunks against each other: every map entry refers to blocks of a container, no two chunks
 * overlap, and the index counts as many owners of each shared chunk as there are map entries. Returns at most
 * `problemsMax` findings.
 */
export function checkReduced(database: Reads, problemsMax = 100): string[] {
  const problems: string[] = [];
  const report = (problem: string): void => {
    if (problems.length < problemsMax) problems.push(problem);
  };
  const containers = new Containers(() => false);
  const ids = database.iterate<{ id: number; extent: number }>('SELECT id, extent FROM containers');
  for (const { id, extent } of ids) {
    if (!containers.restore(id, extent)) report(`container ${id} has no id a container can have`);
  }
  checkOwners(database, checkEntries(database, containers, report), report);
  return problems;
}

/** Returns the number of entries that refer to each chunk in the index. */
function checkEntries(database: Reads, containers: Containers, report: (problem: string) => void): Map<number, number> {
  const owners = new Map<number, number>();
  for (const { entries } of reducedPages(database)) {
    for (const entry of entries) {
      if (entry === HOLE || entry === OPAQUE) continue;
      const known = owners.get(entry) ?? 0;
      if (isAddress(entry) && isIndexed(entry)) owners.set(entry, known + 1);
      if (known === 0) checkPlace(containers, entry, report);
    }
  }
  return owners;
}

function checkPlace(containers: Containers, entry: number, report: (problem: string) => void): void {
  if (!isAddress(entry) || !Number.isSafeInteger(entry)) {
    report(`entry ${entry} of a map is no address of a chunk`);
    return;
  }
  const place = `the chunk at block ${firstBlockOf(entry)} of container ${containerOf(entry) - FIRST_CONTAINER}`;
  if (containers.extentOf(containerOf(entry)) === undefined) report(`${place} is in no container`);
  else if (firstBlockOf(entry) + blockCountOf(entry) > BLOCKS_PER_EXTENT) report(`${place} leaves its container`);
  else if (!containers.name(entry)) report(`${place} overlaps another`);
}

function checkOwners(database: Reads, owners: Map<number, number>, report: (problem: string) => void): void {
  const rows = database.iterate<{ address: number; owners: number }>('SELECT address, owners FROM shared_chunks');
  for (const row of rows) {
    const seen = owners.get(row.address) ?? 0;
    if (seen !== row.owners) report(`the chunk at ${row.address} has ${seen} owners, the index says ${row.owners}`);
    owners.delete(row.address);
  }
  for (const address of owners.keys()) report(`the chunk at ${address} is not in the index`);
}
