import type { Xts } from '../../kernels/index.ts';
import { BLOCKS_PER_EXTENT, type Done } from '../../units.ts';
import type { Caching, LayerFormat } from '../format.ts';
import type { Layer } from '../layers.ts';
import { BLOCKS_PER_CHUNK } from './address.ts';
import { CHUNK_BYTES } from './codec.ts';

export const CHUNKS_PER_EXTENT = BLOCKS_PER_EXTENT / BLOCKS_PER_CHUNK;

/** A chunk as plain layers hold it. */
export interface PlainChunk {
  readonly layer: Layer;
  readonly number: number;
}

/** What reduced layers show of plain layers below them, chunk by chunk: of volumes whose reduction was switched on later. */
export class PlainBelow {
  readonly #plain: LayerFormat;

  constructor(plain: LayerFormat) {
    this.#plain = plain;
  }

  state(layer: Layer, number: number): 'mapped' | 'unmapped' | 'partial' {
    return this.#plain.entryState(layer, Math.floor(number / CHUNKS_PER_EXTENT));
  }

  isMapped(layer: Layer, block: number): boolean {
    return this.#plain.isMapped(layer, block);
  }

  /** Whether any of the chunk's blocks holds data. */
  isChunkMapped(layer: Layer, number: number): boolean {
    const first = number * BLOCKS_PER_CHUNK;
    for (let block = first; block < first + BLOCKS_PER_CHUNK; block++) if (this.isMapped(layer, block)) return true;
    return false;
  }

  /** Reads from block `from` of the chunk on, across following ones. */
  read(chunk: PlainChunk, from: number, cipher: Xts | undefined, into: Buffer, caching?: Caching): Done {
    const { layer, number } = chunk;
    const offset = number * CHUNK_BYTES + from * (CHUNK_BYTES / BLOCKS_PER_CHUNK);
    return this.#plain.read({ layer, cipher, isSnapshot: caching !== 'own' }, offset, into);
  }
}
