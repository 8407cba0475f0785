import { BLOCK_BYTES } from '../units.ts';
import { EXTENTS_PER_PAGE, HOLE, isOpaque, type ExtentMapPage } from './extent-map.ts';
import type { LayerFormat } from './format.ts';
import { type Layer, stackOf } from './layers.ts';

/** A range of a volume that may differ; `mapped` is whether the newer side holds data there. */
export interface ChangedRange {
  readonly offset: number;
  readonly length: number;
  readonly mapped: boolean;
}

/** Longer ranges are split, so that each step is short. */
const RANGE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * The ranges to copy so that a copy of `from` becomes a copy of `to`, by offset: everything that the layers between the
 * two hold. Without `from`, everything `to` holds. Begins at an offset.
 */
export function* difference(
  format: LayerFormat,
  from: Layer | undefined,
  to: Layer,
  startOffset = 0,
): Generator<ChangedRange> {
  const layers = layersBetween(from, to);
  const startBlock = Math.ceil(startOffset / BLOCK_BYTES);
  const firstIndex = Math.floor(startOffset / (EXTENTS_PER_PAGE * format.entryBytes));
  const indexes = new Set(
    layers.flatMap((layer) => [...layer.map.pages.keys()]).filter((index) => index >= firstIndex),
  );
  let open: { offset: number; length: number; mapped: boolean } | undefined;
  for (const index of [...indexes].sort((a, b) => a - b)) {
    const pages = layers.map((layer) => layer.map.pages.get(index)).filter((page) => page !== undefined);
    for (const block of changedBlocks(format, index, pages)) {
      if (block < startBlock) continue;
      const offset = block * BLOCK_BYTES;
      const mapped = format.isMapped(to, block);
      const goesOn = open?.mapped === mapped && open.offset + open.length === offset;
      if (open && goesOn && open.length < RANGE_BYTES_MAX) {
        open.length += BLOCK_BYTES;
        continue;
      }
      if (open) yield open;
      open = { offset, length: BLOCK_BYTES, mapped };
    }
  }
  if (open) yield open;
}

/** The layers above the nearest common ancestor. */
function layersBetween(from: Layer | undefined, to: Layer): Layer[] {
  const below = new Set(stackOf(from));
  const above = new Set(stackOf(to));
  return [...[...above].filter((layer) => !below.has(layer)), ...[...below].filter((layer) => !above.has(layer))];
}

function* changedBlocks(format: LayerFormat, index: number, pages: readonly ExtentMapPage[]): Generator<number> {
  const blocksPerEntry = format.entryBytes / BLOCK_BYTES;
  for (let slot = 0; slot < EXTENTS_PER_PAGE; slot++) {
    const holders = pages.filter((page) => (page.entries[slot] ?? HOLE) !== HOLE);
    if (holders.length === 0) continue;
    const first = (index * EXTENTS_PER_PAGE + slot) * blocksPerEntry;
    for (let block = 0; block < blocksPerEntry; block++) {
      if (holders.some((page) => changes(page, slot, block))) yield first + block;
    }
  }
}

/** An opaque entry hides lower layers in all of its blocks. */
function changes(page: ExtentMapPage, slot: number, block: number): boolean {
  const entry = page.entries[slot] ?? HOLE;
  return isOpaque(entry) || page.hasBlock(slot, block);
}
