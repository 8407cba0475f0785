/** What the thread that asks and the one that helps share: a ring of slots, each a request. Its bytes are in the arena. */
export const SLOTS = 128;

/** Places in `control`: how many requests were put in, how many the helper has left behind, and whether it sleeps. */
export const ASKED = 0;
export const PASSED = 1;
export const ASLEEP = 2;

/** Kinds of requests. */
export const READ = 0;
export const WRITE = 1;

/** A request to write goes to so many files at most: a mirror has no more copies. */
export const COPIES_MAX = 3;

/** Both numbers in `control` go up to here and begin anew. */
export const NUMBER_MASK = 0x7fffffff;

export interface HelperRing {
  readonly control: Int32Array;
  readonly copies: Int32Array;
  /** Of each slot and copy. */
  readonly files: Int32Array;
  readonly lengths: Int32Array;
  readonly offsets: Float64Array;
  /** Where the bytes are in the memory of the kernels. */
  readonly addresses: Int32Array;
  readonly kinds: Int32Array;
  /** Where the checksums of the blocks go; 0 if nobody asks for them. */
  readonly sums: Int32Array;
  /** The piece that the helper begins with. */
  readonly splits: Int32Array;
  /** How many pieces of a request either thread has begun, and how many the helper has ended. */
  readonly begun: Int32Array;
  readonly ended: Int32Array;
  /** Of each slot and copy: 0, or the number of what went wrong for the helper; and how long it took. */
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
