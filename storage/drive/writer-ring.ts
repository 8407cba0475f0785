/** What the thread that asks and the thread that writes share: a ring of slots, each a request with its bytes. */
export const SLOTS = 128;
export const SLOT_BYTES = 16 * 1024;

/** Places in `control`: how many requests were put in, how many are done, and whether the writer sleeps. */
export const ASKED = 0;
export const DONE = 1;
export const ASLEEP = 2;

export interface WriterRing {
  readonly control: Int32Array;
  /** For each slot the file, the length, and afterwards 0 or the number of what went wrong. */
  readonly files: Int32Array;
  readonly lengths: Int32Array;
  readonly problems: Int32Array;
  readonly offsets: Float64Array;
  readonly bytes: Uint8Array;
}

export function createRing(): WriterRing {
  const words = (count: number): Int32Array => new Int32Array(new SharedArrayBuffer(count * 4));
  return {
    control: words(3),
    files: words(SLOTS),
    lengths: words(SLOTS),
    problems: words(SLOTS),
    offsets: new Float64Array(new SharedArrayBuffer(SLOTS * 8)),
    bytes: new Uint8Array(new SharedArrayBuffer(SLOTS * SLOT_BYTES)),
  };
}
