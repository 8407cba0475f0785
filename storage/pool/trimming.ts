import { isNoSpace } from '../errors.ts';
import type { BlockGroup } from '../raid/group.ts';
import type { SpaceReserve } from '../space-reserve.ts';
import { EXTENT_BYTES } from '../units.ts';
import type { Allocator, GroupSpace } from './allocator.ts';

/** Extents that are withheld from allocation at once: 32 MiB. */
const EXTENTS_AT_ONCE = 128;

interface TrimmingSetup {
  readonly allocator: Allocator;
  readonly groupOf: (space: GroupSpace) => BlockGroup | undefined;
  readonly reserve: SpaceReserve | undefined;
  readonly onError: (error: unknown) => void;
}

/** Contiguous extents of one group. */
interface Stretch {
  readonly space: GroupSpace;
  readonly first: number;
  count: number;
}

/**
 * Deallocates released extents on the disk underneath while it has little space. Otherwise they are left allocated:
 * they are reused first, and overwriting allocated blocks is faster than allocating new ones.
 */
export class Trimming {
  readonly #setup: TrimmingSetup;
  #freed: number[] = [];
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(setup: TrimmingSetup) {
    this.#setup = setup;
  }

  /** The extent is unused. */
  freed(extent: number): void {
    if (this.#setup.reserve === undefined || this.#isClosed) return;
    this.#freed.push(extent);
    this.#running ??= this.#run(this.#setup.reserve).finally(() => (this.#running = undefined));
  }

  /** Resolves when it withholds no extent from allocation. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Stops after the current step. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running;
  }

  async #run(reserve: SpaceReserve): Promise<void> {
    while (this.#freed.length > 0) {
      const isScarce = await reserve.isScarce();
      const freed = this.#freed.sort((one, other) => one - other);
      this.#freed = [];
      for (let at = 0; isScarce && at < freed.length && !this.#isClosed; at += EXTENTS_AT_ONCE) {
        await this.#trim(freed.slice(at, at + EXTENTS_AT_ONCE));
      }
    }
  }

  async #trim(extents: readonly number[]): Promise<void> {
    const stretches = this.#hold(extents);
    try {
      for (const { space, first, count } of stretches) {
        await this.#setup.groupOf(space)?.trim((first - space.firstExtent) * EXTENT_BYTES, count * EXTENT_BYTES);
      }
    } catch (error) {
      // Without space to record the discard, the extents are reused as they are.
      if (!isNoSpace(error)) this.#setup.onError(error);
    } finally {
      for (const { space, first, count } of stretches) {
        for (let extent = first; extent < first + count; extent += 1) space.release(extent);
      }
    }
  }

  /** Withholds the extents that were not allocated since. */
  #hold(extents: readonly number[]): Stretch[] {
    const stretches: Stretch[] = [];
    for (const extent of extents) {
      const space = this.#setup.allocator.find(extent);
      if (space?.isOpen !== true || !space.claim(extent)) continue;
      const last = stretches.at(-1);
      if (last?.space === space && extent === last.first + last.count) last.count += 1;
      else stretches.push({ space, first: extent, count: 1 });
    }
    return stretches;
  }
}
