import assert from 'node:assert/strict';
import type { Database } from '@granary/kernel/sqlite';
import { setImmediate } from 'node:timers/promises';
import type { PoolCommits } from '../../metadata/pool-commits.ts';
import { BLOCK_BYTES, type Done } from '../../units.ts';
import { allocate, release } from '../../kernels/index.ts';
import { entriesOf, HOLE, OPAQUE } from '../extent-map.ts';
import type { LayerFormat, LayerView, LayerWriter } from '../format.ts';
import type { Layer, Layers } from '../layers.ts';
import { BLOCKS_PER_CHUNK } from './address.ts';
import { ChunkReferences, placeAt, shownAt } from './chunk-references.ts';
import { ChunkIndex } from './chunk-index.ts';
import { type ChunkPart, ChunkReader } from './chunk-reader.ts';
import { ChunkSpace, type ContainerStore } from './chunk-space.ts';
import { ChunkWriter } from './chunk-writer.ts';
import { CHUNK_BYTES } from './codec.ts';
import { each } from './each.ts';
import { openContainers } from './opening.ts';
import { CHUNKS_PER_EXTENT, PlainBelow } from './plain-below.ts';
import type { PoolReduction } from './reduction.ts';

const ENTRIES_PER_TURN = 1024;

/**
 * Chunks of a volume are compressed, deduplicated, and packed into containers; nothing is written in place. A map entry
 * refers to a whole chunk, so a layer hides lower ones chunk by chunk. Below reduced layers there may be plain ones
 * (`conversion.ts`): where no reduced layer has an entry, they show through block by block.
 */
export class ReducedFormat implements LayerFormat {
  readonly entryBytes = CHUNK_BYTES;
  readonly space: ChunkSpace;
  readonly #database: Database;
  readonly #references: ChunkReferences;
  readonly #reader: ChunkReader;
  readonly #writer: ChunkWriter;
  readonly #below: PlainBelow;

  constructor(store: ContainerStore, commits: PoolCommits, database: Database, plain: LayerFormat) {
    this.#database = database;
    this.space = new ChunkSpace(store, commits);
    this.#below = new PlainBelow(plain);
    this.#references = new ChunkReferences(this.space, new ChunkIndex(database, commits), commits, this.#below);
    this.#reader = new ChunkReader(this.space, this.#below);
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
      else if (this.#references.isShown(layer, part.number)) edges.push(part);
    }
    if (edges.length === 0) return this.#references.pendingBounded();
    return each(edges, edges.length, ({ number, from, count }) => {
      return this.#writer.write(view, number * BLOCKS_PER_CHUNK + from, Buffer.alloc(count * BLOCK_BYTES));
    });
  }

  isMapped(layer: Layer, block: number): boolean {
    const shown = shownAt(layer, Math.floor(block / BLOCKS_PER_CHUNK));
    return typeof shown === 'object' ? this.#below.isMapped(shown, block) : shown !== undefined;
  }

  entryState(layer: Layer, number: number): 'mapped' | 'unmapped' | 'partial' {
    const shown = shownAt(layer, number);
    if (typeof shown === 'object') return this.#below.state(shown, number);
    return shown === undefined ? 'unmapped' : 'mapped';
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

  /**
   * Copies to `upper` what it shows of an extent of the plain layer below it, `lower`; afterwards it hides all of it.
   * Nothing else writes to the extent meanwhile.
   */
  async absorb(lower: Layer, upper: Layer, extent: number, { cipher, options }: LayerWriter): Promise<void> {
    const view = { layer: upper, cipher, options };
    const end = (extent + 1) * CHUNKS_PER_EXTENT;
    const isWanted = (number: number): boolean =>
      upper.map.get(number) === HOLE && this.#below.isChunkMapped(lower, number);
    for (let first = extent * CHUNKS_PER_EXTENT; first < end; first++) {
      let next = first;
      while (next < end && isWanted(next)) next++;
      if (next === first) continue;
      const bytes = allocate((next - first) * CHUNK_BYTES);
      try {
        await this.#below.read({ layer: lower, number: first }, 0, cipher, bytes);
        await this.#writer.write(view, first * BLOCKS_PER_CHUNK, bytes);
      } finally {
        release(bytes);
      }
      first = next - 1;
    }
  }

  /** The chunk reads as zeros, whatever lower layers hold. */
  hide(layer: Layer, number: number): void {
    this.#references.put(layer, number, OPAQUE);
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
