import { allDone } from '../all-done.ts';
import { SharedFlush } from '../drive/shared-flush.ts';
import { BLOCK_BYTES } from '../units.ts';
import type { FailMember } from './checksums.ts';
import type { Layout } from './layout.ts';
import type { Member } from './member.ts';
import { RegionSet } from './region-set.ts';

const REGIONS_PER_PAGE = BLOCK_BYTES * 8;
/** A writer that goes on from one region to the next does not have to wait at each of them. */
const REGIONS_AHEAD = 8;

export interface IntentLogOptions {
  readonly layout: Layout;
  readonly members: () => Iterable<Member>;
  readonly fail: FailMember;
}

/**
 * Which regions may differ between members after a crash. A region is marked durably before the first write to it, and
 * cleared some time after the last one, when everything in it is durable.
 */
export class IntentLog {
  readonly #options: IntentLogOptions;
  /** What the drives should say, and what they say for sure. */
  readonly #wanted: RegionSet;
  readonly #durable: RegionSet;
  readonly #lastUsed: Uint32Array;
  readonly #changedPages = new Set<number>();
  readonly #writer = new SharedFlush(() => this.#writePages());
  #epoch = 1;

  constructor(options: IntentLogOptions) {
    this.#options = options;
    this.#wanted = new RegionSet(options.layout.regions);
    this.#durable = new RegionSet(options.layout.regions);
    this.#lastUsed = new Uint32Array(options.layout.regions);
  }

  get markedCount(): number {
    return this.#wanted.size;
  }

  marked(): RegionSet {
    return this.#wanted.copy();
  }

  /** True when a write to the region may go ahead; notes that it does. */
  use(region: number): boolean {
    if (!this.#durable.has(region)) return false;
    this.#lastUsed[region] = this.#epoch;
    return true;
  }

  /** Marks a region. Those who ask at the same time share one write and one flush. */
  async mark(region: number): Promise<void> {
    const ahead = region > 0 && this.#durable.has(region - 1) ? REGIONS_AHEAD : 1;
    for (let next = region; next < region + ahead; next += 1) {
      if (this.#wanted.add(next)) this.#changedPages.add(pageOf(next));
      this.#lastUsed[next] = this.#epoch;
    }
    // A region another caller asked for is in a pass that runs already, or in the next one.
    await this.#writer.run();
  }

  /** Regions nobody has written to for a full period. Each call begins a new period. */
  idleRegions(): number[] {
    this.#epoch += 1;
    return [...this.#durable].filter((region) => (this.#lastUsed[region] ?? 0) < this.#epoch - 1);
  }

  isIdle(region: number): boolean {
    return (this.#lastUsed[region] ?? 0) < this.#epoch - 1;
  }

  /** From this moment on a write to one of these regions has to mark it again. */
  async clear(regions: readonly number[]): Promise<void> {
    for (const region of regions) {
      if (!this.#wanted.delete(region)) continue;
      this.#durable.delete(region);
      this.#changedPages.add(pageOf(region));
    }
    if (this.#changedPages.size > 0) await this.#writer.run();
  }

  /** Takes over what a member says. */
  async load(member: Member): Promise<void> {
    const page = Buffer.alloc(BLOCK_BYTES);
    for (let index = 0; index < this.#options.layout.intentPages; index += 1) {
      await member.drive.read(this.#offsetOf(index), page);
      this.#wanted.addPage(index, page);
    }
  }

  /** Writes the whole bitmap to every member: new ones do not have it, and others may have less of it. */
  async rewrite(): Promise<void> {
    for (let index = 0; index < this.#options.layout.intentPages; index += 1) this.#changedPages.add(index);
    await this.#writer.run();
  }

  async #writePages(): Promise<void> {
    const pages = [...this.#changedPages].map((index) => {
      const content = Buffer.allocUnsafe(BLOCK_BYTES);
      this.#wanted.writePage(index, content);
      return { index, content };
    });
    this.#changedPages.clear();
    if (pages.length === 0) return;
    const covered = pages.flatMap(({ index }) => this.#regionsOf(index));
    try {
      await allDone([...this.#options.members()].map((member) => this.#writeTo(member, pages)));
    } catch (error) {
      // Refused for want of room: some members may have them, but not all.
      for (const { index } of pages) this.#changedPages.add(index);
      throw error;
    }
    for (const region of covered) if (this.#wanted.has(region)) this.#durable.add(region);
  }

  async #writeTo(
    member: Member,
    pages: readonly { readonly index: number; readonly content: Buffer }[],
  ): Promise<void> {
    try {
      for (const { index, content } of pages) await member.drive.writeDurably(this.#offsetOf(index), content);
    } catch (error) {
      this.#options.fail(member, error);
    }
  }

  #regionsOf(page: number): number[] {
    const regions: number[] = [];
    const end = (page + 1) * REGIONS_PER_PAGE;
    for (let next = this.#wanted.next(page * REGIONS_PER_PAGE); next !== -1 && next < end;) {
      regions.push(next);
      next = this.#wanted.next(next + 1);
    }
    return regions;
  }

  #offsetOf(page: number): number {
    return this.#options.layout.intentOffset + page * BLOCK_BYTES;
  }
}

function pageOf(region: number): number {
  return Math.floor(region / REGIONS_PER_PAGE);
}
