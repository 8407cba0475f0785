import { BLOCK_BYTES } from '../units.ts';

export interface CacheStatistics {
  readonly capacityBytes: number;
  readonly usedBytes: number;
  /** Blocks served from the cache, and blocks that had to be read. */
  readonly hits: number;
  readonly misses: number;
  /** Blocks written that were cached, and blocks that were not. The drives get them at once either way. */
  readonly writeHits: number;
  readonly writeMisses: number;
}

const STAMPS = 4096;

/**
 * Recently read blocks by their address in the pool, so that a snapshot and its clones share them. Clock eviction. A
 * reader that fills the cache after waiting for a drive passes the stamp it took before, so that bytes overtaken by a
 * write are never cached.
 */
export class ReadCache {
  /** Whether blocks read through snapshots and clones are cached. */
  keepsForeign = true;
  readonly #slots: number;
  readonly #bytes: Buffer;
  readonly #where = new Map<number, number>();
  readonly #keys: Float64Array;
  readonly #touched: Uint8Array;
  readonly #stamps = new Uint32Array(STAMPS);
  /** The round of the last read. */
  readonly #rounds: Uint32Array;
  #round = 0;
  #hand = 0;
  #hits = 0;
  #misses = 0;
  #writeHits = 0;
  #writes = 0;

  constructor(capacityBytes: number) {
    this.#slots = Math.floor(capacityBytes / BLOCK_BYTES);
    this.#bytes = Buffer.alloc(this.#slots * BLOCK_BYTES);
    this.#keys = new Float64Array(this.#slots).fill(-1);
    this.#touched = new Uint8Array(this.#slots);
    this.#rounds = new Uint32Array(this.#slots);
  }

  /** Copies the blocks when all of them are cached. */
  read(firstBlock: number, into: Buffer): boolean {
    const count = into.length / BLOCK_BYTES;
    for (let index = 0; index < count; index++) {
      const slot = this.#where.get(firstBlock + index);
      if (slot === undefined) {
        this.#misses += count;
        return false;
      }
      this.#bytes.copy(into, index * BLOCK_BYTES, slot * BLOCK_BYTES, (slot + 1) * BLOCK_BYTES);
      this.#touched[slot] = 1;
      this.#rounds[slot] = this.#round;
    }
    this.#hits += count;
    return true;
  }

  /** Counts reads that bypass the cache because they would evict more than they save. */
  missed(count: number): void {
    this.#misses += count;
  }

  stamp(firstBlock: number, count: number): number {
    let sum = 0;
    for (let index = 0; index < count; index++) sum += this.#stamps[(firstBlock + index) % STAMPS] ?? 0;
    return sum;
  }

  fill(firstBlock: number, from: Buffer, stamp: number): void {
    const count = from.length / BLOCK_BYTES;
    if (this.#slots === 0 || stamp !== this.stamp(firstBlock, count)) return;
    for (let index = 0; index < count; index++) {
      const slot = this.#where.get(firstBlock + index) ?? this.#evict(firstBlock + index);
      this.#rounds[slot] = this.#round;
      from.copy(this.#bytes, slot * BLOCK_BYTES, index * BLOCK_BYTES, (index + 1) * BLOCK_BYTES);
    }
  }

  /** Before each write: counts it, and drops what it overwrites. */
  beginWrite(firstBlock: number, count: number): void {
    this.#writes += count;
    for (let index = 0; index < count; index++) if (this.#where.has(firstBlock + index)) this.#writeHits++;
    this.invalidate(firstBlock, count);
  }

  /** The blocks are being written: their cached content is invalid. */
  invalidate(firstBlock: number, count: number): void {
    for (let index = 0; index < count; index++) {
      const block = firstBlock + index;
      const at = block % STAMPS;
      this.#stamps[at] = (this.#stamps[at] ?? 0) + 1;
      const slot = this.#where.get(block);
      if (slot !== undefined) this.#drop(block, slot);
    }
  }

  /** A round has passed: drops blocks that were not read for `rounds` rounds. */
  cool(rounds: number): void {
    this.#round++;
    for (const [block, slot] of this.#where) {
      if (this.#round - (this.#rounds[slot] ?? 0) > rounds) this.#drop(block, slot);
    }
  }

  statistics(): CacheStatistics {
    return {
      capacityBytes: this.#slots * BLOCK_BYTES,
      usedBytes: this.#where.size * BLOCK_BYTES,
      hits: this.#hits,
      misses: this.#misses,
      writeHits: this.#writeHits,
      writeMisses: this.#writes - this.#writeHits,
    };
  }

  #drop(block: number, slot: number): void {
    this.#where.delete(block);
    this.#keys[slot] = -1;
    this.#touched[slot] = 0;
  }

  #evict(block: number): number {
    while (this.#touched[this.#hand] === 1) {
      this.#touched[this.#hand] = 0;
      this.#hand = (this.#hand + 1) % this.#slots;
    }
    const slot = this.#hand;
    this.#hand = (this.#hand + 1) % this.#slots;
    const before = this.#keys[slot] ?? -1;
    if (before >= 0) this.#where.delete(before);
    this.#keys[slot] = block;
    this.#where.set(block, slot);
    return slot;
  }
}
