import assert from 'node:assert/strict';
import type { Database } from '@granary/kernel/sqlite';
import { setImmediate } from 'node:timers/promises';
import type { PoolCommits } from '../../metadata/pool-commits.ts';
import { BLOCK_BYTES, type Done } from '../../units.ts';
import { entriesOf, HOLE } from '../extent-map.ts';
import type { LayerFormat, LayerView } from '../format.ts';
import type { Layer, Layers } from '../layers.ts';
import { BLOCKS_PER_CHUNK } from './address.ts';
import { addressAt, ChunkReferences, placeAt } from './chunk-references.ts';
import { ChunkIndex } from './chunk-index.ts';
import { type ChunkPart, ChunkReader } from './chunk-reader.ts';
import { ChunkSpace, type ContainerStore } from './chunk-space.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { CHUNK_BYTES } from './codec.ts';
import { each } from './each.ts';
import { openContainers } from './opening.ts';
import type { PoolReduction } from './reduction.ts';

const ENTRIES_PER_TURN = 1024;

/**
 * Chunks of a volume are compressed, deduplicated, and packed into containers; nothing is written in place. A map entry
 * refers to a whole chunk, so a layer hides lower ones chunk by chunk.
 */
export class ReducedFormat implements LayerFormat {
  readonly entryBytes = CHUNK_BYTES;
  readonly space: ChunkSpace;
  readonly #database: Database;
  readonly #references: ChunkReferences;
  readonly #reader: ChunkReader;
  readonly #writer: ChunkWriter;

  constructor(store: ContainerStore, commits: PoolCommits, database: Database) {
    this.#database = database;
    this.space = new ChunkSpace(store, commits);
    this.#references = new ChunkReferences(this.space, new ChunkIndex(database, commits), commits);
    this.#reader = new ChunkReader(this.space);
    this.#writer = new ChunkWriter(this.space, this.#references, this.#reader);
  }

  /** Loads the containers. Their extents are claimed already. */
  open(layers: Layers): void {
    openContainers(this.#database, this.space, this.#references.totals, layers);
  }

  /** Of all volumes together. */
  reduction(): PoolReduction {
    return this.#references.totals.reduction(this.space.containers);
  }

  read(view: LayerView, offset: number, into: Buffer): Done {
    const parts: ChunkPart[] = [];
    for (const { number, from, count } of partsOf(offset / BLOCK_BYTES, into.length / BLOCK_BYTES)) {
      parts.push({ ...placeAt(view, number), from, count });
    }
    return this.#reader.read(parts, view.cipher, into);
  }

  write(view: LayerView, offset: number, from: Buffer): Done {
    if (!view.layer.isTop) assert.fail('only the top layer is written to');
    return this.#writer.write(view, offset / BLOCK_BYTES, from);
  }

  discard(view: LayerView, offset: number, length: number): Done {
    const { layer } = view;
    const edges: { number: number; from: number; count: number }[] = [];
    for (const part of partsOf(offset / BLOCK_BYTES, length / BLOCK_BYTES)) {
      if (part.count === BLOCKS_PER_CHUNK) this.#references.clear(layer, part.number);
      else if (addressAt(layer, part.number) !== undefined) edges.push(part);
    }
    if (edges.length === 0) return this.#references.pendingBounded();
    return each(edges, edges.length, ({ number, from, count }) => {
      return this.#writer.write(view, number * BLOCKS_PER_CHUNK + from, Buffer.alloc(count * BLOCK_BYTES));
    });
  }

  isMapped(layer: Layer, block: number): boolean {
    return addressAt(layer, Math.floor(block / BLOCKS_PER_CHUNK)) !== undefined;
  }

  entryState(layer: Layer, number: number): 'mapped' | 'unmapped' {
    return addressAt(layer, number) === undefined ? 'unmapped' : 'mapped';
  }

  release(entry: number): void {
    this.#references.release(entry);
  }

  /** Chunks are whole: the upper entry hides the lower one, which is released at once. */
  mergeEntry(lower: Layer, upper: Layer, entry: number): Done {
    if (upper.map.get(entry) === HOLE || lower.map.get(entry) === HOLE) return undefined;
    this.#references.put(lower, entry, HOLE);
    return this.#references.pendingBounded();
  }

  /** Chunks keep their address: containers move, and maps do not change. */
  relocateEntry(): Done {
    return undefined;
  }

  async drain(layer: Layer): Promise<void> {
    const numbers = [...entriesOf(layer.map)].map(({ number }) => number);
    for (const [index, number] of numbers.entries()) {
      this.#references.put(layer, number, HOLE);
      if (index % ENTRIES_PER_TURN === 0) await setImmediate();
      const pending = this.#references.pendingBounded();
      if (pending) await pending;
    }
  }

  /** Containers on extents of which `has` is true. */
  containersOn(has: (extent: number) => boolean): number[] {
    const { containers } = this.space;
    return [...containers.ids()].filter((id) => has(containers.extentOf(id) ?? 0));
  }
}

/** Splits a range of blocks at chunk boundaries. */
function* partsOf(block: number, count: number): Generator<{ number: number; from: number; count: number }> {
  for (let at = block; at < block + count;) {
    const from = at % BLOCKS_PER_CHUNK;
    const some = Math.min(BLOCKS_PER_CHUNK - from, block + count - at);
    yield { number: (at - from) / BLOCKS_PER_CHUNK, from, count: some };
    at += some;
  }
}
