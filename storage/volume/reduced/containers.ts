import { BLOCKS_PER_EXTENT } from '../../units.ts';
import { addressOf, BLOCKS_PER_CHUNK, blockCountOf, containerOf, FIRST_CONTAINER, firstBlockOf } from './address.ts';
import { findGap, longestGap, maskOf } from './block-bits.ts';

const NONE = 0;
const SLOTS_AT_FIRST = 64;

/**
 * The containers of a pool: extents packed with chunks. Stored in arrays, not objects, because a pool may have
 * millions. Each has two bits a block: `named`, that a map refers to a chunk there, and `allocated`, that nothing may
 * be put there: it is named, being written, or released and not free yet. Containers with free blocks are in lists by
 * the length of their longest gap. Slot 0 is none.
 */
export class Containers {
  readonly #isLeaving: (extent: number) => boolean;
  #extents = new Uint32Array(SLOTS_AT_FIRST);
  #named = new Uint32Array(2 * SLOTS_AT_FIRST);
  #allocated = new Uint32Array(2 * SLOTS_AT_FIRST);
  #writing = new Uint8Array(SLOTS_AT_FIRST);
  #list = new Uint8Array(SLOTS_AT_FIRST);
  #next = new Uint32Array(SLOTS_AT_FIRST);
  #previous = new Uint32Array(SLOTS_AT_FIRST);
  readonly #heads = new Uint32Array(BLOCKS_PER_CHUNK + 1);
  readonly #spareSlots: number[] = [];
  #slots = 1;
  #count = 0;
  #namedBlocks = 0;

  /** Nothing is allocated in containers on extents of which `isLeaving` is true. */
  constructor(isLeaving: (extent: number) => boolean) {
    this.#isLeaving = isLeaving;
  }

  /** The number of containers. */
  get count(): number {
    return this.#count;
  }

  /** Blocks that chunks occupy. */
  get namedBlocks(): number {
    return this.#namedBlocks;
  }

  *ids(): Generator<number> {
    for (let slot = 1; slot < this.#slots; slot++) {
      if (this.#extents[slot] !== NONE) yield FIRST_CONTAINER + slot;
    }
  }

  /** `undefined` when there is no such container. */
  extentOf(id: number): number | undefined {
    return this.#extents[id - FIRST_CONTAINER] || undefined;
  }

  /** A new container, without any chunk. */
  create(extent: number): number {
    const id = FIRST_CONTAINER + (this.#spareSlots.pop() ?? this.#slots);
    this.restore(id, extent);
    return id;
  }

  /** Restores a container under its old id. False when the id exists or is invalid. */
  restore(id: number, extent: number): boolean {
    const slot = id - FIRST_CONTAINER;
    if (slot < 1 || this.extentOf(id) !== undefined) return false;
    this.#growTo(slot);
    this.#extents[slot] = extent;
    this.#count++;
    this.#enlist(slot);
    return true;
  }

  /** Slots between restored containers are for new ones. */
  collectSpareSlots(): void {
    for (let slot = this.#slots - 1; slot >= 1; slot--) {
      if (this.#extents[slot] === NONE) this.#spareSlots.push(slot);
    }
  }

  /** Space for a chunk that is about to be written: the smallest gap that fits. */
  allocate(count: number, indexed: boolean): number | undefined {
    for (let gap = count; gap <= BLOCKS_PER_CHUNK; gap++) {
      const slot = this.#heads[gap] ?? NONE;
      if (slot === NONE) continue;
      const first = findGap(this.#allocated[2 * slot] ?? 0, this.#allocated[2 * slot + 1] ?? 0, count) ?? 0;
      set(this.#allocated, slot, first, count);
      this.#writing[slot] = (this.#writing[slot] ?? 0) + 1;
      this.#enlist(slot);
      return addressOf(FIRST_CONTAINER + slot, first, count, indexed);
    }
    return undefined;
  }

  /** The write of the allocated blocks has ended. */
  written(address: number): void {
    const slot = slotOf(address);
    this.#writing[slot] = (this.#writing[slot] ?? 0) - 1;
  }

  /** False when another chunk occupies the blocks. */
  name(address: number): boolean {
    const slot = slotOf(address);
    const first = firstBlockOf(address);
    const count = blockCountOf(address);
    if (first + count > BLOCKS_PER_EXTENT || overlaps(this.#named, slot, first, count)) return false;
    set(this.#named, slot, first, count);
    this.#namedBlocks += count;
    if (overlaps(this.#allocated, slot, first, count)) return true;
    set(this.#allocated, slot, first, count);
    this.#enlist(slot);
    return true;
  }

  isNamed(address: number): boolean {
    const slot = slotOf(address);
    const first = firstBlockOf(address);
    const count = blockCountOf(address);
    return [0, 1].every((word) => {
      const mask = maskOf(first, count, word as 0 | 1);
      return ((this.#named[2 * slot + word] ?? 0) & mask) >>> 0 === mask;
    });
  }

  unname(address: number): void {
    clear(this.#named, slotOf(address), firstBlockOf(address), blockCountOf(address));
    this.#namedBlocks -= blockCountOf(address);
  }

  /** The blocks may be allocated again. */
  free(address: number): void {
    const slot = slotOf(address);
    clear(this.#allocated, slot, firstBlockOf(address), blockCountOf(address));
    if (this.#extents[slot] !== NONE) this.#enlist(slot);
  }

  /** Neither referred to by a map nor being written. */
  isUnused(id: number): boolean {
    const slot = id - FIRST_CONTAINER;
    return this.#named[2 * slot] === 0 && this.#named[2 * slot + 1] === 0 && this.#writing[slot] === 0;
  }

  isWrittenTo(id: number): boolean {
    return (this.#writing[id - FIRST_CONTAINER] ?? 0) > 0;
  }

  namedBits(id: number): { low: number; high: number } {
    const slot = id - FIRST_CONTAINER;
    return { low: this.#named[2 * slot] ?? 0, high: this.#named[2 * slot + 1] ?? 0 };
  }

  move(id: number, extent: number): void {
    const slot = id - FIRST_CONTAINER;
    this.#extents[slot] = extent;
    this.#enlist(slot);
  }

  /** The id stays reserved until `recycle`: released blocks in it are not free yet. */
  remove(id: number): void {
    const slot = id - FIRST_CONTAINER;
    this.#unlist(slot);
    this.#extents[slot] = NONE;
    this.#count--;
  }

  recycle(id: number): void {
    const slot = id - FIRST_CONTAINER;
    this.#allocated.fill(0, 2 * slot, 2 * slot + 2);
    this.#spareSlots.push(slot);
  }

  /** The set of leaving groups changed: rebuilds the lists. */
  relist(): void {
    for (const id of this.ids()) this.#enlist(id - FIRST_CONTAINER);
  }

  #enlist(slot: number): void {
    const leaving = this.#isLeaving(this.#extents[slot] ?? NONE);
    const low = this.#allocated[2 * slot] ?? 0;
    const high = this.#allocated[2 * slot + 1] ?? 0;
    const gap = leaving ? 0 : longestGap(low, high, BLOCKS_PER_CHUNK);
    if (gap === this.#list[slot]) return;
    this.#unlist(slot);
    if (gap === 0) return;
    const head = this.#heads[gap] ?? NONE;
    this.#next[slot] = head;
    if (head !== NONE) this.#previous[head] = slot;
    this.#heads[gap] = slot;
    this.#list[slot] = gap;
  }

  #unlist(slot: number): void {
    const list = this.#list[slot] ?? 0;
    if (list === 0) return;
    const next = this.#next[slot] ?? NONE;
    const previous = this.#previous[slot] ?? NONE;
    if (next !== NONE) this.#previous[next] = previous;
    if (previous === NONE) this.#heads[list] = next;
    else this.#next[previous] = next;
    this.#next[slot] = NONE;
    this.#previous[slot] = NONE;
    this.#list[slot] = 0;
  }

  #growTo(slot: number): void {
    if (slot >= this.#slots) this.#slots = slot + 1;
    if (slot < this.#extents.length) return;
    const slots = 2 ** Math.ceil(Math.log2(slot + 1));
    this.#extents = enlarged(this.#extents, slots);
    this.#named = enlarged(this.#named, 2 * slots);
    this.#allocated = enlarged(this.#allocated, 2 * slots);
    this.#next = enlarged(this.#next, slots);
    this.#previous = enlarged(this.#previous, slots);
    const writing = new Uint8Array(slots);
    writing.set(this.#writing);
    this.#writing = writing;
    const list = new Uint8Array(slots);
    list.set(this.#list);
    this.#list = list;
  }
}

function slotOf(address: number): number {
  return containerOf(address) - FIRST_CONTAINER;
}

function set(bits: Uint32Array, slot: number, first: number, count: number): void {
  bits[2 * slot] = (bits[2 * slot] ?? 0) | maskOf(first, count, 0);
  bits[2 * slot + 1] = (bits[2 * slot + 1] ?? 0) | maskOf(first, count, 1);
}

function clear(bits: Uint32Array, slot: number, first: number, count: number): void {
  bits[2 * slot] = (bits[2 * slot] ?? 0) & ~maskOf(first, count, 0);
  bits[2 * slot + 1] = (bits[2 * slot + 1] ?? 0) & ~maskOf(first, count, 1);
}

function overlaps(bits: Uint32Array, slot: number, first: number, count: number): boolean {
  const low = (bits[2 * slot] ?? 0) & maskOf(first, count, 0);
  const high = (bits[2 * slot + 1] ?? 0) & maskOf(first, count, 1);
  return (low | high) !== 0;
}

function enlarged(words: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(length);
  larger.set(words);
  return larger;
}
