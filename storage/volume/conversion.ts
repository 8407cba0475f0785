import assert from 'node:assert/strict';
import { entriesOf, HOLE, isOpaque, PAGE_MASK } from './extent-map.ts';
import type { FoldingHost } from './fold.ts';
import type { LayerWriter } from './format.ts';
import type { Layer } from './layers.ts';
import { CHUNKS_PER_EXTENT } from './reduced/plain-below.ts';
import { BLOCKS_PER_EXTENT } from '../units.ts';

/**
 * Conversion: how a volume that was made plain becomes reduced.
 *
 *     volume v ──► L3 plain              volume v ──► L4 reduced  ◄─ new writes
 *                  │                                  │
 *     snapshot s1 ►L1 plain                           L3 plain, without a name: converted into L4
 *                                                     │
 *                                        snapshot s1 ►L1 plain, as long as s1 is there
 *
 * Switching reduction on freezes the top layer, like a snapshot without a name, and lays a reduced one over it. A read
 * goes down the reduced layers chunk by chunk, and from there through the plain ones block by block. The frozen layer
 * is unreferenced, so it is folded; folding a plain layer into a reduced one is the conversion: extent by extent, what
 * shows through is read, written reduced, and then the plain extent is given up. When a snapshot goes later, its plain
 * layer is converted in the same way.
 *
 * A crash, step by step:
 *
 * 1. Before the commit of the new layer: the volume is plain, and reduction was not acknowledged. After it: the next open
 *    finds L3 unreferenced, and converts it.
 * 2. Some chunks of an extent are in L4: they hold the same bytes as L3. Either is read, whichever map is on disk.
 * 3. All of them are, and L3 has given up the extent: both changes were made in one turn or L4's before, so no commit
 *    has the second without the first. The extent is reused after that commit.
 * 4. L3 is empty: its row goes. Crash before: an empty layer is converted, which removes it.
 *
 * Invariants:
 * - No plain layer lies over a reduced one.
 * - What a volume or snapshot shows is the same before and after each step.
 */

/** Between two steps, other background work of the pool has its turn. */
const EXTENTS_PER_STEP = 256;

/** Converts some of the plain layer `lower`, which only `upper` refers to. Returns the layers that may be folded next. */
export async function convertInto(host: FoldingHost, lower: Layer, upper: Layer): Promise<Layer[]> {
  assert.ok(lower.format === 'plain' && upper.format === 'reduced', 'a reduced layer is never below a plain one');
  const { reader, tops } = findReader(upper);
  // Nothing reads them any more: the layers above go first, and `lower` after them.
  if (!reader) return tops;
  const writer = host.writerOf(reader);
  // Unlocking the volume starts it again.
  if (!writer) return [];
  const indexes = new Set<number>();
  for (const { number, index } of firstEntries(lower)) {
    if (host.isClosing()) break;
    await convertExtent(host, lower, upper, number, writer);
    indexes.add(index);
  }
  await host.commits.commitDeletion();
  for (const index of indexes) forgetPage(lower, index);
  if (!entriesOf(lower.map).next().done) return [lower];
  const { parent } = lower;
  host.layers.remove(lower);
  await host.commits.commitDeletion();
  return parent ? [parent, upper] : [upper];
}

/** The layer or one above it that a volume or snapshot refers to; without one, the tops above it. */
function findReader(layer: Layer): { reader: Layer | undefined; tops: Layer[] } {
  const tops: Layer[] = [];
  const open = [layer];
  for (let at = open.pop(); at; at = open.pop()) {
    if (at.isNamed) return { reader: at, tops };
    if (at.isTop) tops.push(at);
    open.push(...at.children);
  }
  return { reader: undefined, tops };
}

function firstEntries(layer: Layer): { number: number; index: number }[] {
  const first: { number: number; index: number }[] = [];
  for (const { number, page } of entriesOf(layer.map)) {
    first.push({ number, index: page.index });
    if (first.length >= EXTENTS_PER_STEP) break;
  }
  return first;
}

async function convertExtent(
  host: FoldingHost,
  lower: Layer,
  upper: Layer,
  number: number,
  writer: LayerWriter,
): Promise<void> {
  const convert = async (): Promise<void> => {
    await host.reduced.absorb(lower, upper, number, writer);
    giveUp(host, lower, upper, number);
  };
  // On a volume's top layer, writers must be excluded from the extent meanwhile.
  const volume = host.volumeOf(upper);
  await (volume ? volume.lock.run(number * BLOCKS_PER_EXTENT, (number + 1) * BLOCKS_PER_EXTENT, convert) : convert());
}

/** In one turn: `upper` hides what the entry hid, and the entry goes. */
function giveUp(host: FoldingHost, lower: Layer, upper: Layer, number: number): void {
  const page = lower.map.makePage(number);
  const entry = page.entries[number & PAGE_MASK] ?? HOLE;
  if (isOpaque(entry) && lower.parent) {
    for (let chunk = number * CHUNKS_PER_EXTENT; chunk < (number + 1) * CHUNKS_PER_EXTENT; chunk++) {
      if (upper.map.get(chunk) === HOLE) host.reduced.hide(upper, chunk);
    }
  }
  lower.map.set(page, number & PAGE_MASK, HOLE);
  host.formatOf(lower).release(entry);
  host.commits.pageChanged(lower.id, page);
}

/** An empty page that is written: without it, the next step need not pass over it. */
function forgetPage({ map }: Layer, index: number): void {
  const page = map.pages.get(index);
  if (page?.used === 0 && !page.dirty) map.pages.delete(index);
}
