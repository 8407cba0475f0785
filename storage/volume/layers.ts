import assert from 'node:assert/strict';
import type { Database } from '@granary/kernel/sqlite';
import type { PoolCommits } from '../metadata/pool-commits.ts';
import { EXTENTS_PER_PAGE, ExtentMap, ExtentMapPage } from './extent-map.ts';

/**
 * Layers: how snapshots, clones and volumes share data.
 *
 *     volume v ──► L5  top: written to              map: extent number of the volume → extent of the pool, with one bit
 *                  │                                for each of its 64 blocks: does this layer hold it?
 *     snapshot s2 ►L3 ◄── L6 ◄── volume c, a clone of s2
 *                  │
 *     snapshot s1 ►L1
 *
 * A layer holds what was written while it was on top. A read goes from the top down; the first layer that holds a block
 * has it; an *opaque* entry ends the search (discarded: zeros); below the last layer there are zeros. A snapshot freezes
 * the top and lays an empty layer over it, a clone lays one over a frozen layer, a revert replaces the top by a new layer
 * over the snapshot's. None of these copies data or map entries.
 *
 * On disk a layer is a row (`layers`: id, parent, format) and its pages (`maps`: 256 entries, 64 MiB of a volume). Volumes
 * and snapshots name a layer. All changes go through `PoolCommits` (see `storage/metadata/README.md`).
 *
 * Deleting s1 with v, L1 and L3 as above, and a crash at each step:
 *
 * 1. The row of s1 is deleted and committed. Crash before: s1 is still there. After: L1 has no name and one child, so at
 *    the next open it is *unreferenced* and folded again.
 * 2. Entries that both L1 and L3 hold in part are merged: blocks of one are copied into the extent of the other. Only blocks
 *    that the deleted snapshot alone could see are overwritten, and that it is gone is durable since step 1. Crash: maps
 *    on disk name the same extents as before; no read reaches the copied blocks until the maps are committed.
 * 3. In one turn, so in one commit: the smaller map moves into the larger, the row of the other layer goes, its child gets
 *    the new parent, the name moves if the lower one stays. Crash: all of it or nothing.
 * 4. Extents without a reference are reused, after that commit.
 *
 * Invariants:
 * - Only a layer with nothing above it is written to, and only by the one volume whose top it is.
 * - An extent of the plain format is in the map of exactly one layer: freeing a layer frees its extents, and no references
 *   are counted. (Chunks of the reduced format may be shared; `shared_chunks` counts their owners.)
 * - A layer is removed only when no volume and no snapshot names it.
 * - Reduced layers may lie over plain ones, of a volume whose reduction was switched on later (`conversion.ts`); plain ones
 *   never lie over reduced ones.
 */
export type FormatName = 'plain' | 'reduced';

/**
 * One layer of a volume: what was written while it was on top. Its parent is below it; the layers of later snapshots
 * and of clones are above it. Only a layer without children is written to.
 */
export class Layer {
  readonly id: number;
  readonly format: FormatName;
  parent: Layer | undefined;
  /**
   * Most layers have one child or none, and there are as many layers as snapshots: a set for each would need more
   * memory than the rest.
   */
  #children: Layer | Set<Layer> | undefined;
  /** The snapshot that shows this layer and those below. */
  snapshotId: string | undefined;
  /** The volume this layer is the top of. */
  volumeId: string | undefined;
  /** The volume that wrote it, if known: clones read what others wrote. */
  ownerId: string | undefined;
  /** The owned blocks before the map is loaded. */
  #ownedAtOpen = 0;
  readonly #load: (layer: Layer) => ExtentMap;
  #map: ExtentMap | undefined;

  constructor(id: number, format: FormatName, parent: Layer | undefined, load: (layer: Layer) => ExtentMap) {
    this.id = id;
    this.format = format;
    this.parent = parent;
    this.#load = load;
    parent?.addChild(this);
  }

  /** Loaded at the first access: a pool of many volumes opens without their maps. */
  get map(): ExtentMap {
    this.#map ??= this.#load(this);
    return this.#map;
  }

  /** Blocks that its entries occupy. Known without loading the map. */
  get ownedBlocks(): number {
    return this.#map?.ownedBlocks ?? this.#ownedAtOpen;
  }

  addOwned(blocks: number): void {
    this.#ownedAtOpen += blocks;
  }

  /** The layers directly above it. */
  get children(): readonly Layer[] {
    if (this.#children instanceof Set) return [...this.#children];
    return this.#children ? [this.#children] : [];
  }

  addChild(child: Layer): void {
    if (this.#children instanceof Set) this.#children.add(child);
    else this.#children = this.#children ? new Set([this.#children, child]) : child;
  }

  removeChild(child: Layer): void {
    if (this.#children instanceof Set) this.#children.delete(child);
    else if (this.#children === child) this.#children = undefined;
  }

  /** That with the lowest id. */
  get firstChild(): Layer | undefined {
    if (!(this.#children instanceof Set)) return this.#children;
    let first: Layer | undefined;
    for (const child of this.#children) if (!first || child.id < first.id) first = child;
    return first;
  }

  /** A volume or a snapshot refers to it. */
  get isNamed(): boolean {
    return this.snapshotId !== undefined || this.volumeId !== undefined;
  }

  /** No volume or snapshot refers to it and it has at most one child: it can be folded. */
  get isUnreferenced(): boolean {
    return !this.isNamed && this.#childCount <= 1;
  }

  /** It has no children: it may be written to. */
  get isTop(): boolean {
    return this.#childCount === 0;
  }

  get #childCount(): number {
    if (this.#children instanceof Set) return this.#children.size;
    return this.#children ? 1 : 0;
  }
}

/** The layer and all below it. */
export function stackOf(top: Layer | undefined): Layer[] {
  const stack: Layer[] = [];
  for (let layer = top; layer; layer = layer.parent) stack.push(layer);
  return stack;
}

/** All layers of a pool, as a tree. */
export class Layers {
  readonly #database: Database;
  readonly #commits: PoolCommits;
  readonly #layers = new Map<number, Layer>();
  #nextId = 1;

  constructor(database: Database, commits: PoolCommits) {
    this.#database = database;
    this.#commits = commits;
    this.#openAll();
  }

  get(id: number): Layer {
    const layer = this.#layers.get(id);
    if (!layer) throw new Error(`layer ${id} is not in the pool`);
    return layer;
  }

  /** Whether the layer is still part of the pool. */
  has(layer: Layer): boolean {
    return this.#layers.get(layer.id) === layer;
  }

  all(): IterableIterator<Layer> {
    return this.#layers.values();
  }

  create(format: FormatName, parent: Layer | undefined): Layer {
    const id = this.#nextId++;
    const layer = new Layer(id, format, parent, emptyMap);
    this.#layers.set(id, layer);
    const parentId = parent?.id ?? null;
    this.#commits.enqueue((tx) => {
      tx.run('INSERT OR REPLACE INTO layers (id, parent, format) VALUES (?, ?, ?)', id, parentId, format);
    });
    return layer;
  }

  /** Removes the layer from the tree; its children become those of its parent. The caller handles its extents. */
  remove(layer: Layer): void {
    assert.ok(!layer.isNamed, `layer ${layer.id} is removed while a volume or snapshot refers to it`);
    layer.parent?.removeChild(layer);
    for (const child of layer.children) {
      layer.removeChild(child);
      this.#reparent(child, layer.parent);
    }
    this.#layers.delete(layer.id);
    const { id } = layer;
    this.#commits.enqueue((tx) => {
      tx.run('DELETE FROM maps WHERE layer = ?', id);
      tx.run('DELETE FROM layers WHERE id = ?', id);
    });
  }

  #reparent(child: Layer, parent: Layer | undefined): void {
    child.parent = parent;
    parent?.addChild(child);
    const { id } = child;
    const parentId = parent?.id ?? null;
    this.#commits.enqueue((tx) => {
      tx.run('UPDATE layers SET parent = ? WHERE id = ?', parentId, id);
    });
  }

  #openAll(): void {
    const load = (layer: Layer): ExtentMap => this.#readMap(layer);
    // Parents are older than their children, except after a fold; so they are linked in a second pass.
    const rows = this.#database.all<LayerRow>('SELECT id, parent, format FROM layers ORDER BY id');
    for (const { id, format } of rows) {
      // A string for each row would add up.
      const name = format === 'reduced' ? 'reduced' : 'plain';
      this.#layers.set(id, new Layer(id, name, undefined, load));
      this.#nextId = id + 1;
    }
    for (const { id, parent } of rows) {
      if (parent === null) continue;
      const layer = this.get(id);
      layer.parent = this.get(parent);
      layer.parent.addChild(layer);
    }
  }

  #readMap(layer: Layer): ExtentMap {
    const map = emptyMap(layer);
    const rows = this.#database.iterate<PageRow>('SELECT page, entries, blocks FROM maps WHERE layer = ?', layer.id);
    for (const row of rows) map.add(pageOf(row, layer.format));
    return map;
  }
}

interface LayerRow {
  readonly id: number;
  readonly parent: number | null;
  readonly format: FormatName;
}

interface PageRow {
  readonly page: number;
  readonly entries: Uint8Array;
  readonly blocks: Uint8Array | null;
}

function emptyMap(layer: Layer): ExtentMap {
  return new ExtentMap(layer.format === 'reduced');
}

function pageOf(row: PageRow, format: FormatName): ExtentMapPage {
  // Copied: the memory that SQLite returns may be unaligned.
  const { buffer } = row.entries.slice();
  if (format === 'reduced') return new ExtentMapPage(row.page, new Float64Array(buffer));
  const blocks = row.blocks?.slice().buffer;
  if (!blocks) return new ExtentMapPage(row.page, new Uint32Array(buffer));
  const low = new Uint32Array(blocks, 0, EXTENTS_PER_PAGE);
  const high = new Uint32Array(blocks, EXTENTS_PER_PAGE * 4, EXTENTS_PER_PAGE);
  return new ExtentMapPage(row.page, new Uint32Array(buffer), low, high);
}
