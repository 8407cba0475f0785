import { BLOCKS_PER_EXTENT } from '../units.ts';
import { blockCountOf } from './reduced/address.ts';

/** An entry of a map: the number of a pool extent, or none, and whether lower layers show through its gaps. */
export const HOLE = 0;
export const FIRST_EXTENT = 1;
/** Blocks of the entry that its layer does not hold read as zeros, whatever lower layers hold: they were discarded. */
export const OPAQUE = 0x80000000;
const LAST_EXTENT = 0x7fffffff;

export function extentOf(entry: number): number {
  return entry & LAST_EXTENT;
}

/** Whether the entry refers to stored bytes. */
export function isData(entry: number): boolean {
  return entry !== HOLE && entry !== OPAQUE;
}

export function isOpaque(entry: number): boolean {
  return entry >= OPAQUE;
}

export const EXTENTS_PER_PAGE = 256;
const PAGE_SHIFT = 8;
const SHIFTED_BELOW = 2 ** 32;
export const PAGE_MASK = EXTENTS_PER_PAGE - 1;
const ALL = 0xffffffff;

/** Entries of the plain format are extents; those of the reduced format are addresses of chunks, which take more bits. */
export type Entries = Uint32Array | Float64Array;

/**
 * One page of a layer's map: the extents of 256 contiguous extents of the volume (64 MiB). `low` and `high` are 64 bits
 * an extent, one a block: the blocks this layer holds. They exist only while some extent is partial, so a page of whole
 * extents costs four bytes an extent.
 */
export class ExtentMapPage {
  readonly index: number;
  readonly entries: Entries;
  low: Uint32Array | undefined;
  high: Uint32Array | undefined;
  /** Entries that are not holes. */
  used = 0;
  dirty = false;

  constructor(index: number, entries: Entries, low?: Uint32Array, high?: Uint32Array) {
    this.index = index;
    this.entries = entries;
    this.low = low;
    this.high = high;
    for (const entry of entries) if (entry !== HOLE) this.used++;
  }

  isWhole(slot: number): boolean {
    return !this.low || (this.low[slot] === ALL && this.high?.[slot] === ALL);
  }

  lowBits(slot: number): number {
    return this.low ? (this.low[slot] ?? 0) : ALL;
  }

  highBits(slot: number): number {
    return this.high ? (this.high[slot] ?? 0) : ALL;
  }

  hasBlock(slot: number, block: number): boolean {
    const bits = block < 32 ? this.lowBits(slot) : this.highBits(slot);
    return ((bits >>> (block & 31)) & 1) === 1;
  }

  setBits(slot: number, low: number, high: number): void {
    if (!this.low || !this.high) {
      if (low >>> 0 === ALL && high >>> 0 === ALL) return;
      this.low = new Uint32Array(EXTENTS_PER_PAGE).fill(ALL);
      this.high = new Uint32Array(EXTENTS_PER_PAGE).fill(ALL);
    }
    this.low[slot] = low;
    this.high[slot] = high;
  }

  /** Whether some of the blocks were not held before. */
  addBlocks(slot: number, from: number, to: number): boolean {
    if (!this.low || !this.high) return false;
    const low = (this.low[slot] ?? 0) | maskOf(from, to, 0);
    const high = (this.high[slot] ?? 0) | maskOf(from, to, 32);
    if (low >>> 0 === this.low[slot] && high >>> 0 === this.high[slot]) return false;
    this.low[slot] = low;
    this.high[slot] = high;
    return true;
  }

  removeBlocks(slot: number, from: number, to: number): void {
    this.setBits(slot, this.lowBits(slot) & ~maskOf(from, to, 0), this.highBits(slot) & ~maskOf(from, to, 32));
  }

  isEmpty(slot: number): boolean {
    return this.lowBits(slot) === 0 && this.highBits(slot) === 0;
  }

  /** Drops the bits once no extent needs them. */
  compact(): void {
    if (!this.low || !this.high) return;
    for (let slot = 0; slot < EXTENTS_PER_PAGE; slot++) {
      if (isData(this.entries[slot] ?? HOLE) && !this.isWhole(slot)) return;
    }
    this.low = undefined;
    this.high = undefined;
  }
}

function maskOf(from: number, to: number, base: number): number {
  const start = Math.min(Math.max(from - base, 0), 32);
  const end = Math.min(Math.max(to - base, 0), 32);
  if (end <= start) return 0;
  const width = end - start;
  return (width === 32 ? ALL : ((1 << width) - 1) << start) >>> 0;
}

/** A reduced volume of 128 TiB has 2 ** 32 chunks: beyond, a shift would lead to the pages of its beginning. */
function pageIndexOf(extent: number): number {
  return extent < SHIFTED_BELOW ? extent >>> PAGE_SHIFT : Math.floor(extent / EXTENTS_PER_PAGE);
}

/** The map of a layer: pages of the parts that hold data. */
export class ExtentMap {
  readonly pages = new Map<number, ExtentMapPage>();
  /** Entries that refer to stored bytes. */
  owned = 0;
  /** Blocks that these entries occupy. */
  ownedBlocks = 0;
  readonly #wide: boolean;

  constructor(wide: boolean) {
    this.#wide = wide;
  }

  get(extent: number): number {
    return this.pages.get(pageIndexOf(extent))?.entries[extent & PAGE_MASK] ?? HOLE;
  }

  pageOf(extent: number): ExtentMapPage | undefined {
    return this.pages.get(pageIndexOf(extent));
  }

  makePage(extent: number): ExtentMapPage {
    const index = pageIndexOf(extent);
    let page = this.pages.get(index);
    if (!page) {
      page = new ExtentMapPage(
        index,
        this.#wide ? new Float64Array(EXTENTS_PER_PAGE) : new Uint32Array(EXTENTS_PER_PAGE),
      );
      this.pages.set(index, page);
    }
    return page;
  }

  add(page: ExtentMapPage): void {
    this.pages.set(page.index, page);
    for (const entry of page.entries) this.#count(entry, 1);
  }

  /** Sets the entry, with the given blocks held; returns the old entry. */
  set(page: ExtentMapPage, slot: number, value: number, low = ALL, high = ALL): number {
    const before = page.entries[slot] ?? HOLE;
    if (before === HOLE && value !== HOLE) page.used++;
    if (before !== HOLE && value === HOLE) page.used--;
    this.#count(before, -1);
    this.#count(value, 1);
    page.entries[slot] = value;
    page.setBits(slot, low, high);
    return before;
  }

  #count(entry: number, by: 1 | -1): void {
    if (!isData(entry)) return;
    this.owned += by;
    this.ownedBlocks += by * (this.#wide ? blockCountOf(entry) : BLOCKS_PER_EXTENT);
  }
}

/** Every entry that is not a hole. */
export function* entriesOf(
  map: ExtentMap,
): Generator<{ page: ExtentMapPage; slot: number; number: number; entry: number }> {
  for (const page of map.pages.values()) {
    if (page.used === 0) continue;
    for (const [slot, entry] of page.entries.entries()) {
      if (entry !== HOLE) yield { page, slot, number: page.index * EXTENTS_PER_PAGE + slot, entry };
    }
  }
}

/** Runs of blocks in [from, to) that the entry holds or does not hold. */
export function* runsOf(
  page: ExtentMapPage,
  slot: number,
  from: number,
  to: number,
): Generator<{ from: number; to: number; held: boolean }> {
  let start = from;
  while (start < to) {
    const held = page.hasBlock(slot, start);
    let end = start + 1;
    while (end < to && page.hasBlock(slot, end) === held) end++;
    yield { from: start, to: end, held };
    start = end;
  }
}

/** The number of blocks set in the bits. */
export function countBlocks(low: number, high: number): number {
  return popcount(low) + popcount(high);
}

function popcount(bits: number): number {
  let rest = bits >>> 0;
  rest -= (rest >>> 1) & 0x55555555;
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
