/** Shared by the calling thread and its helper: a ring of slots, each a request. The bytes are in the arena. */
export const SLOTS = 128;

/** Indices in `control`: requests enqueued, requests the helper has passed, and whether it sleeps. */
export const ASKED = 0;
export const PASSED = 1;
export const ASLEEP = 2;

/** Kinds of requests. */
export const READ = 0;
export const WRITE = 1;

/** The maximum number of files of a write: a mirror has no more copies. */
export const COPIES_MAX = 3;

/** Both counters in `control` wrap around here. */
export const NUMBER_MASK = 0x7fffffff;

export interface HelperRing {
  readonly control: Int32Array;
  readonly copies: Int32Array;
  /** Per slot and copy. */
  readonly files: Int32Array;
  readonly lengths: Int32Array;
  readonly offsets: Float64Array;
  /** The address of the bytes in the memory of the kernels. */
  readonly addresses: Int32Array;
  readonly kinds: Int32Array;
  /** The address of the blocks' checksums; 0 if they are not requested. */
  readonly sums: Int32Array;
  /** The piece that the helper begins with. */
  readonly splits: Int32Array;
  /** Pieces of a request that either thread has claimed, and pieces the helper has ended. */
  readonly begun: Int32Array;
  readonly ended: Int32Array;
  /** Per slot and copy: 0 or the helper's error number, and the time it took. */
  readonly problems: Int32Array;
  readonly milliseconds: Float64Array;
}

export function createRing(): HelperRing {
  const words = (count = SLOTS): Int32Array => new Int32Array(new SharedArrayBuffer(count * 4));
  const numbers = (count = SLOTS): Float64Array => new Float64Array(new SharedArrayBuffer(count * 8));
  return {
    control: words(3),
    copies: words(),
    files: words(SLOTS * COPIES_MAX),
    lengths: words(),
    offsets: numbers(),
    addresses: words(),
    kinds: words(),
    sums: words(),
    splits: words(),
    begun: words(),
    ended: words(),
    problems: words(SLOTS * COPIES_MAX),
    milliseconds: numbers(SLOTS * COPIES_MAX),
  };
}
