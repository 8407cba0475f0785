import { PendingParts } from '../all-done.ts';
import { StorageError } from '../errors.ts';
import type { BlockGroup } from '../raid/group.ts';
import type { SpaceReserve } from '../space-reserve.ts';
import { BLOCK_BYTES, EXTENT_BYTES, type Done } from '../units.ts';
import type { Caching, ExtentStore } from '../volume/format.ts';
import { type Allocator, type GroupSpace } from './allocator.ts';
import type { ReadCache } from './read-cache.ts';
import { Readers } from '../volume/readers.ts';
import { Trimming } from './trimming.ts';

/** Larger reads bypass the cache: a backup must not evict blocks that are read often. */
const CACHED_READ_BYTES_MAX = 64 * 1024;

/** What commits do for extents. */
export interface Reclaiming {
  readonly hasRetired: boolean;
  retire(extent: number): void;
  commit(): Promise<void>;
}

/** Reads and writes extents: finds the group of an extent, and the cache in front of it. */
export class Extents implements ExtentStore {
  readonly allocator: Allocator;
  readonly readers: Readers;
  readonly trimming: Trimming;
  cache: ReadCache | undefined;
  readonly #groups = new Map<string, BlockGroup>();
  #commits: Reclaiming | undefined;

  constructor(allocator: Allocator, reserve?: SpaceReserve, onError: (error: unknown) => void = () => undefined) {
    this.allocator = allocator;
    this.trimming = new Trimming({
      allocator,
      groupOf: ({ groupId }) => this.#groups.get(groupId),
      reserve,
      onError,
    });
    this.readers = new Readers((extent) => {
      this.allocator.release(extent);
      this.trimming.freed(extent);
    });
  }

  /** Resolves a mutual dependency: commits flush groups, and extents wait for commits. */
  connect(commits: Reclaiming): void {
    this.#commits = commits;
  }

  /** The group may be missing: its extents cannot be read until it is attached, the others can. */
  addGroup(space: GroupSpace, group: BlockGroup | undefined): void {
    if (group) this.#groups.set(space.groupId, group);
    space.missing = group === undefined;
    this.allocator.add(space);
  }

  removeGroup(space: GroupSpace): void {
    this.#groups.delete(space.groupId);
    this.allocator.remove(space);
  }

  groups(): BlockGroup[] {
    return [...this.#groups.values()];
  }

  async flush(): Promise<void> {
    await Promise.all(this.groups().map((group) => group.flush()));
  }

  allocate(): number | undefined {
    return this.allocator.allocate();
  }

  async reclaim(): Promise<number> {
    if (this.#commits?.hasRetired === true) await this.#commits.commit();
    await this.idle();
    const extent = this.allocator.allocate();
    if (extent !== undefined) return extent;
    throw new StorageError('pool-full', 'The pool is full; expand it, or delete volumes or snapshots.');
  }

  /** Resolves when everything retired so far is free. */
  async idle(): Promise<void> {
    await this.readers.idle();
    await this.trimming.idle();
  }

  isLeaving(extent: number): boolean {
    return this.allocator.spaceOf(extent).leaving;
  }

  retire(extent: number): void {
    this.allocator.retire(extent);
    this.#commits?.retire(extent);
  }

  /** Attaches a missing group: its extents can be read again. */
  bringGroup(group: BlockGroup): void {
    const space = this.allocator.spaces.find(({ groupId }) => groupId === group.id);
    if (!space) throw new StorageError('not-found', `RAID group ${group.id} is not in the pool.`);
    this.#groups.set(group.id, group);
    space.missing = false;
  }

  read(extent: number, offset: number, into: Buffer, caching: Caching = 'past'): Done {
    const space = this.allocator.spaceOf(extent);
    const bytesLeft = (space.firstExtent + space.extentCount - extent) * EXTENT_BYTES - offset;
    if (into.length > bytesLeft) return this.#readAcross(extent, offset, into, bytesLeft, caching);
    const at = (extent - space.firstExtent) * EXTENT_BYTES + offset;
    const group = this.#groupOf(space);
    if (this.cache && caching !== 'past') {
      const keeps = caching === 'own' || this.cache.keepsForeign;
      return this.#readCached(this.cache, group, extent * EXTENT_BYTES + offset, at, into, keeps);
    }
    const done = group.read(at, into);
    return done && this.readers.during(done);
  }

  write(extent: number, offset: number, from: Buffer): Done {
    const space = this.allocator.spaceOf(extent);
    const bytesLeft = (space.firstExtent + space.extentCount - extent) * EXTENT_BYTES - offset;
    if (from.length > bytesLeft) return this.#writeAcross(extent, offset, from, bytesLeft);
    const at = (extent - space.firstExtent) * EXTENT_BYTES + offset;
    const group = this.#groupOf(space);
    const block = (extent * EXTENT_BYTES + offset) / BLOCK_BYTES;
    const count = from.length / BLOCK_BYTES;
    this.cache?.beginWrite(block, count);
    const done = group.write(at, from);
    // Invalidated again afterwards: a concurrent read may have cached the old content.
    return done && done.finally(() => this.cache?.invalidate(block, count));
  }

  #readCached(
    cache: ReadCache,
    group: BlockGroup,
    poolOffset: number,
    groupOffset: number,
    into: Buffer,
    keeps: boolean,
  ): Done {
    const block = poolOffset / BLOCK_BYTES;
    if (into.length > CACHED_READ_BYTES_MAX) {
      cache.missed(into.length / BLOCK_BYTES);
      const done = group.read(groupOffset, into);
      return done && this.readers.during(done);
    }
    if (cache.read(block, into)) return undefined;
    if (!keeps) {
      const done = group.read(groupOffset, into);
      return done && this.readers.during(done);
    }
    const stamp = cache.stamp(block, into.length / BLOCK_BYTES);
    const done = group.read(groupOffset, into);
    if (done) return this.readers.during(done.then(() => cache.fill(block, into, stamp)));
    cache.fill(block, into, stamp);
    return undefined;
  }

  async #readAcross(extent: number, offset: number, into: Buffer, bytesLeft: number, caching: Caching): Promise<void> {
    const next = extent + (offset + bytesLeft) / EXTENT_BYTES;
    const parts = new PendingParts();
    parts.start(() => this.read(extent, offset, into.subarray(0, bytesLeft), caching));
    parts.start(() => this.read(next, 0, into.subarray(bytesLeft), caching));
    await parts.done();
  }

  async #writeAcross(extent: number, offset: number, from: Buffer, bytesLeft: number): Promise<void> {
    const next = extent + (offset + bytesLeft) / EXTENT_BYTES;
    const parts = new PendingParts();
    parts.start(() => this.write(extent, offset, from.subarray(0, bytesLeft)));
    parts.start(() => this.write(next, 0, from.subarray(bytesLeft)));
    await parts.done();
  }

  #groupOf(space: GroupSpace): BlockGroup {
    const group = this.#groups.get(space.groupId);
    if (group) return group;
    throw new StorageError('group-failed', `RAID group ${space.groupId} of the pool is not there.`);
  }
}
