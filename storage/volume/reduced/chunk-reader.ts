import { allocate, release, type Xts } from '../../kernels/index.ts';
import { BLOCK_BYTES, type Done } from '../../units.ts';
import type { Caching } from '../format.ts';
import { zeroFill } from '../pieces.ts';
import { BLOCKS_PER_CHUNK, blockCountOf, cipherUnitOf, containerOf, isRaw } from './address.ts';
import { ChunkCache } from './chunk-cache.ts';
import type { ChunkSpace } from './chunk-space.ts';
import { copyPart, unpack } from './codec.ts';
import { allOf } from './each.ts';
import type { PlainBelow, PlainChunk } from './plain-below.ts';

const CACHED_CHUNKS_MAX = 256;

/** Where a chunk is stored: at an address, or in plain layers; without either it is zeros. */
export interface Place {
  readonly address?: number | undefined;
  readonly plain?: PlainChunk;
  readonly caching?: Caching;
}

/** Blocks [from, from + count) of a chunk. */
export interface ChunkPart extends Place {
  readonly from: number;
  readonly count: number;
}

/** Reads and unpacks chunks, and caches recently unpacked ones for sequential readers. */
export class ChunkReader {
  readonly #space: ChunkSpace;
  readonly #below: PlainBelow;
  readonly #cache = new ChunkCache(CACHED_CHUNKS_MAX);
  readonly #loading = new Map<number, Promise<Buffer>>();

  constructor(space: ChunkSpace, below: PlainBelow) {
    this.#space = space;
    this.#below = below;
  }

  /** Reads parts into consecutive parts of the buffer. All of them are looked up before this returns. */
  read(parts: readonly ChunkPart[], cipher: Xts | undefined, into: Buffer): Done {
    const waits: Promise<void>[] = [];
    let block = 0;
    for (const part of neighboursJoined(parts)) {
      const target = into.subarray(block * BLOCK_BYTES, (block + part.count) * BLOCK_BYTES);
      const done = this.#readPart(part, cipher, target);
      if (done) waits.push(done);
      block += part.count;
    }
    return waits.length === 0 ? undefined : this.#space.readers.during(allOf(waits));
  }

  /** The address is reused for other bytes. */
  drop(address: number): void {
    this.#cache.drop(address);
  }

  #readPart({ address, plain: chunk, from, caching }: ChunkPart, cipher: Xts | undefined, into: Buffer): Done {
    if (chunk) return this.#below.read(chunk, from, cipher, into, caching);
    if (address === undefined) return zeroFill(into);
    if (isRaw(address)) return this.#readRaw(address, from, cipher, into, caching);
    const plain = this.#cache.get(address);
    if (!plain) return this.#unpackInto(address, from, cipher, into, caching);
    copyPart(plain, from * BLOCK_BYTES, into);
    return undefined;
  }

  #readRaw(address: number, from: number, cipher: Xts | undefined, into: Buffer, caching?: Caching): Done {
    const done = this.#space.read(address, from, into, caching);
    if (!cipher) return done;
    const unit = cipherUnitOf(address) + from;
    if (done) return done.then(() => cipher.decrypt(into, unit));
    cipher.decrypt(into, unit);
    return undefined;
  }

  async #unpackInto(address: number, from: number, cipher: Xts | undefined, into: Buffer, caching?: Caching) {
    let loading = this.#loading.get(address);
    if (!loading) {
      loading = this.#load(address, cipher, caching).finally(() => this.#loading.delete(address));
      this.#loading.set(address, loading);
    }
    copyPart(await loading, from * BLOCK_BYTES, into);
  }

  async #load(address: number, cipher: Xts | undefined, caching: Caching | undefined): Promise<Buffer> {
    const stored = allocate(blockCountOf(address) * BLOCK_BYTES);
    try {
      await this.#space.read(address, 0, stored, caching);
      cipher?.decrypt(stored, cipherUnitOf(address));
      const plain = await unpack(stored);
      this.#cache.put(address, plain);
      return plain;
    } finally {
      release(stored);
    }
  }
}

/** Adjacent raw chunks, and adjacent plain ones, are read in one request. */
function neighboursJoined(parts: readonly ChunkPart[]): ChunkPart[] {
  const joined: ChunkPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last && adjoins(last, part)) joined[joined.length - 1] = { ...last, count: last.count + part.count };
    else joined.push(part);
  }
  return joined;
}

function adjoins(one: ChunkPart, next: ChunkPart): boolean {
  if (one.plain || next.plain) return isPlainNeighbour(one, next);
  if (one.address === undefined || next.address === undefined) return one.address === next.address;
  if (one.caching !== next.caching) return false;
  if (!isRaw(one.address) || !isRaw(next.address) || next.from !== 0) return false;
  if (containerOf(one.address) !== containerOf(next.address)) return false;
  return cipherUnitOf(one.address) + one.from + one.count === cipherUnitOf(next.address);
}

function isPlainNeighbour(one: ChunkPart, next: ChunkPart): boolean {
  if (one.plain?.layer !== next.plain?.layer || !one.plain || !next.plain) return false;
  if (one.caching !== next.caching || next.from !== 0) return false;
  return (one.plain.number - next.plain.number) * BLOCKS_PER_CHUNK + one.from + one.count === 0;
}
