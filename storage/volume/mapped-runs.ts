import { BLOCK_BYTES } from '../units.ts';
import type { LayerFormat } from './format.ts';
import { type Layer, stackOf } from './layers.ts';
import { MapPages, pageBytesOf } from './map-pages.ts';

export interface MappedRun {
  readonly length: number;
  readonly mapped: boolean;
}

/** Map entries that one call looks up, which takes a few milliseconds; the caller continues with another call. */
const LOOKUPS_MAX = 65_536;
/** Up to this number, pages are sorted; beyond it, each page of the range is looked up. */
const SORTED_PAGES_MAX = 4096;

/**
 * Runs of sectors that hold data or do not, in order: of the whole range, or of its beginning as far as `LOOKUPS_MAX`
 * and `runsMax` allow, at least one run. Parts of the range without a page in any layer cost nothing.
 */
export function mappedRuns(
  format: LayerFormat,
  layer: Layer,
  offset: number,
  length: number,
  runsMax = Infinity,
): MappedRun[] {
  const walk = new MapWalk(format, layer, { offset, end: offset + length, runsMax });
  return walk.run();
}

interface Range {
  readonly offset: number;
  readonly end: number;
  readonly runsMax: number;
}

class MapWalk {
  readonly #format: LayerFormat;
  readonly #top: Layer;
  readonly #depth: number;
  readonly #pages: MapPages;
  readonly #range: Range;
  readonly #runs: { length: number; mapped: boolean }[] = [];
  #at: number;
  #lookups = 0;
  #isFull = false;

  constructor(format: LayerFormat, top: Layer, range: Range) {
    this.#format = format;
    this.#top = top;
    const stack = stackOf(top);
    this.#depth = stack.length;
    this.#pages = new MapPages(stack);
    this.#range = range;
    this.#at = range.offset;
  }

  run(): MappedRun[] {
    const { end } = this.#range;
    const pageBytes = pageBytesOf(this.#format);
    const first = Math.floor(this.#at / pageBytes);
    const last = Math.ceil(end / pageBytes) - 1;
    for (const index of this.#pagesWithin(first, last)) {
      this.#add(index * pageBytes, false);
      this.#addPage(Math.min((index + 1) * pageBytes, end));
      if (this.#isDone()) return this.#runs;
    }
    if (!this.#isDone()) this.#add(end, false);
    return this.#runs;
  }

  /** In order. Stops at the limit of lookups: then the rest is left out, not reported as empty. */
  *#pagesWithin(first: number, last: number): Generator<number> {
    if (this.#pages.count <= Math.min(SORTED_PAGES_MAX, last - first)) {
      yield* this.#pages.sorted(first, last);
      return;
    }
    const pageBytes = pageBytesOf(this.#format);
    for (let index = first; index <= last; index += 1) {
      this.#lookups += this.#depth;
      if (this.#pages.has(index)) yield index;
      if (this.#lookups < LOOKUPS_MAX) continue;
      this.#add(Math.min((index + 1) * pageBytes, this.#range.end), false);
      this.#isFull = true;
      return;
    }
  }

  #addPage(end: number): void {
    const { entryBytes } = this.#format;
    while (this.#at < end && !this.#isDone()) {
      const number = Math.floor(this.#at / entryBytes);
      const next = Math.min((number + 1) * entryBytes, end);
      this.#lookups += this.#depth;
      const state = this.#format.entryState(this.#top, number);
      if (state === 'partial') this.#addBlocks(next);
      else this.#add(next, state === 'mapped');
    }
  }

  #addBlocks(end: number): void {
    while (this.#at < end && !this.#isFull) {
      const block = Math.floor(this.#at / BLOCK_BYTES);
      this.#lookups += this.#depth;
      this.#add(Math.min((block + 1) * BLOCK_BYTES, end), this.#format.isMapped(this.#top, block));
    }
  }

  #add(end: number, mapped: boolean): void {
    if (end <= this.#at || this.#isFull) return;
    const last = this.#runs.at(-1);
    if (last?.mapped === mapped) last.length += end - this.#at;
    else if (this.#runs.length >= this.#range.runsMax) {
      this.#isFull = true;
      return;
    } else this.#runs.push({ length: end - this.#at, mapped });
    this.#at = end;
  }

  #isDone(): boolean {
    return this.#isFull || (this.#lookups >= LOOKUPS_MAX && this.#runs.length > 0);
  }
}
