import { setImmediate } from 'node:timers/promises';
import { BLOCK_BYTES, EXTENT_BYTES } from '../../units.ts';
import { entriesOf } from '../extent-map.ts';
import type { Layer } from '../layers.ts';
import { blockCountOf, containerOf, FIRST_CONTAINER, firstBlockOf, isAddress } from './address.ts';
import { CHUNK_BYTES } from './codec.ts';
import type { Containers } from './containers.ts';

/** The savings of compression and deduplication, in exact bytes. */
export interface Reduction {
  /** The uncompressed size of the chunks. */
  readonly logicalBytes: number;
  /** Their size if none were shared. */
  readonly compressedBytes: number;
  /** Their size on disk: a shared chunk counts once. */
  readonly storedBytes: number;
}

export interface PoolReduction extends Reduction {
  /** The extents that hold them; the difference is free for more chunks. */
  readonly containerBytes: number;
}

const ENTRIES_PER_TURN = 65_536;

/** The sums over all maps of a pool, updated incrementally. */
export class ReductionTotals {
  #chunks = 0;
  #blocks = 0;

  add(address: number): void {
    this.#chunks++;
    this.#blocks += blockCountOf(address);
  }

  remove(address: number): void {
    this.#chunks--;
    this.#blocks -= blockCountOf(address);
  }

  reduction(containers: Containers): PoolReduction {
    return {
      logicalBytes: this.#chunks * CHUNK_BYTES,
      compressedBytes: this.#blocks * BLOCK_BYTES,
      storedBytes: containers.namedBlocks * BLOCK_BYTES,
      containerBytes: containers.count * EXTENT_BYTES,
    };
  }
}

/** The sums over a few layers. */
export async function reductionOf(layers: Iterable<Layer>): Promise<Reduction> {
  const seen = new SeenChunks();
  let chunks = 0;
  let blocks = 0;
  let distinctBlocks = 0;
  for (const layer of layers) {
    if (layer.format !== 'reduced') continue;
    for (const { entry } of entriesOf(layer.map)) {
      if (!isAddress(entry)) continue;
      chunks++;
      blocks += blockCountOf(entry);
      if (seen.isNew(entry)) distinctBlocks += blockCountOf(entry);
      if (chunks % ENTRIES_PER_TURN === 0) await setImmediate();
    }
  }
  return {
    logicalBytes: chunks * CHUNK_BYTES,
    compressedBytes: blocks * BLOCK_BYTES,
    storedBytes: distinctBlocks * BLOCK_BYTES,
  };
}

/** One bit for each possible start of a chunk: a set of numbers would take ten times the memory. */
class SeenChunks {
  #bits = new Uint32Array(2);

  isNew(address: number): boolean {
    const first = firstBlockOf(address);
    const word = 2 * (containerOf(address) - FIRST_CONTAINER) + (first >>> 5);
    if (word >= this.#bits.length) {
      const larger = new Uint32Array(2 * (word + 1));
      larger.set(this.#bits);
      this.#bits = larger;
    }
    const bit = 1 << (first & 31);
    const bits = this.#bits[word] ?? 0;
    this.#bits[word] = bits | bit;
    return (bits & bit) === 0;
  }
}
