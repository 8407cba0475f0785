const WORD_BITS = 32;
const ALL = 0xffffffff;

/** Bits of one word of a container's 64 that stand for blocks [first, first + count). */
export function maskOf(first: number, count: number, word: 0 | 1): number {
  const start = Math.min(Math.max(first - word * WORD_BITS, 0), WORD_BITS);
  const end = Math.min(Math.max(first + count - word * WORD_BITS, 0), WORD_BITS);
  const width = end - start;
  if (width <= 0) return 0;
  return (width === WORD_BITS ? ALL : ((1 << width) - 1) << start) >>> 0;
}

/** The longest run of clear bits among 64, but no more than `most`. */
export function longestGap(low: number, high: number, most: number): number {
  let lowStarts = ~low;
  let highStarts = ~high;
  let length = 0;
  // Each iteration keeps the positions where a gap one longer starts.
  while (length < most && (lowStarts | highStarts) !== 0) {
    length++;
    lowStarts &= ((~low >>> length) | shiftedFrom(~high, length)) >>> 0;
    highStarts &= ~high >>> length;
  }
  return length;
}

/** Where the first run of `count` clear bits starts, when there is one. */
export function findGap(low: number, high: number, count: number): number | undefined {
  let lowStarts = ~low;
  let highStarts = ~high;
  for (let length = 1; length < count; length++) {
    lowStarts &= ((~low >>> length) | shiftedFrom(~high, length)) >>> 0;
    highStarts &= ~high >>> length;
  }
  if (lowStarts !== 0) return lowestBit(lowStarts);
  return highStarts === 0 ? undefined : WORD_BITS + lowestBit(highStarts);
}

function shiftedFrom(high: number, by: number): number {
  return high << (WORD_BITS - by);
}

function lowestBit(word: number): number {
  return WORD_BITS - 1 - Math.clz32(word & -word);
}
