import { allocate, release } from '../kernels/index.ts';
import type { PoolCommits } from '../metadata/pool-commits.ts';
import { BLOCK_BYTES, BLOCKS_PER_EXTENT, type Done } from '../units.ts';
import { countBlocks, extentOf, HOLE, isOpaque, type ExtentMapPage, OPAQUE, PAGE_MASK, runsOf } from './extent-map.ts';
import type { ExtentStore } from './format.ts';
import type { Layer } from './layers.ts';

interface Entry {
  readonly layer: Layer;
  readonly page: ExtentMapPage;
  readonly slot: number;
  readonly extent: number;
  readonly opaque: boolean;
}

/**
 * See `LayerFormat.mergeEntry`. Copies the smaller part: what only the lower layer has up, or what the upper has down.
 */
export function mergeEntry(store: ExtentStore, commits: PoolCommits, lower: Layer, upper: Layer, number: number): Done {
  const below = entryOf(lower, number);
  const above = entryOf(upper, number);
  if (!below || !above || above.opaque || above.page.isWhole(above.slot)) return undefined;
  if (below.extent === 0) {
    put(above, above.extent, true, above.page.lowBits(above.slot), above.page.highBits(above.slot));
    commits.pageChanged(above.layer.id, above.page);
    return undefined;
  }
  const onlyBelow = countBlocks(
    below.page.lowBits(below.slot) & ~above.page.lowBits(above.slot),
    below.page.highBits(below.slot) & ~above.page.highBits(above.slot),
  );
  const heldAbove = countBlocks(above.page.lowBits(above.slot), above.page.highBits(above.slot));
  return onlyBelow <= heldAbove ? copyUp(store, commits, below, above) : copyDown(store, commits, below, above);
}

/** See `LayerFormat.relocateEntry`. */
export function relocateEntry(store: ExtentStore, commits: PoolCommits, layer: Layer, number: number): Done {
  const entry = entryOf(layer, number);
  if (!entry || entry.extent === 0) return undefined;
  return relocate(store, commits, entry);
}

async function relocate(store: ExtentStore, commits: PoolCommits, entry: Entry): Promise<void> {
  const { layer, page, slot, extent } = entry;
  const target = store.allocate() ?? (await store.reclaim());
  try {
    for (const run of [...runsOf(page, slot, 0, BLOCKS_PER_EXTENT)].filter(({ held }) => held)) {
      await copyBlocks(store, extent, target, run.from, run.to);
    }
  } catch (error) {
    store.retire(target);
    throw error;
  }
  put(entry, target, entry.opaque, page.lowBits(slot), page.highBits(slot));
  store.retire(extent);
  commits.pageChanged(layer.id, page);
}

async function copyUp(store: ExtentStore, commits: PoolCommits, below: Entry, above: Entry): Promise<void> {
  for (const run of [...runsOf(below.page, below.slot, 0, BLOCKS_PER_EXTENT)].filter(({ held }) => held)) {
    for (const gap of [...runsOf(above.page, above.slot, run.from, run.to)].filter(({ held }) => !held)) {
      await copyBlocks(store, below.extent, above.extent, gap.from, gap.to);
      above.page.addBlocks(above.slot, gap.from, gap.to);
    }
  }
  put(above, above.extent, below.opaque, above.page.lowBits(above.slot), above.page.highBits(above.slot));
  commits.pageChanged(above.layer.id, above.page);
}

async function copyDown(store: ExtentStore, commits: PoolCommits, below: Entry, above: Entry): Promise<void> {
  for (const run of [...runsOf(above.page, above.slot, 0, BLOCKS_PER_EXTENT)].filter(({ held }) => held)) {
    await copyBlocks(store, above.extent, below.extent, run.from, run.to);
  }
  const low = below.page.lowBits(below.slot) | above.page.lowBits(above.slot);
  const high = below.page.highBits(below.slot) | above.page.highBits(above.slot);
  // Both maps change in the same turn, so they are in the same commit.
  below.layer.map.set(below.page, below.slot, HOLE);
  put(above, below.extent, below.opaque, low, high);
  commits.pageChanged(below.layer.id, below.page);
  commits.pageChanged(above.layer.id, above.page);
  store.retire(above.extent);
}

function put(entry: Entry, extent: number, opaque: boolean, low: number, high: number): void {
  entry.layer.map.set(entry.page, entry.slot, opaque ? (extent | OPAQUE) >>> 0 : extent, low, high);
}

/** Copies blocks unchanged: a cipher's tweak is the block's place in the volume, which stays the same. */
async function copyBlocks(store: ExtentStore, from: number, to: number, first: number, end: number): Promise<void> {
  const buffer = allocate((end - first) * BLOCK_BYTES);
  try {
    await store.read(from, first * BLOCK_BYTES, buffer);
    await store.write(to, first * BLOCK_BYTES, buffer);
  } finally {
    release(buffer);
  }
}

function entryOf(layer: Layer, number: number): Entry | undefined {
  const page = layer.map.pageOf(number);
  const slot = number & PAGE_MASK;
  const entry = page?.entries[slot] ?? HOLE;
  if (!page || entry === HOLE) return undefined;
  return { layer, page, slot, extent: extentOf(entry), opaque: isOpaque(entry) };
}
