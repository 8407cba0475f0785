import type { Database } from '@granary/kernel/sqlite';
import type { Commits } from '../metadata/commits.ts';
import { EXTENTS_PER_PAGE, ExtentMap, MapPage } from './extent-map.ts';

export type FormatName = 'plain' | 'reduced';

/**
 * One layer of a volume: what was written while it was on top. Below it lies its parent; above it the layers of later
 * snapshots and of clones. Only a layer with nothing above it is written to.
 */
export class Layer {
  readonly id: number;
  readonly format: FormatName;
  parent: Layer | undefined;
  /** Most have one or none, and there are as many layers as snapshots: a set for each would weigh more than the rest. */
  #children: Layer | Set<Layer> | undefined;
  /** The snapshot that shows this layer and those below. */
  snapshotId: string | undefined;
  /** The volume this layer is the top of. */
  volumeId: string | undefined;
  /** The volume that wrote it, as far as is known: clones read what others wrote. */
  ownerId: string | undefined;
  /** What the map holds, before it is read. */
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

  /** Read from disk at the first touch: a pool of many volumes opens without their maps. */
  get map(): ExtentMap {
    this.#map ??= this.#load(this);
    return this.#map;
  }

  /** Blocks its entries take. Known without reading the map. */
  get ownedBlocks(): number {
    return this.#map?.ownedBlocks ?? this.#ownedAtOpen;
  }

  noteOwned(blocks: number): void {
    this.#ownedAtOpen += blocks;
  }

  /** The layers that stand on it. */
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

  /** Nobody names it and at most one layer stands on it: it can be folded away. */
  get isForgotten(): boolean {
    return this.snapshotId === undefined && this.volumeId === undefined && this.#childCount <= 1;
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

/** Every layer of a pool, and how they stand on each other. */
export class Layers {
  readonly #database: Database;
  readonly #commits: Commits;
  readonly #layers = new Map<number, Layer>();
  #nextId = 1;

  constructor(database: Database, commits: Commits) {
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

  /** Takes the layer out of the tree; what stood on it stands on its parent. Its extents are the caller's business. */
  remove(layer: Layer): void {
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
    // Parents are older than what stands on them, except after a fold; so link in a second pass.
    const rows = this.#database.all<LayerRow>('SELECT id, parent, format FROM layers ORDER BY id');
    for (const { id, format } of rows) {
      // A text of its own for each row would add up.
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

function pageOf(row: PageRow, format: FormatName): MapPage {
  // In memory of their own: what SQLite returns may lie anywhere.
  const { buffer } = row.entries.slice();
  if (format === 'reduced') return new MapPage(row.page, new Float64Array(buffer));
  const blocks = row.blocks?.slice().buffer;
  if (!blocks) return new MapPage(row.page, new Uint32Array(buffer));
  const low = new Uint32Array(blocks, 0, EXTENTS_PER_PAGE);
  const high = new Uint32Array(blocks, EXTENTS_PER_PAGE * 4, EXTENTS_PER_PAGE);
  return new MapPage(row.page, new Uint32Array(buffer), low, high);
}
