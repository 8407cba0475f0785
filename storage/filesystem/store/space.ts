import assert from 'node:assert/strict';
import { FsError } from '../errors.ts';
import { MAP_PAGE_BLOCKS } from './layout.ts';
import { clearBits, SpaceMapPage, pageImage, type Run } from './space-map-page.ts';

export interface SpaceCounts {
  readonly totalBlocks: number;
  readonly allocatedBlocks: number;
  /** Pages of the map from here on were never used. */
  readonly pagesUsed: number;
}

/** A run this near to the goal is accepted although it may be shorter than requested. */
const CONTIGUOUS_BLOCKS = 64;
/** Pages that are searched for a run of the requested length, before shorter ones are accepted. */
const PAGES_SEARCHED = 32;
const PAGES_CACHED = 4096;

/**
 * The allocation of blocks. A block is allocated, free, or *held*: unavailable in memory, but free in the map that the
 * next checkpoint writes. Held are blocks reserved for an operation that is not recorded yet, blocks freed by an
 * operation that is not durable yet, and blocks being discarded. After a crash all of these are free.
 *
 * Methods may throw `MISS`, because pages of the map are items of the tree.
 */
export class Space {
  readonly #pages = new Map<number, SpaceMapPage>();
  readonly #held = new Set<Run>();
  readonly #load: (page: number) => Buffer | undefined;
  /** By page, where known. */
  #free: Int16Array;
  #heldBlocks = 0;
  #dirtyPages = 0;
  totalBlocks: number;
  allocatedBlocks: number;
  pagesUsed: number;

  constructor(counts: SpaceCounts, load: (page: number) => Buffer | undefined) {
    this.totalBlocks = counts.totalBlocks;
    this.allocatedBlocks = counts.allocatedBlocks;
    this.pagesUsed = counts.pagesUsed;
    this.#load = load;
    this.#free = new Int16Array(Math.ceil(this.totalBlocks / MAP_PAGE_BLOCKS)).fill(-1);
  }

  get availableBlocks(): number {
    return this.totalBlocks - this.allocatedBlocks - this.#heldBlocks;
  }

  get dirtyPages(): number {
    return this.#dirtyPages;
  }

  grow(totalBlocks: number): void {
    const last = this.#pages.get(Math.floor(this.totalBlocks / MAP_PAGE_BLOCKS));
    const first = this.totalBlocks % MAP_PAGE_BLOCKS;
    if (last !== undefined) last.clear(first, Math.min(MAP_PAGE_BLOCKS - first, totalBlocks - this.totalBlocks));
    this.totalBlocks = totalBlocks;
    const free = new Int16Array(Math.ceil(totalBlocks / MAP_PAGE_BLOCKS)).fill(-1);
    free.set(this.#free);
    free[Math.floor((totalBlocks - 1) / MAP_PAGE_BLOCKS)] = -1;
    for (const page of this.#pages.values()) free[page.index] = page.free;
    this.#free = free;
  }

  /** Holds up to `want` blocks in one run, near the goal if possible. */
  reserve(want: number, goal: number): Run {
    const run = this.#find(want, goal < this.totalBlocks ? goal : 0);
    this.#hold(run);
    this.#page(pageOf(run)).set(run.start % MAP_PAGE_BLOCKS, run.count);
    this.#changed(pageOf(run));
    return run;
  }

  /** Holds the run if all of it is free. */
  reserveAll(run: Run): boolean {
    const page = this.#page(pageOf(run));
    const from = run.start % MAP_PAGE_BLOCKS;
    if (from + run.count > MAP_PAGE_BLOCKS || !page.isClear(from, run.count)) return false;
    this.#hold(run);
    page.set(from, run.count);
    this.#changed(page.index);
    return true;
  }

  /** Splits a reservation in two. */
  divide(run: Run, count: number): [Run, Run] {
    this.#unhold(run);
    const first = { start: run.start, count };
    const second = { start: run.start + count, count: run.count - count };
    this.#hold(first);
    this.#hold(second);
    return [first, second];
  }

  /** Held blocks become free. */
  release(run: Run): void {
    this.#unhold(run);
    for (const { page, from, count } of this.#parts(run)) {
      page.clear(from, count);
      this.#changed(page.index);
    }
  }

  /** Reserved blocks become allocated. */
  claim(run: Run): void {
    assert.ok(this.allocatedBlocks + run.count <= this.totalBlocks, 'no more blocks are allocated than the device has');
    this.#unhold(run);
    this.allocatedBlocks += run.count;
    for (const { page } of this.#parts(run)) this.#markDirty(page);
  }

  /** Allocated blocks become held, until they are released. */
  retire(run: Run): void {
    const areAllocated = this.#parts(run).every(({ page, from, count }) => page.areSet(from, count));
    assert.ok(areAllocated, 'only allocated blocks are freed');
    this.#hold(run);
    this.allocatedBlocks -= run.count;
    for (const { page } of this.#parts(run)) this.#markDirty(page);
  }

  /** Undoes `claim`. */
  unclaim(run: Run): void {
    this.#hold(run);
    this.allocatedBlocks -= run.count;
  }

  /** Undoes `retire`. */
  unretire(run: Run): void {
    this.#unhold(run);
    this.allocatedBlocks += run.count;
  }

  /** Replay: the blocks were allocated. */
  replayAllocate(run: Run): void {
    this.pagesUsed = Math.max(this.pagesUsed, Math.ceil((run.start + run.count) / MAP_PAGE_BLOCKS));
    const parts = this.#parts(run);
    if (!parts.every(({ page, from, count }) => page.isClear(from, count))) throw damaged(run, 'taken twice');
    this.allocatedBlocks += run.count;
    for (const { page, from, count } of parts) {
      page.set(from, count);
      this.#markDirty(page);
      this.#changed(page.index);
    }
  }

  /** Replay: the blocks were freed. */
  replayFree(run: Run): void {
    const parts = this.#parts(run);
    if (!parts.every(({ page, from, count }) => page.areSet(from, count))) throw damaged(run, 'freed twice');
    this.allocatedBlocks -= run.count;
    for (const { page, from, count } of parts) {
      page.clear(from, count);
      this.#markDirty(page);
      this.#changed(page.index);
    }
  }

  /** The pages that differ from the tree, as they will be stored. Held blocks are free. */
  freezeImages(): Map<number, Buffer> {
    const dirty = new Map<number, Uint32Array>();
    for (const page of this.#pages.values()) if (page.isDirty) dirty.set(page.index, page.words.slice());
    for (const run of this.#held) {
      for (const { index, from, count } of pieces(run)) {
        const words = dirty.get(index);
        if (words !== undefined) clearBits(words, from, count);
      }
    }
    const images = new Map<number, Buffer>();
    for (const [index, words] of dirty) {
      const blocks = this.#blocksOf(index);
      if (blocks < MAP_PAGE_BLOCKS) clearBits(words, blocks, MAP_PAGE_BLOCKS - blocks);
      images.set(index, pageImage(words));
      (this.#pages.get(index) as SpaceMapPage).isDirty = false;
    }
    this.#dirtyPages = 0;
    return images;
  }

  markDirty(pages: Iterable<number>): void {
    for (const index of pages) this.#markDirty(this.#page(index));
  }

  /** The blocks allocated in a page. For checks. */
  allocatedIn(index: number): Uint32Array {
    const page = this.#page(index);
    const words = page.words.slice();
    for (const run of this.#held) {
      for (const piece of pieces(run)) if (piece.index === index) clearBits(words, piece.from, piece.count);
    }
    return words;
  }

  /** Between operations: evicts pages that can be read again. */
  trim(): void {
    if (this.#pages.size <= PAGES_CACHED) return;
    for (const page of this.#pages.values()) {
      if (!page.isDirty && page.pins === 0) this.#pages.delete(page.index);
      if (this.#pages.size <= PAGES_CACHED / 2) return;
    }
  }

  #find(want: number, goal: number): Run {
    const goalPage = Math.floor(goal / MAP_PAGE_BLOCKS);
    if (goalPage < this.pagesUsed) {
      const from = goal % MAP_PAGE_BLOCKS;
      const near = this.#page(goalPage).runFrom(from, want);
      if (near >= Math.min(want, CONTIGUOUS_BLOCKS)) return { start: goal, count: near };
      const found = this.#page(goalPage).find(from, want);
      if (found.count >= want) return this.#inPage(goalPage, found);
    }
    return this.#findElsewhere(want, Math.min(goalPage, this.pagesUsed));
  }

  #findElsewhere(want: number, goalPage: number): Run {
    let best: Run = { start: 0, count: 0 };
    let searched = 0;
    for (let step = 0; step < this.pagesUsed; step += 1) {
      const index = (goalPage + step) % this.pagesUsed;
      const known = this.#free[index] as number;
      if (known >= 0 && known <= best.count) continue;
      const found = this.#page(index).find(0, want);
      if (found.count > best.count) best = this.#inPage(index, found);
      if (best.count >= want) return best;
      if (++searched >= PAGES_SEARCHED && best.count >= Math.min(want, 2)) break;
    }
    // Unused space: a longer run than those in between.
    if (this.pagesUsed * MAP_PAGE_BLOCKS < this.totalBlocks) {
      this.pagesUsed += 1;
      const index = this.pagesUsed - 1;
      return this.#inPage(index, this.#page(index).find(0, want));
    }
    if (best.count === 0) throw new FsError('ENOSPC', 'No block is free; delete files or grow the volume.');
    return best;
  }

  #inPage(index: number, { start, count }: Run): Run {
    return { start: index * MAP_PAGE_BLOCKS + start, count };
  }

  #hold(run: Run): void {
    const parts = this.#parts(run);
    this.#held.add(run);
    this.#heldBlocks += run.count;
    for (const { page } of parts) page.pins += 1;
  }

  #unhold(run: Run): void {
    assert.ok(this.#held.delete(run), 'the run is held');
    this.#heldBlocks -= run.count;
    for (const { page } of this.#parts(run)) page.pins -= 1;
  }

  #parts(run: Run): { page: SpaceMapPage; from: number; count: number }[] {
    return pieces(run).map(({ index, from, count }) => ({ page: this.#page(index), from, count }));
  }

  #page(index: number): SpaceMapPage {
    const known = this.#pages.get(index);
    if (known !== undefined) return known;
    const page = new SpaceMapPage(index, this.#load(index), this.#blocksOf(index));
    this.#pages.set(index, page);
    this.#free[index] = page.free;
    return page;
  }

  #markDirty(page: SpaceMapPage): void {
    if (page.isDirty) return;
    page.isDirty = true;
    this.#dirtyPages += 1;
  }

  #changed(index: number): void {
    this.#free[index] = this.#page(index).free;
  }

  #blocksOf(index: number): number {
    return Math.min(MAP_PAGE_BLOCKS, this.totalBlocks - index * MAP_PAGE_BLOCKS);
  }
}

function pageOf(run: Run): number {
  return Math.floor(run.start / MAP_PAGE_BLOCKS);
}

/** The parts of a run in the pages that it touches. */
function pieces(run: Run): { index: number; from: number; count: number }[] {
  const found: { index: number; from: number; count: number }[] = [];
  for (let at = run.start; at < run.start + run.count;) {
    const from = at % MAP_PAGE_BLOCKS;
    const count = Math.min(MAP_PAGE_BLOCKS - from, run.start + run.count - at);
    found.push({ index: pageOf({ start: at, count }), from, count });
    at += count;
  }
  return found;
}

function damaged(run: Run, how: string): FsError {
  return new FsError('EIO', `The journal is damaged: ${run.count} blocks at ${run.start} were ${how}.`);
}
