import { setImmediate } from 'node:timers/promises';
import { BLOCK_BYTES, BLOCKS_PER_EXTENT } from '../units.ts';
import { EXTENTS_PER_PAGE, HOLE, isData, isOpaque } from './extent-map.ts';
import { type Layer, stackOf } from './layers.ts';
import { blockCountOf } from './reduced/address.ts';

/** A page of a layer has 256 entries: this number takes far less than a millisecond. */
const PAGES_PER_TURN = 64;

/**
 * The bytes that a volume maps, over all its layers: overwritten data counts once, discarded data not at all. Reads the
 * maps of all layers page by page and yields in between; concurrent changes may be missed.
 */
export async function shownBytes(top: Layer): Promise<number> {
  const indices = new Set(stackOf(top).flatMap((layer) => [...layer.map.pages.keys()]));
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

function shownInPage(stack: readonly Layer[], index: number): number {
  const pages = stack.flatMap((layer) => layer.map.pages.get(index) ?? []);
  const isPlain = stack[0]?.format === 'plain';
  let blocks = 0;
  for (let slot = 0; slot < EXTENTS_PER_PAGE; slot += 1) {
    for (const { entries } of pages) {
      const entry = entries[slot] ?? HOLE;
      if (isData(entry)) blocks += isPlain ? BLOCKS_PER_EXTENT : blockCountOf(entry);
      if (isData(entry) || isOpaque(entry)) break;
    }
  }
  return blocks;
}
