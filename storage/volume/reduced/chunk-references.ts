import type { PoolCommits } from '../../metadata/pool-commits.ts';
import type { Done } from '../../units.ts';
import { HOLE, OPAQUE, PAGE_MASK } from '../extent-map.ts';
import { cachingOf, type LayerView } from '../format.ts';
import type { Layer } from '../layers.ts';
import { isAddress, isIndexed } from './address.ts';
import type { ChunkIndex } from './chunk-index.ts';
import type { Place } from './chunk-reader.ts';
import type { ChunkSpace } from './chunk-space.ts';
import type { PlainBelow } from './plain-below.ts';
import { ReductionTotals } from './reduction.ts';

/** Changes that may wait in memory for a commit; beyond that, a caller that makes more waits for one. */
const PENDING_MAX = 16_384;

/**
 * The references from map entries to chunks. Each change happens in one turn, so that all of it is in the same commit.
 */
export class ChunkReferences {
  readonly totals = new ReductionTotals();
  readonly #space: ChunkSpace;
  readonly #index: ChunkIndex;
  readonly #commits: PoolCommits;
  readonly #below: PlainBelow;

  constructor(space: ChunkSpace, index: ChunkIndex, commits: PoolCommits, below: PlainBelow) {
    this.#space = space;
    this.#index = index;
    this.#commits = commits;
    this.#below = below;
  }

  /** Makes the entry refer to an existing chunk of this digest; false when there is none. */
  share(layer: Layer, number: number, digest: string | undefined): boolean {
    const address = digest === undefined ? undefined : this.#index.share(digest);
    if (address === undefined) return false;
    this.put(layer, number, address);
    return true;
  }

  /** Makes the entry refer to a chunk that was just written. */
  add(layer: Layer, number: number, address: number, digest: string | undefined): void {
    this.#space.keep(address);
    if (digest !== undefined) this.#index.add(digest, address);
    this.put(layer, number, address);
  }

  /** The entry reads as zeros from now on. */
  clear(layer: Layer, number: number): void {
    const entry = this.isShown(layer.parent, number) ? OPAQUE : HOLE;
    if (layer.map.get(number) !== entry) this.put(layer, number, entry);
  }

  /** Whether the layer and those below it may show anything but zeros at the entry. */
  isShown(top: Layer | undefined, number: number): boolean {
    const shown = shownAt(top, number);
    return typeof shown === 'number' || (shown !== undefined && this.#below.state(shown, number) !== 'unmapped');
  }

  put(layer: Layer, number: number, entry: number): void {
    const page = layer.map.makePage(number);
    const before = layer.map.set(page, number & PAGE_MASK, entry);
    this.#commits.pageChanged(layer.id, page);
    if (isAddress(entry)) this.totals.add(entry);
    this.release(before);
  }

  /** Removes a reference to the chunk. */
  release(entry: number): void {
    if (!isAddress(entry)) return;
    this.totals.remove(entry);
    if (isIndexed(entry) && !this.#index.leave(entry)) return;
    this.#space.drop(entry);
  }

  /** To be awaited before changes are made: bounds the changes that wait for a commit. */
  pendingBounded(): Done {
    if (this.#index.changedCount + this.#space.givenUpCount < PENDING_MAX) return undefined;
    return this.#commits.commit();
  }
}

/** Where the bytes visible at the entry lie, and how a cache treats them. */
export function placeAt(view: LayerView, number: number): Place {
  for (let layer: Layer | undefined = view.layer; layer; layer = layer.parent) {
    if (layer.format === 'plain') return { plain: { layer, number }, caching: cachingOf(view, layer) };
    const entry = layer.map.get(number);
    if (entry !== HOLE) return { address: isAddress(entry) ? entry : undefined, caching: cachingOf(view, layer) };
  }
  return { address: undefined, caching: 'past' };
}

/** The address of the chunk visible at the entry, or the plain layer that shows through; `undefined` for zeros. */
export function shownAt(top: Layer | undefined, number: number): number | Layer | undefined {
  for (let layer = top; layer; layer = layer.parent) {
    if (layer.format === 'plain') return layer;
    const entry = layer.map.get(number);
    if (entry !== HOLE) return isAddress(entry) ? entry : undefined;
  }
  return undefined;
}
