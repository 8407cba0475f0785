import assert from 'node:assert/strict';
import { allDone } from '../../all-done.ts';
import { SharedFlush } from '../../drive/shared-flush.ts';
import { BLOCK_BYTES } from '../../units.ts';
import {
  decodeIntentPage,
  encodeIntentPage,
  intentOwner,
  intentSectors,
  REGIONS_PER_INTENT_PAGE,
} from './intent-page.ts';
import type { Layout } from '../layout.ts';
import type { FailMember, Member } from '../members/member.ts';
import { RegionSet } from './region-set.ts';

/** Regions marked ahead of a sequential writer, which would otherwise wait at each region. */
const REGIONS_AHEAD = 8;

export interface IntentLogOptions {
  readonly groupId: string;
  readonly layout: Layout;
  readonly members: () => Iterable<Member>;
  readonly fail: FailMember;
}

/**
 * Which regions may differ between members after a crash. A region is marked durably before the first write to it, and
 * cleared some time after the last one, when everything in it is durable. See `../README.md`.
 */
export class IntentLog {
  readonly #options: IntentLogOptions;
  /** What the drives should record, and what they record durably. */
  readonly #wanted: RegionSet;
  readonly #durable: RegionSet;
  /** Regions with checksums on the drives. They are written with the next page of the log. */
  readonly #written: RegionSet;
  /** The sectors that some member could read, by the first region of each. */
  readonly #readableSectors = new Set<number>();
  readonly #lastUsed: Uint32Array;
  readonly #changedPages = new Set<number>();
  readonly #writer = new SharedFlush(() => this.#writePages());
  #epoch = 1;

  constructor(options: IntentLogOptions) {
    this.#options = options;
    this.#wanted = new RegionSet(options.layout.regions);
    this.#durable = new RegionSet(options.layout.regions);
    this.#written = new RegionSet(options.layout.regions);
    this.#lastUsed = new Uint32Array(options.layout.regions);
  }

  get markedCount(): number {
    return this.#wanted.size;
  }

  marked(): RegionSet {
    return this.#wanted.copy();
  }

  /** True when a write to the region may proceed; records the use of the region. */
  use(region: number): boolean {
    if (!this.#durable.has(region)) return false;
    this.#lastUsed[region] = this.#epoch;
    return true;
  }

  /** Marks a region durably. Concurrent callers share one write and one flush. */
  async mark(region: number): Promise<void> {
    assert.ok(region >= 0 && region < this.#options.layout.regions, 'only a region of the group is marked');
    const ahead = region > 0 && this.#durable.has(region - 1) ? REGIONS_AHEAD : 1;
    for (let next = region; next < region + ahead; next += 1) {
      if (this.#wanted.add(next)) this.#changedPages.add(this.#pageOf(next));
      this.#lastUsed[next] = this.#epoch;
    }
    // A region that another caller marked is part of the running write or of the next one.
    await this.#writer.run();
  }

  /** Regions without a write for a full period. Each call begins a new period. */
  idleRegions(): number[] {
    this.#epoch += 1;
    return [...this.#durable].filter((region) => (this.#lastUsed[region] ?? 0) < this.#epoch - 1);
  }

  isIdle(region: number): boolean {
    return (this.#lastUsed[region] ?? 0) < this.#epoch - 1;
  }

  /** From now on a write to one of these regions has to mark it again. */
  async clear(regions: readonly number[]): Promise<void> {
    for (const region of regions) {
      if (!this.#wanted.delete(region)) continue;
      this.#durable.delete(region);
      this.#changedPages.add(this.#pageOf(region));
    }
    if (this.#changedPages.size > 0) await this.#writer.run();
  }

  /** Whether the region is known to have checksums on the drives. */
  isWritten(region: number): boolean {
    return this.#written.has(region);
  }

  /** Checksums of these regions are durable. */
  markWritten(regions: Iterable<number>): void {
    for (const region of regions) if (this.#written.add(region)) this.#changedPages.add(this.#pageOf(region));
  }

  /** Writes the pages that changed since the last write. */
  async persist(): Promise<void> {
    if (this.#changedPages.size > 0) await this.#writer.run();
  }

  /** Merges the log of a member. */
  async load(member: Member): Promise<void> {
    const page = Buffer.alloc(BLOCK_BYTES);
    const { groupId, layout } = this.#options;
    const owner = intentOwner(groupId, member.uuid);
    for (let index = 0; index < layout.intentPages; index += 1) {
      await member.drive.read(this.#offsetOf(index), page);
      if (layout.format === 1) {
        this.#wanted.addBits(index * REGIONS_PER_INTENT_PAGE[1], page);
        continue;
      }
      const bits = { marked: this.#wanted, written: this.#written };
      for (const first of decodeIntentPage(index, owner, page, bits)) this.#readableSectors.add(first);
    }
  }

  /** To be called after the logs of all members were loaded: sectors that no member could read count as marked. */
  markUnreadable(): void {
    const { format, regions } = this.#options.layout;
    if (format === 1) return;
    for (const { first, end } of intentSectors(regions)) {
      if (this.#readableSectors.has(first)) continue;
      for (let region = first; region < end; region += 1) this.#wanted.add(region);
    }
  }

  /** Writes the whole log to every member: new members do not have it, and others may have less of it. */
  async rewrite(): Promise<void> {
    for (let index = 0; index < this.#options.layout.intentPages; index += 1) this.#changedPages.add(index);
    await this.#writer.run();
  }

  async #writePages(): Promise<void> {
    const pages = [...this.#changedPages];
    this.#changedPages.clear();
    if (pages.length === 0) return;
    // Encoded now: regions marked during the write need a write of their own.
    const writes = [...this.#options.members()].map((member) => ({ member, pages: this.#encode(member, pages) }));
    const covered = pages.flatMap((index) => this.#regionsOf(index));
    try {
      await allDone(writes.map((write) => this.#writeTo(write.member, write.pages)));
    } catch (error) {
      // The disk is full: some members may have the pages, but not all.
      for (const index of pages) this.#changedPages.add(index);
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

  #encode(member: Member, pages: readonly number[]): { index: number; content: Buffer }[] {
    const { groupId, layout } = this.#options;
    const owner = intentOwner(groupId, member.uuid);
    const bits = { marked: this.#wanted, written: this.#written };
    return pages.map((index) => {
      if (layout.format === 2) return { index, content: encodeIntentPage(index, owner, bits) };
      const content = Buffer.allocUnsafe(BLOCK_BYTES);
      this.#wanted.writeBits(index * REGIONS_PER_INTENT_PAGE[1], content);
      return { index, content };
    });
  }

  #regionsOf(page: number): number[] {
    const regions: number[] = [];
    const perPage = REGIONS_PER_INTENT_PAGE[this.#options.layout.format];
    const end = (page + 1) * perPage;
    for (let next = this.#wanted.next(page * perPage); next !== -1 && next < end;) {
      regions.push(next);
      next = this.#wanted.next(next + 1);
    }
    return regions;
  }

  #offsetOf(page: number): number {
    return this.#options.layout.intentOffset + page * BLOCK_BYTES;
  }

  #pageOf(region: number): number {
    return Math.floor(region / REGIONS_PER_INTENT_PAGE[this.#options.layout.format]);
  }
}
