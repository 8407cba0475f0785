/** What the thread that asks and the one that helps share: a ring of slots, each a request. Its bytes are in the arena. */
export const SLOTS = 128;

/** Places in `control`: how many requests were put in, how many are done, and whether the helper sleeps. */
export const ASKED = 0;
export const DONE = 1;
export const ASLEEP = 2;

/** Kinds of requests. */
export const READ = 0;
export const WRITE = 1;

export interface HelperRing {
  readonly control: Int32Array;
  readonly files: Int32Array;
  readonly lengths: Int32Array;
  readonly offsets: Float64Array;
  /** Where the bytes are in the memory of the kernels. */
  readonly addresses: Int32Array;
  readonly kinds: Int32Array;
  /** Where the checksums of the blocks go; 0 if nobody asks for them. */
  readonly sums: Int32Array;
  /** Afterwards 0, or the number of what went wrong. */
  readonly problems: Int32Array;
  /** Afterwards how long it took, without waiting for its turn. */
  readonly milliseconds: Float64Array;
}

export function createRing(): HelperRing {
  const words = (count = SLOTS): Int32Array => new Int32Array(new SharedArrayBuffer(count * 4));
  const numbers = (): Float64Array => new Float64Array(new SharedArrayBuffer(SLOTS * 8));
  return {
    control: words(3),
    files: words(),
    lengths: words(),
    offsets: numbers(),
    addresses: words(),
    kinds: words(),
    sums: words(),
    problems: words(),
    milliseconds: numbers(),
  };
}
