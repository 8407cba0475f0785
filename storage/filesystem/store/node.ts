import { checksum } from '../../kernels/index.ts';
import type { Key } from './key.ts';
import { NODE_BYTES } from './layout.ts';

/**
 * A node of the tree, kept as the bytes it has on disk:
 *
 *     header (64) │ slots, in order of their keys (20 each) → … free … ← values │
 *
 * A slot is the four words of the key, then place and length of the value. A value of an inner node is the address and
 * the generation of a child; keys of the child are not smaller than the slot's, except in the first slot, which takes
 * everything below the second.
 */
const MAGIC = 0x444e5247; // GRND
const HEADER_BYTES = 64;
const HEADER_WORDS = HEADER_BYTES / 4;
const SLOT_WORDS = 5;
const SLOT_BYTES = SLOT_WORDS * 4;

/** Offsets in the header: words, except for the two numbers of 6 bytes. */
const MAGIC_WORD = 0;
const CHECKSUM_WORD = 1;
const OWNER_WORD = 2;
const ADDRESS_AT = 16;
const GENERATION_AT = 24;
const LEVEL_WORD = 8;
const COUNT_WORD = 9;
/** The lowest byte that a value occupies. */
const HEAP_WORD = 10;
/** Bytes that values occupy: less than `NODE_BYTES - heap` where some were removed. */
const LIVE_WORD = 11;

export const POINTER_BYTES = 12;
const NUMBER_BYTES = 6;

const scratch = Buffer.alloc(NODE_BYTES);

export interface NodePlace {
  readonly address: number;
  readonly generation: number;
}

export class TreeNode {
  address: number;
  /** The number of the checkpoint that writes it first. */
  generation: number;
  bytes: Buffer;
  words: Uint32Array;
  /** Changed since the last checkpoint began; may be changed further. */
  isDirty = false;
  /** A checkpoint is writing these bytes; a change copies the node first. */
  isWriting = false;
  wasUsed = true;

  constructor(place: NodePlace, bytes: Buffer) {
    this.address = place.address;
    this.generation = place.generation;
    this.bytes = bytes;
    this.words = wordsOf(bytes);
  }

  get level(): number {
    return this.words[LEVEL_WORD] as number;
  }

  get count(): number {
    return this.words[COUNT_WORD] as number;
  }

  /** Bytes that slots and values occupy. */
  get usedBytes(): number {
    return this.count * SLOT_BYTES + (this.words[LIVE_WORD] as number);
  }

  init(level: number): void {
    this.bytes.fill(0);
    this.words[LEVEL_WORD] = level;
    this.words[HEAP_WORD] = NODE_BYTES;
  }

  replaceBytes(bytes: Buffer): void {
    this.bytes = bytes;
    this.words = wordsOf(bytes);
  }

  /** The first slot whose key is not smaller; `count` if all are. */
  lowerBound(key: Key): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(middle, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  has(slot: number, key: Key): boolean {
    return slot < this.count && this.#compare(slot, key) === 0;
  }

  /** The slot of an inner node that leads to the key. */
  childSlot(key: Key): number {
    const slot = this.lowerBound(key);
    return this.has(slot, key) ? slot : Math.max(slot - 1, 0);
  }

  keyWord(slot: number): number {
    return HEADER_WORDS + slot * SLOT_WORDS;
  }

  valueAt(slot: number): number {
    return this.#place(slot) >>> 16;
  }

  valueLength(slot: number): number {
    return this.#place(slot) & 0xffff;
  }

  value(slot: number): Buffer {
    const at = this.valueAt(slot);
    return this.bytes.subarray(at, at + this.valueLength(slot));
  }

  childAddress(slot: number): number {
    return this.bytes.readUIntLE(this.valueAt(slot), NUMBER_BYTES);
  }

  childGeneration(slot: number): number {
    return this.bytes.readUIntLE(this.valueAt(slot) + NUMBER_BYTES, NUMBER_BYTES);
  }

  setChild(slot: number, child: NodePlace): void {
    this.bytes.writeUIntLE(child.address, this.valueAt(slot), NUMBER_BYTES);
    this.bytes.writeUIntLE(child.generation, this.valueAt(slot) + NUMBER_BYTES, NUMBER_BYTES);
  }

  fits(valueBytes: number): boolean {
    return HEADER_BYTES + this.usedBytes + SLOT_BYTES + valueBytes <= NODE_BYTES;
  }

  /** Inserts a slot; the caller has checked that it fits. Returns the offset of the value. */
  insert(slot: number, key: Key, valueBytes: number): number {
    const { count } = this;
    if ((this.words[HEAP_WORD] as number) - valueBytes < HEADER_BYTES + (count + 1) * SLOT_BYTES) this.#compact();
    const at = this.keyWord(slot);
    this.words.copyWithin(at + SLOT_WORDS, at, this.keyWord(count));
    this.words[at] = key.a;
    this.words[at + 1] = key.b;
    this.words[at + 2] = key.c;
    this.words[at + 3] = key.d;
    const place = this.#allocateHeap(valueBytes);
    this.words[at + 4] = (place << 16) | valueBytes;
    this.words[COUNT_WORD] = count + 1;
    return place;
  }

  remove(slot: number): void {
    const at = this.keyWord(slot);
    this.#releaseHeap(this.valueAt(slot), this.valueLength(slot));
    this.words.copyWithin(at, at + SLOT_WORDS, this.keyWord(this.count));
    this.words[COUNT_WORD] = this.count - 1;
  }

  /** Changes the length of the value; false if it does not fit. */
  resize(slot: number, valueBytes: number): boolean {
    const before = this.valueLength(slot);
    if (before === valueBytes) return true;
    if (HEADER_BYTES + this.usedBytes - before + valueBytes > NODE_BYTES) return false;
    const at = this.keyWord(slot);
    this.#releaseHeap(this.valueAt(slot), before);
    this.words[at + 4] = 0;
    if ((this.words[HEAP_WORD] as number) - valueBytes < this.keyWord(this.count) * 4) this.#compact();
    this.words[at + 4] = (this.#allocateHeap(valueBytes) << 16) | valueBytes;
    return true;
  }

  /** The first slot of the upper half of the bytes. */
  middle(): number {
    let bytes = 0;
    let slot = 0;
    for (; slot < this.count - 1 && bytes < this.usedBytes / 2; slot += 1) bytes += SLOT_BYTES + this.valueLength(slot);
    return Math.max(slot, 1);
  }

  /** Moves everything from a slot on to the end of another node. */
  moveTail(from: number, to: TreeNode, key: Key): void {
    const { count } = this;
    for (let slot = from; slot < count; slot += 1) {
      const length = this.valueLength(slot);
      const place = to.insert(to.count, key.setWords(this.words, this.keyWord(slot)), length);
      this.bytes.copy(to.bytes, place, this.valueAt(slot), this.valueAt(slot) + length);
      this.words[LIVE_WORD] = (this.words[LIVE_WORD] as number) - length;
    }
    this.words[COUNT_WORD] = from;
  }

  /** Fills in the header; the bytes are ready to be written. */
  seal(owner: readonly [number, number], seed: number): void {
    this.words[MAGIC_WORD] = MAGIC;
    this.words[OWNER_WORD] = owner[0];
    this.words[OWNER_WORD + 1] = owner[1];
    this.bytes.writeUIntLE(this.address, ADDRESS_AT, NUMBER_BYTES);
    this.bytes.writeUIntLE(this.generation, GENERATION_AT, NUMBER_BYTES);
    this.words[CHECKSUM_WORD] = checksum(this.bytes, 8, NODE_BYTES, seed);
  }

  /** Whether the bytes are those of this node, as it was written. */
  isIntact(owner: readonly [number, number], seed: number, level: number): boolean {
    return (
      this.words[MAGIC_WORD] === MAGIC &&
      this.words[OWNER_WORD] === owner[0] &&
      this.words[OWNER_WORD + 1] === owner[1] &&
      this.bytes.readUIntLE(ADDRESS_AT, NUMBER_BYTES) === this.address &&
      this.bytes.readUIntLE(GENERATION_AT, NUMBER_BYTES) === this.generation &&
      this.level === level &&
      this.words[CHECKSUM_WORD] === checksum(this.bytes, 8, NODE_BYTES, seed)
    );
  }

  #place(slot: number): number {
    return this.words[this.keyWord(slot) + 4] as number;
  }

  #compare(slot: number, key: Key): number {
    const { words } = this;
    const at = HEADER_WORDS + slot * SLOT_WORDS;
    return (
      (words[at] as number) - key.a ||
      (words[at + 1] as number) - key.b ||
      (words[at + 2] as number) - key.c ||
      (words[at + 3] as number) - key.d
    );
  }

  #allocateHeap(bytes: number): number {
    const place = (this.words[HEAP_WORD] as number) - bytes;
    this.words[HEAP_WORD] = place;
    this.words[LIVE_WORD] = (this.words[LIVE_WORD] as number) + bytes;
    return place;
  }

  #releaseHeap(at: number, bytes: number): void {
    this.words[LIVE_WORD] = (this.words[LIVE_WORD] as number) - bytes;
    if (at === this.words[HEAP_WORD]) this.words[HEAP_WORD] = at + bytes;
  }

  /** Defragments the values, so that the free space is contiguous. */
  #compact(): void {
    this.bytes.copy(scratch);
    let place = NODE_BYTES;
    for (let slot = 0; slot < this.count; slot += 1) {
      const length = this.valueLength(slot);
      const from = this.valueAt(slot);
      place -= length;
      scratch.copy(this.bytes, place, from, from + length);
      this.words[this.keyWord(slot) + 4] = (place << 16) | length;
    }
    this.words[HEAP_WORD] = place;
  }
}

function wordsOf(bytes: Buffer): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, NODE_BYTES / 4);
}
