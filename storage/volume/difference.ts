import { BLOCK_BYTES, BLOCKS_PER_EXTENT, EXTENT_BYTES } from '../units.ts';
import { EXTENTS_PER_PAGE, HOLE, isOpaque, PAGE_MASK, type ExtentMapPage } from './extent-map.ts';
import type { LayerFormats } from './format.ts';
import { type Layer, stackOf } from './layers.ts';
import { BLOCKS_PER_CHUNK } from './reduced/address.ts';
import { CHUNKS_PER_EXTENT } from './reduced/plain-below.ts';

/** A range of a volume that may differ; `mapped` is whether the newer side holds data there. */
export interface ChangedRange {
  readonly offset: number;
  readonly length: number;
  readonly mapped: boolean;
}

/** Longer ranges are split, so that each step is short. */
const RANGE_BYTES_MAX = 64 * 1024 * 1024;
const REGION_BYTES = EXTENTS_PER_PAGE * EXTENT_BYTES;

/**
 * The ranges to copy so that a copy of `from` becomes a copy of `to`, by offset: everything that the layers between the
 * two hold. Without `from`, everything `to` holds. Begins at an offset.
 */
export function* difference(
  formats: LayerFormats,
  from: Layer | undefined,
  to: Layer,
  startOffset = 0,
): Generator<ChangedRange> {
  const layers = layersBetween(from, to);
  const startBlock = Math.ceil(startOffset / BLOCK_BYTES);
  const first = Math.floor(startOffset / REGION_BYTES);
  const indexes = new Set(layers.flatMap((layer) => regionsOf(layer)).filter((index) => index >= first));
  let open: { offset: number; length: number; mapped: boolean } | undefined;
  for (const index of [...indexes].sort((a, b) => a - b)) {
    for (const block of changedBlocks(layers, index)) {
      if (block < startBlock) continue;
      const offset = block * BLOCK_BYTES;
      const mapped = formats[to.format].isMapped(to, block);
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

/** A page of a plain layer, or as many of a reduced one as it spans. */
function regionsOf({ format, map }: Layer): number[] {
  const indexes = [...map.pages.keys()];
  return format === 'plain' ? indexes : indexes.map((index) => Math.floor(index / CHUNKS_PER_EXTENT));
}

function* changedBlocks(layers: readonly Layer[], region: number): Generator<number> {
  const first = region * EXTENTS_PER_PAGE;
  for (let extent = first; extent < first + EXTENTS_PER_PAGE; extent++) {
    const changes = layers.flatMap((layer) => changesIn(layer, extent) ?? []);
    if (changes.length === 0) continue;
    for (let block = 0; block < BLOCKS_PER_EXTENT; block++) {
      if (changes.some((isChanged) => isChanged(block))) yield extent * BLOCKS_PER_EXTENT + block;
    }
  }
}

/** Which blocks of an extent the layer holds or hides; undefined for none of them. */
function changesIn({ format, map }: Layer, extent: number): ((block: number) => boolean) | undefined {
  if (format === 'plain') {
    const page = map.pageOf(extent);
    const slot = extent & PAGE_MASK;
    if (!page || (page.entries[slot] ?? HOLE) === HOLE) return undefined;
    return (block) => changes(page, slot, block);
  }
  const first = extent * CHUNKS_PER_EXTENT;
  const page = map.pageOf(first);
  const entries = page?.entries.subarray(first & PAGE_MASK, (first & PAGE_MASK) + CHUNKS_PER_EXTENT);
  if (!entries?.some((entry) => entry !== HOLE)) return undefined;
  return (block) => entries[Math.floor(block / BLOCKS_PER_CHUNK)] !== HOLE;
}

/** An opaque entry hides lower layers in all of its blocks. */
function changes(page: ExtentMapPage, slot: number, block: number): boolean {
  const entry = page.entries[slot] ?? HOLE;
  return isOpaque(entry) || page.hasBlock(slot, block);
}
