import { BLOCK_BYTES } from '../../units.ts';
import type { Layout } from '../layout.ts';

/** Blocks of one chunk: their place on a member and in the caller's buffer. */
export interface ChunkPart {
  readonly stripe: number;
  /** Which of the stripe's data shards. */
  readonly shard: number;
  readonly row: number;
  readonly count: number;
  /** The first block in the caller's buffer. */
  readonly at: number;
}

/**
 * The layout of data and parity in a RAID6. The shards of a stripe are its data chunks, then P, then Q; they rotate by
 * one slot from stripe to stripe, so that every member carries its share of the parity.
 */
export class StripeMap {
  readonly slots: number;
  readonly dataShards: number;
  readonly chunkRows: number;

  constructor(layout: Layout) {
    this.slots = layout.memberCount;
    this.dataShards = layout.dataMembers;
    this.chunkRows = layout.stripeBytes / BLOCK_BYTES;
  }

  stripeOf(row: number): number {
    return Math.floor(row / this.chunkRows);
  }

  slotOf(stripe: number, shard: number): number {
    const parity = this.slots - 1 - (stripe % this.slots);
    return (parity + 2 + shard) % this.slots;
  }

  shardOf(stripe: number, slot: number): number {
    const parity = this.slots - 1 - (stripe % this.slots);
    return (slot - parity - 2 + 2 * this.slots) % this.slots;
  }

  /** The part of a chunk that begins at a block of the group, at most `most` blocks long. */
  partAt(block: number, most: number, at: number): ChunkPart {
    const inStripe = block % (this.dataShards * this.chunkRows);
    const stripe = (block - inStripe) / (this.dataShards * this.chunkRows);
    const inChunk = inStripe % this.chunkRows;
    const count = Math.min(most, this.chunkRows - inChunk);
    const shard = (inStripe - inChunk) / this.chunkRows;
    return { stripe, shard, row: stripe * this.chunkRows + inChunk, count, at };
  }

  *parts(block: number, count: number): Generator<ChunkPart> {
    for (let at = 0; at < count;) {
      const part = this.partAt(block + at, count - at, at);
      yield part;
      at += part.count;
    }
  }

  /** Splits rows at the ends of stripes. */
  *pieces(row: number, count: number): Generator<{ readonly row: number; readonly count: number }> {
    const end = row + count;
    for (let start = row; start < end;) {
      const next = Math.min(end, (this.stripeOf(start) + 1) * this.chunkRows);
      yield { row: start, count: next - start };
      start = next;
    }
  }
}
