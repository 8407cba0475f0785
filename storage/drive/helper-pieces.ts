import type { Kernels } from '../kernels/shared.ts';
import { BLOCK_BYTES } from '../units.ts';
import { PIECE_BYTES, readWhole, writeWhole } from './file-pieces.ts';
import { COPIES_MAX, type HelperRing, WRITE } from './helper-ring.ts';

const SUM_BYTES = 4;

/** The result of a piece for one of the copies. */
export type OnCopy = (copy: number, milliseconds: number, error: Error | undefined) => void;

/** The next piece of `count` for a thread that has claimed `own` pieces, when the helper begins with `split`. */
type Order = (own: number, split: number, count: number) => number;

/** From the front to where the helper began, then from the end. */
export const callerOrder: Order = (own, split, count) => (own < split ? own : count - 1 - (own - split));

/** From where it begins to the end, then backwards to the front. */
export const helperOrder: Order = (own, split, count) => (own < count - split ? split + own : count - 1 - own);

/**
 * A request is executed in pieces. Whichever thread is free claims the next one, so both end at nearly the same time,
 * however late the helper woke up. One thread does all of a piece, its checksums and every copy, while it is in the
 * processor's cache. For the same reason each thread stays in its half as long as possible: a reused buffer has that
 * half in the cache of the same processor.
 */
export class HelperPieces {
  readonly #order: Order;
  readonly #ring: HelperRing;
  readonly #kernels: Kernels;
  readonly #memory: Buffer;

  constructor(order: Order, ring: HelperRing, kernels: Kernels, memory: Buffer) {
    this.#order = order;
    this.#ring = ring;
    this.#kernels = kernels;
    this.#memory = memory;
  }

  /**
   * The offset of an unclaimed piece, for a thread that has claimed `own` pieces; it belongs to the caller now. -1 if
   * there is none.
   */
  claim(slot: number, own: number): number {
    const { begun, lengths, splits } = this.#ring;
    const count = piecesOf(lengths[slot] ?? 0);
    if (Atomics.add(begun, slot, 1) >= count) return -1;
    return this.#order(own, splits[slot] ?? 0, count) * PIECE_BYTES;
  }

  /** Threads that begin with different copies do not wait for each other at a file. */
  carryOut(slot: number, at: number, firstCopy: number, onCopy: OnCopy): void {
    const { lengths, addresses, copies, kinds, offsets } = this.#ring;
    const address = (addresses[slot] ?? 0) + at;
    const piece = this.#memory.subarray(address, address + Math.min(PIECE_BYTES, (lengths[slot] ?? 0) - at));
    const isWrite = kinds[slot] === WRITE;
    const count = copies[slot] ?? 0;
    const offset = (offsets[slot] ?? 0) + at;
    if (isWrite) this.#sum(slot, at, piece);
    for (let turn = 0; turn < count; turn += 1) {
      const copy = (firstCopy + turn) % count;
      this.#use(slot, copy, isWrite, offset, piece, onCopy);
    }
    if (!isWrite) this.#sum(slot, at, piece);
  }

  #use(slot: number, copy: number, isWrite: boolean, offset: number, piece: Buffer, onCopy: OnCopy): void {
    const file = this.#ring.files[slot * COPIES_MAX + copy] ?? -1;
    const startMs = performance.now();
    let problem: Error | undefined;
    try {
      if (isWrite) writeWhole(file, piece, offset);
      else readWhole(file, piece, offset);
    } catch (error) {
      problem = error as Error;
    }
    onCopy(copy, performance.now() - startMs, problem);
  }

  #sum(slot: number, at: number, piece: Buffer): void {
    const into = (this.#ring.sums[slot] ?? 0) + (at / BLOCK_BYTES) * SUM_BYTES;
    this.#kernels.checksums(piece.byteOffset, piece.length / BLOCK_BYTES, into);
  }
}

export function piecesOf(bytes: number): number {
  return Math.ceil(bytes / PIECE_BYTES);
}
