import { setImmediate } from 'node:timers/promises';
import { BLOCK_BYTES, BLOCKS_PER_EXTENT } from '../units.ts';
import { EXTENTS_PER_PAGE, isData, isOpaque } from './extent-map.ts';
import { type Layer, stackOf } from './layers.ts';
import { BLOCKS_PER_CHUNK, blockCountOf } from './reduced/address.ts';
import { CHUNKS_PER_EXTENT } from './reduced/plain-below.ts';

/** A page of a layer has 256 entries: this number takes far less than a millisecond. */
const PAGES_PER_TURN = 64;

/**
 * The bytes that a volume maps, over all its layers: overwritten data counts once, discarded data not at all. Reads the
 * maps of all layers page by page and yields in between; concurrent changes may be missed.
 */
export async function shownBytes(top: Layer): Promise<number> {
  const indices = new Set(stackOf(top).flatMap((layer) => pageIndices(layer, top)));
  let blocks = 0;
  let pages = 0;
  for (const index of indices) {
    const stack = stackOf(top);
    blocks += shownInPage(stack, index);
    pages += stack.length;
    if (pages < PAGES_PER_TURN) continue;
    pages = 0;
    await setImmediate();
  }
  return blocks * BLOCK_BYTES;
}

/** Pages of the top layer: one of a plain layer below reduced ones spans several. */
function pageIndices({ format, map }: Layer, top: Layer): number[] {
  const indices = [...map.pages.keys()];
  if (format === top.format) return indices;
  return indices.flatMap((index) =>
    Array.from({ length: CHUNKS_PER_EXTENT }, (_, chunk) => index * CHUNKS_PER_EXTENT + chunk),
  );
}

function shownInPage(stack: readonly Layer[], index: number): number {
  let blocks = 0;
  for (let slot = 0; slot < EXTENTS_PER_PAGE; slot += 1) {
    const number = index * EXTENTS_PER_PAGE + slot;
    for (const { format, map } of stack) {
      const isBelow = format !== stack[0]?.format;
      const entry = map.get(isBelow ? Math.floor(number / CHUNKS_PER_EXTENT) : number);
      if (isData(entry))
        blocks += format === 'reduced' ? blockCountOf(entry) : isBelow ? BLOCKS_PER_CHUNK : BLOCKS_PER_EXTENT;
      if (isData(entry) || isOpaque(entry)) break;
    }
  }
  return blocks;
}
