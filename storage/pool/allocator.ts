import assert from 'node:assert/strict';
import { StorageError } from '../errors.ts';
import { FIRST_EXTENT } from '../volume/extent-map.ts';

export type PoolMode = 'simple' | 'stripe';

/**
 * Extents in relocation exist twice for a short time: this slack lets a pool that is full to its limit be evacuated.
 */
const MOVES_AT_ONCE = 8;

/** A range of the pool's extents that lies on one group. */
export class GroupSpace {
  readonly groupId: string;
  readonly firstExtent: number;
  readonly extentCount: number;
  /** The group is being evacuated: no allocation here. */
  leaving: boolean;
  /** The group is not attached to the pool: no allocation here. */
  missing = false;
  free: number;
  readonly #allocated: Uint32Array;
  /** No word before this one has a free bit. */
  #hint = 0;

  constructor(groupId: string, firstExtent: number, extentCount: number, leaving = false) {
    this.groupId = groupId;
    this.firstExtent = firstExtent;
    this.extentCount = extentCount;
    this.leaving = leaving;
    this.free = extentCount;
    this.#allocated = new Uint32Array(Math.ceil(extentCount / 32));
    const spare = this.#allocated.length * 32 - extentCount;
    if (spare > 0) this.#allocated[this.#allocated.length - 1] = (0xffffffff << (32 - spare)) >>> 0;
  }

  get used(): number {
    return this.extentCount - this.free;
  }

  /** Whether extents may be allocated here. */
  get isOpen(): boolean {
    return !this.leaving && !this.missing;
  }

  has(extent: number): boolean {
    return extent >= this.firstExtent && extent < this.firstExtent + this.extentCount;
  }

  isAllocated(extent: number): boolean {
    const at = extent - this.firstExtent;
    return (((this.#allocated[at >>> 5] ?? 0) >>> (at & 31)) & 1) === 1;
  }

  /** The lowest free extent: released extents are reused before the files behind the group grow. */
  allocate(): number | undefined {
    if (this.free === 0) return undefined;
    let word = this.#hint;
    while (this.#allocated[word] === 0xffffffff) word++;
    assert.ok(word < this.#allocated.length, 'as many extents are free as are counted');
    this.#hint = word;
    const bits = this.#allocated[word] ?? 0;
    const bit = 31 - Math.clz32(~bits & -~bits);
    this.#allocated[word] = (bits | (1 << bit)) >>> 0;
    this.free--;
    return this.firstExtent + word * 32 + bit;
  }

  /** False when the extent is allocated already. */
  claim(extent: number): boolean {
    if (this.isAllocated(extent)) return false;
    const at = extent - this.firstExtent;
    this.#allocated[at >>> 5] = ((this.#allocated[at >>> 5] ?? 0) | (1 << (at & 31))) >>> 0;
    this.free--;
    return true;
  }

  release(extent: number): void {
    assert.ok(this.isAllocated(extent), `extent ${extent} was released twice`);
    const at = extent - this.firstExtent;
    const word = at >>> 5;
    this.#allocated[word] = ((this.#allocated[word] ?? 0) & ~(1 << (at & 31))) >>> 0;
    this.free++;
    if (word < this.#hint) this.#hint = word;
  }
}

/** The allocated extents of a pool, by group, and the choice of the next one. */
export class Allocator {
  readonly mode: PoolMode;
  readonly spaces: GroupSpace[] = [];
  #turn = 0;
  /** Retired by an evacuation, but not free yet. */
  readonly #inTransit = new Set<number>();
  #limitExtents = Infinity;
  /** The space of the last lookup: lookups are mostly sequential. */
  #last: GroupSpace | undefined;

  constructor(mode: PoolMode) {
    this.mode = mode;
  }

  /** The limit of allocated extents, whatever the groups' capacity. */
  setLimit(extents: number): void {
    this.#limitExtents = extents;
  }

  get totalExtents(): number {
    const extents = this.spaces.reduce((sum, space) => sum + space.extentCount, 0);
    return Math.max(this.usedExtents, Math.min(extents, this.#limitExtents));
  }

  get usedExtents(): number {
    return this.spaces.reduce((sum, space) => sum + space.used, 0);
  }

  /** Extents that can be allocated: none on a group that is being evacuated or missing. */
  get freeExtents(): number {
    return this.spaces.reduce((sum, space) => sum + (space.isOpen ? space.free : 0), 0);
  }

  add(space: GroupSpace): void {
    this.spaces.push(space);
    this.spaces.sort((a, b) => a.firstExtent - b.firstExtent);
  }

  remove(space: GroupSpace): void {
    this.spaces.splice(this.spaces.indexOf(space), 1);
    this.#last = undefined;
  }

  /** The first extent number of a new group. */
  nextFirstExtent(): number {
    const last = this.spaces.at(-1);
    return last ? last.firstExtent + last.extentCount : FIRST_EXTENT;
  }

  spaceOf(extent: number): GroupSpace {
    if (this.#last?.has(extent)) return this.#last;
    const space = this.find(extent);
    if (!space) throw new StorageError('invalid', `extent ${extent} lies on no group of the pool`);
    this.#last = space;
    return space;
  }

  find(extent: number): GroupSpace | undefined {
    return this.spaces.find((space) => space.has(extent));
  }

  allocate(): number | undefined {
    if (this.#isAtLimit()) return undefined;
    const open = this.spaces.filter((space) => space.isOpen && space.free > 0);
    const start = this.mode === 'stripe' ? this.#turn++ : 0;
    return open[start % Math.max(open.length, 1)]?.allocate();
  }

  /** No map refers to the extent any more; it is released once that is durable. */
  retire(extent: number): void {
    if (this.spaceOf(extent).leaving) this.#inTransit.add(extent);
  }

  release(extent: number): void {
    this.#inTransit.delete(extent);
    this.spaceOf(extent).release(extent);
  }

  #isAtLimit(): boolean {
    if (this.#limitExtents === Infinity) return false;
    const slack = this.spaces.some(({ leaving }) => leaving) ? MOVES_AT_ONCE : 0;
    return this.usedExtents - this.#inTransit.size >= this.#limitExtents + slack;
  }
}
