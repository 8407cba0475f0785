import { MAP_PAGE_BLOCKS, MAP_PAGE_BYTES } from './layout.ts';

const WORDS = MAP_PAGE_BLOCKS / 32;
const FULL = 0xffffffff;

/** Contiguous blocks. */
export interface Run {
  readonly start: number;
  readonly count: number;
}

/** A page of the space map in memory: a bit is set where a block cannot be allocated. */
export class SpaceMapPage {
  readonly index: number;
  readonly words: Uint32Array;
  free: number;
  /** Its allocated blocks differ from the page in the tree. */
  isDirty = false;
  /** Runs that are unavailable in memory only: while there are any, the page stays in memory. */
  pins = 0;

  constructor(index: number, bytes: Buffer | undefined, blocks: number) {
    this.index = index;
    this.words = new Uint32Array(WORDS);
    if (bytes !== undefined) for (let at = 0; at < WORDS; at += 1) this.words[at] = bytes.readUInt32LE(at * 4);
    // Blocks after the end of the device are free on disk, so that nothing has to change when it grows.
    if (blocks < MAP_PAGE_BLOCKS) setBits(this.words, blocks, MAP_PAGE_BLOCKS - blocks);
    this.free = countClear(this.words);
  }

  set(from: number, count: number): void {
    setBits(this.words, from, count);
    this.free -= count;
  }

  clear(from: number, count: number): void {
    clearBits(this.words, from, count);
    this.free += count;
  }

  isClear(from: number, count: number): boolean {
    for (let bit = from; bit < from + count; bit += 1) if (isSet(this.words, bit)) return false;
    return true;
  }

  areSet(from: number, count: number): boolean {
    for (let bit = from; bit < from + count; bit += 1) if (!isSet(this.words, bit)) return false;
    return true;
  }

  /** The number of free blocks from a bit on, up to `max`. */
  runFrom(from: number, max: number): number {
    let bit = from;
    while (bit < MAP_PAGE_BLOCKS && bit - from < max && !isSet(this.words, bit)) bit += 1;
    return bit - from;
  }

  /** The first run of `want` free blocks from a bit on; if there is none, the longest. Start and count are in the page. */
  find(from: number, want: number): Run {
    let best = { start: 0, count: 0 };
    let start = -1;
    for (let bit = from; bit <= MAP_PAGE_BLOCKS;) {
      const isTaken = bit === MAP_PAGE_BLOCKS || isSet(this.words, bit);
      if (isTaken && start >= 0) {
        if (bit - start > best.count) best = { start, count: bit - start };
        start = -1;
      } else if (!isTaken && start < 0) start = bit;
      bit += isTaken && bit % 32 === 0 && this.words[bit >>> 5] === FULL ? 32 : 1;
      if (start >= 0 && bit - start >= want) return { start, count: want };
    }
    return best;
  }
}

/** The page as stored in the tree. */
export function pageImage(words: Uint32Array): Buffer {
  const image = Buffer.allocUnsafe(MAP_PAGE_BYTES);
  for (let at = 0; at < WORDS; at += 1) image.writeUInt32LE(words[at] as number, at * 4);
  return image;
}

export function clearBits(words: Uint32Array, from: number, count: number): void {
  for (let bit = from; bit < from + count;) {
    if (bit % 32 === 0 && bit + 32 <= from + count) {
      words[bit >>> 5] = 0;
      bit += 32;
    } else {
      words[bit >>> 5] = (words[bit >>> 5] as number) & ~(1 << (bit & 31));
      bit += 1;
    }
  }
}

function setBits(words: Uint32Array, from: number, count: number): void {
  for (let bit = from; bit < from + count;) {
    if (bit % 32 === 0 && bit + 32 <= from + count) {
      words[bit >>> 5] = FULL;
      bit += 32;
    } else {
      words[bit >>> 5] = (words[bit >>> 5] as number) | (1 << (bit & 31));
      bit += 1;
    }
  }
}

function isSet(words: Uint32Array, bit: number): boolean {
  return (((words[bit >>> 5] as number) >>> (bit & 31)) & 1) === 1;
}

function countClear(words: Uint32Array): number {
  let clear = 0;
  for (let at = 0; at < words.length; at += 1) clear += 32 - countOnes(words[at] as number);
  return clear;
}

function countOnes(word: number): number {
  let rest = word - ((word >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
