import { setImmediate } from 'node:timers/promises';
import type { LayerFormat, LayerView } from './format.ts';
import { stackOf } from './layers.ts';
import { MapPages, pageBytesOf } from './map-pages.ts';

/** Then other requests have their turn. */
const PAGES_PER_TURN = 16;

/**
 * Discards whole blocks, a page of the map after the other. Where no layer has a page there is nothing to discard: the
 * length of the range costs nothing, what is stored in it does. The caller excludes writes to the range.
 */
export async function discardBlocks(
  format: LayerFormat,
  view: LayerView,
  offset: number,
  length: number,
): Promise<void> {
  const pageBytes = pageBytesOf(format);
  const end = offset + length;
  const pages = new MapPages(stackOf(view.layer));
  let discarded = 0;
  for (const index of pages.within(Math.floor(offset / pageBytes), Math.ceil(end / pageBytes) - 1)) {
    const from = Math.max(offset, index * pageBytes);
    await format.discard(view, from, Math.min(end, (index + 1) * pageBytes) - from);
    if (++discarded % PAGES_PER_TURN === 0) await setImmediate();
  }
}
