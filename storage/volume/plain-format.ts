import assert from 'node:assert/strict';
import { PendingParts } from '../all-done.ts';
import { allocate, release, type Xts } from '../kernels/index.ts';
import type { PoolCommits } from '../metadata/pool-commits.ts';
import { BLOCK_BYTES, BLOCKS_PER_EXTENT, EXTENT_BYTES, type Done } from '../units.ts';
import {
  EXTENTS_PER_PAGE,
  extentOf,
  HOLE,
  isOpaque,
  type ExtentMapPage,
  OPAQUE,
  PAGE_MASK,
  runsOf,
} from './extent-map.ts';
import { cachingOf, type ExtentStore, type LayerFormat, type LayerView } from './format.ts';
import type { Layer } from './layers.ts';
import { NOTHING, type Piece, readPieces, zeroFill } from './pieces.ts';
import { mergeEntry, relocateEntry } from './plain-merge.ts';

/** The destination of a part of a write. */
interface Target {
  readonly page: ExtentMapPage;
  readonly slot: number;
  readonly extent: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Blocks are stored as they are, in place, in extents of the pool. A layer holds an extent block by block: the first
 * write to an extent that a lower layer holds copies nothing, it marks the written blocks as this layer's.
 */
export class PlainFormat implements LayerFormat {
  readonly entryBytes = EXTENT_BYTES;
  readonly #store: ExtentStore;
  readonly #commits: PoolCommits;

  constructor(store: ExtentStore, commits: PoolCommits) {
    this.#store = store;
    this.#commits = commits;
  }

  read(view: LayerView, offset: number, into: Buffer): Done {
    const block = offset / BLOCK_BYTES;
    const count = into.length / BLOCK_BYTES;
    const first = block % BLOCKS_PER_EXTENT;
    const number = (block - first) / BLOCKS_PER_EXTENT;
    const entries = Math.ceil((first + count) / BLOCKS_PER_EXTENT);
    const slot = number & PAGE_MASK;
    if (slot + entries > EXTENTS_PER_PAGE) return this.#readPieces(view, block, into);
    // The common case, without a list: one layer holds all of it in adjacent blocks.
    for (let layer: Layer | undefined = view.layer; layer; layer = layer.parent) {
      const page = layer.map.pageOf(number);
      if (!page || areHoles(page, slot, entries)) continue;
      if (page.entries[slot] === OPAQUE && entries === 1) return zeroFill(into);
      if (!areNeighbours(page, slot, entries) || !areWhole(page, slot, entries)) {
        return this.#readPieces(view, block, into);
      }
      const done = this.#store.read(
        extentOf(page.entries[slot] ?? HOLE),
        first * BLOCK_BYTES,
        into,
        cachingOf(view, layer),
      );
      return view.cipher ? decrypted(view.cipher, done, block, into) : done;
    }
    return zeroFill(into);
  }

  write(view: LayerView, offset: number, from: Buffer): Done {
    if (!view.layer.isTop) assert.fail('only the top layer is written to');
    if (!view.cipher) return this.#writePlain(view.layer, offset / BLOCK_BYTES, from);
    const sealed = allocate(from.length);
    from.copy(sealed);
    view.cipher.encrypt(sealed, offset / BLOCK_BYTES);
    return releasing(sealed, () => this.#writePlain(view.layer, offset / BLOCK_BYTES, sealed));
  }

  discard(view: LayerView, offset: number, length: number): Done {
    const parts = new PendingParts();
    let block = offset / BLOCK_BYTES;
    const end = block + length / BLOCK_BYTES;
    while (block < end) {
      const from = block % BLOCKS_PER_EXTENT;
      const to = Math.min(BLOCKS_PER_EXTENT, from + end - block);
      const number = (block - from) / BLOCKS_PER_EXTENT;
      parts.start(() => this.#discardInEntry(view, number, from, to));
      block += to - from;
    }
    return parts.done();
  }

  isMapped(top: Layer, block: number): boolean {
    const within = block % BLOCKS_PER_EXTENT;
    const number = (block - within) / BLOCKS_PER_EXTENT;
    for (let layer: Layer | undefined = top; layer; layer = layer.parent) {
      const page = layer.map.pageOf(number);
      const entry = page?.entries[number & PAGE_MASK] ?? HOLE;
      if (page && extentOf(entry) !== 0 && page.hasBlock(number & PAGE_MASK, within)) return true;
      if (isOpaque(entry)) return false;
    }
    return false;
  }

  entryState(top: Layer, number: number): 'mapped' | 'unmapped' | 'partial' {
    const slot = number & PAGE_MASK;
    for (let layer: Layer | undefined = top; layer; layer = layer.parent) {
      const page = layer.map.pageOf(number);
      const entry = page?.entries[slot] ?? HOLE;
      if (!page || entry === HOLE) continue;
      if (entry === OPAQUE) return 'unmapped';
      return page.isWhole(slot) ? 'mapped' : 'partial';
    }
    return 'unmapped';
  }

  release(entry: number): void {
    if (extentOf(entry) !== 0) this.#store.retire(extentOf(entry));
  }

  mergeEntry(lower: Layer, upper: Layer, entry: number): Done {
    return mergeEntry(this.#store, this.#commits, lower, upper, entry);
  }

  relocateEntry(layer: Layer, entry: number): Done {
    return relocateEntry(this.#store, this.#commits, layer, entry);
  }

  #readPieces(view: LayerView, block: number, into: Buffer): Done {
    const pieces: Piece[] = [];
    const end = block + into.length / BLOCK_BYTES;
    for (let at = block; at < end;) {
      const from = at % BLOCKS_PER_EXTENT;
      const to = Math.min(BLOCKS_PER_EXTENT, from + end - at);
      collect(view, view.layer, { number: (at - from) / BLOCKS_PER_EXTENT, from, to }, pieces);
      at += to - from;
    }
    return readPieces(this.#store, pieces, view.cipher, block, into);
  }

  #writePlain(layer: Layer, block: number, from: Buffer): Done {
    const within = block % BLOCKS_PER_EXTENT;
    const count = from.length / BLOCK_BYTES;
    const number = (block - within) / BLOCKS_PER_EXTENT;
    const page = layer.map.pageOf(number);
    const slot = number & PAGE_MASK;
    const entries = Math.ceil((within + count) / BLOCKS_PER_EXTENT);
    if (!page || !areNeighbours(page, slot, entries)) return this.#writeTargets(layer, block, from);
    const done = this.#store.write(extentOf(page.entries[slot] ?? HOLE), within * BLOCK_BYTES, from);
    if (done) return done.then(() => this.#hold(layer, page, slot, within, within + count));
    this.#hold(layer, page, slot, within, within + count);
    return undefined;
  }

  /** Marks blocks of adjacent entries, counted from the first one, as this layer's. */
  #hold(layer: Layer, page: ExtentMapPage, slot: number, from: number, to: number): void {
    let isChanged = false;
    for (let entry = slot, start = 0; start < to; entry += 1, start += BLOCKS_PER_EXTENT) {
      if (page.addBlocks(entry, Math.max(from - start, 0), Math.min(to - start, BLOCKS_PER_EXTENT))) isChanged = true;
    }
    if (isChanged) this.#commits.pageChanged(layer.id, page);
  }

  /** The general write: allocates extents where there are none yet, and writes adjacent blocks in one request. */
  async #writeTargets(layer: Layer, block: number, from: Buffer): Promise<void> {
    const targets: Target[] = [];
    const end = block + from.length / BLOCK_BYTES;
    for (let at = block; at < end;) {
      const within = at % BLOCKS_PER_EXTENT;
      const to = Math.min(BLOCKS_PER_EXTENT, within + end - at);
      targets.push(await this.#target(layer, (at - within) / BLOCKS_PER_EXTENT, within, to));
      at += to - within;
    }
    const parts = new PendingParts();
    let offset = 0;
    for (const run of neighbours(targets)) {
      const length = run.reduce((sum, { from: first, to }) => sum + to - first, 0) * BLOCK_BYTES;
      const [first] = run;
      const part = from.subarray(offset, offset + length);
      parts.start(() => this.#store.write(first?.extent ?? HOLE, (first?.from ?? 0) * BLOCK_BYTES, part));
      offset += length;
    }
    await parts.done();
    for (const { page, slot, from: first, to } of targets) {
      if (page.addBlocks(slot, first, to)) this.#commits.pageChanged(layer.id, page);
    }
  }

  async #target(layer: Layer, number: number, from: number, to: number): Promise<Target> {
    const slot = number & PAGE_MASK;
    const page = layer.map.makePage(number);
    const extent = extentOf(page.entries[slot] ?? HOLE);
    if (extent !== 0) return { page, slot, extent, from, to };
    const fresh = this.#store.allocate() ?? (await this.#store.reclaim());
    const entry = page.entries[slot] ?? HOLE;
    if (extentOf(entry) !== 0) {
      // A concurrent write allocated one first.
      this.#store.retire(fresh);
      return { page, slot, extent: extentOf(entry), from, to };
    }
    this.#put(layer, page, slot, isOpaque(entry) ? (fresh | OPAQUE) >>> 0 : fresh, 0, 0);
    return { page, slot, extent: fresh, from, to };
  }

  #discardInEntry(view: LayerView, number: number, from: number, to: number): Done {
    const { layer } = view;
    const slot = number & PAGE_MASK;
    const page = layer.map.pageOf(number);
    const entry = page?.entries[slot] ?? HOLE;
    const shining = !isOpaque(entry) && layer.parent !== undefined && shinesThrough(layer.parent, number);
    if (from === 0 && to === BLOCKS_PER_EXTENT) {
      const opaque = shining || isOpaque(entry);
      if (opaque || entry !== HOLE) this.#put(layer, layer.map.makePage(number), slot, opaque ? OPAQUE : HOLE);
      return undefined;
    }
    if (shining) {
      const zeros = Buffer.alloc((to - from) * BLOCK_BYTES);
      return this.write(view, (number * BLOCKS_PER_EXTENT + from) * BLOCK_BYTES, zeros);
    }
    if (!page || extentOf(entry) === 0) return undefined;
    page.removeBlocks(slot, from, to);
    this.#commits.pageChanged(layer.id, page);
    if (page.isEmpty(slot)) this.#put(layer, page, slot, isOpaque(entry) ? OPAQUE : HOLE);
    return undefined;
  }

  #put(layer: Layer, page: ExtentMapPage, slot: number, entry: number, low?: number, high?: number): void {
    this.release(layer.map.set(page, slot, entry, low, high));
    this.#commits.pageChanged(layer.id, page);
  }
}

/** Blocks `from` to `to` of an entry. */
interface Stretch {
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/** The layers that hold parts of the entry, by block. */
function collect(view: LayerView, top: Layer | undefined, stretch: Stretch, pieces: Piece[]): void {
  const { number, from, to } = stretch;
  const slot = number & PAGE_MASK;
  for (let layer = top; layer; layer = layer.parent) {
    const page = layer.map.pageOf(number);
    const entry = page?.entries[slot] ?? HOLE;
    if (!page || entry === HOLE) continue;
    if (entry === OPAQUE) break;
    const below = isOpaque(entry) ? undefined : layer.parent;
    for (const run of runsOf(page, slot, from, to)) {
      const count = run.to - run.from;
      if (!run.held) collect(view, below, { number, from: run.from, to: run.to }, pieces);
      else pieces.push({ extent: extentOf(entry), from: run.from, count, caching: cachingOf(view, layer) });
    }
    return;
  }
  pieces.push({ extent: NOTHING, from, count: to - from, caching: 'past' });
}

/** Whether this layer or one below may show anything but zeros at the entry. */
function shinesThrough(top: Layer, number: number): boolean {
  for (let layer: Layer | undefined = top; layer; layer = layer.parent) {
    const entry = layer.map.get(number);
    if (extentOf(entry) !== 0) return true;
    if (isOpaque(entry)) return false;
  }
  return false;
}

/** Whether `count` entries from `slot` on have adjacent extents of the pool. */
function areNeighbours(page: ExtentMapPage, slot: number, count: number): boolean {
  const first = extentOf(page.entries[slot] ?? HOLE);
  if (first === 0 || slot + count > EXTENTS_PER_PAGE) return false;
  for (let more = 1; more < count; more += 1) {
    if (extentOf(page.entries[slot + more] ?? HOLE) !== first + more) return false;
  }
  return true;
}

function areHoles(page: ExtentMapPage, slot: number, count: number): boolean {
  for (let more = 0; more < count; more += 1) if ((page.entries[slot + more] ?? HOLE) !== HOLE) return false;
  return true;
}

function areWhole(page: ExtentMapPage, slot: number, count: number): boolean {
  for (let more = 0; more < count; more += 1) if (!page.isWhole(slot + more)) return false;
  return true;
}

/** Groups targets whose bytes are adjacent. */
function neighbours(targets: readonly Target[]): Target[][] {
  const runs: Target[][] = [];
  for (const target of targets) {
    const last = runs.at(-1)?.at(-1);
    const adjoins = last?.to === BLOCKS_PER_EXTENT && target.from === 0 && target.extent === last.extent + 1;
    if (adjoins) runs.at(-1)?.push(target);
    else runs.push([target]);
  }
  return runs;
}

function decrypted(cipher: Xts, done: Done, block: number, into: Buffer): Done {
  if (done) return done.then(() => cipher.decrypt(into, block));
  cipher.decrypt(into, block);
  return undefined;
}

function releasing(buffer: Buffer, work: () => Done): Done {
  let done: Done;
  try {
    done = work();
  } catch (error) {
    release(buffer);
    throw error;
  }
  if (done) return done.finally(() => release(buffer));
  release(buffer);
  return undefined;
}
