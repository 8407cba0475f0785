import { isNoSpace } from '../../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { differingRows, classifyPages, pageOfFormat1 } from './checksum-pages-read.ts';
import { ChecksumWriter } from './checksum-writer.ts';
import { GenerationTable } from './generation-table.ts';
import { checksumPageOffset } from '../layout.ts';
import type { Layout } from '../layout.ts';
import type { FailMember, Member, MemberPage } from '../members/member.ts';

const CACHE_BYTES_DEFAULT = 32 * 1024 * 1024;
const PAGES_MIN = 64;

export interface ChecksumCacheOptions {
  readonly groupId: string;
  readonly layout: Layout;
  readonly fail: FailMember;
  /** All members and successors that receive writes. */
  readonly members: () => readonly Member[];
  /** Members may differ in this region since a crash. */
  readonly isUnsynced: (region: number) => boolean;
  /** The write-intent log records that the region has checksums on the drives. */
  readonly isWritten: (region: number) => boolean;
  /** Checksums of a member were damaged, stale or had another owner. They are unknown now. */
  readonly onRejected: (member: Member, region: number) => void;
  readonly cacheBytes?: number | undefined;
}

/** Lookups of pages that were in memory, and of those that had to be read, since the group was opened. */
export interface ChecksumCacheStatistics {
  readonly capacityBytes: number;
  readonly cleanBytes: number;
  /** Changed, and not on the drives before the next flush. */
  readonly dirtyBytes: number;
  readonly readHits: number;
  readonly readMisses: number;
  readonly writeHits: number;
  readonly writeMisses: number;
}

/**
 * A bounded cache of checksum pages with clock eviction. A dirty page is written before it is evicted. Pages are looked
 * up and changed without an `await` in between; no caller holds a page across one.
 */
export class ChecksumCache {
  readonly generations = new GenerationTable((region) => this.#loading.has(region));
  /** Lookups; paths that have a page at hand count theirs here. */
  readonly lookups = { readHits: 0, readMisses: 0, writeHits: 0, writeMisses: 0 };
  readonly #options: ChecksumCacheOptions;
  readonly #layout: Layout;
  readonly #writer: ChecksumWriter;
  readonly #pagesMax: number;
  readonly #ring: MemberPage[] = [];
  readonly #loading = new Map<number, Promise<ReadonlySet<Member>>>();
  #hand = 0;

  constructor(options: ChecksumCacheOptions) {
    this.#options = options;
    this.#layout = options.layout;
    this.#writer = new ChecksumWriter(options.layout, options.fail);
    this.#pagesMax = Math.max(PAGES_MIN, Math.floor((options.cacheBytes ?? CACHE_BYTES_DEFAULT) / BLOCK_BYTES));
  }

  get pageCount(): number {
    return this.#ring.length;
  }

  statistics(): ChecksumCacheStatistics {
    let dirty = 0;
    for (const { isDirty } of this.#ring) if (isDirty) dirty += 1;
    return {
      capacityBytes: this.#pagesMax * BLOCK_BYTES,
      cleanBytes: (this.#ring.length - dirty) * BLOCK_BYTES,
      dirtyBytes: dirty * BLOCK_BYTES,
      ...this.lookups,
    };
  }

  /** The page, from memory or from the drive; undefined when the drive failed. */
  fetch(member: Member, region: number): MemberPage | Promise<MemberPage | undefined> {
    const page = member.pages.get(region);
    if (page === undefined) return this.#load(member, region);
    page.wasUsed = true;
    return page;
  }

  /** Copies the checksums of rows of one region; false when the drive failed. */
  async read(member: Member, row: number, into: Uint32Array): Promise<boolean> {
    const region = this.#regionOf(row);
    if (member.pages.has(region)) this.lookups.readHits += 1;
    else this.lookups.readMisses += 1;
    const page = await this.fetch(member, region);
    if (page === undefined) return false;
    const first = row % this.#layout.regionRows;
    into.set(page.entries.subarray(first, first + into.length));
    return true;
  }

  /** Sets the checksums of new data in rows of one region. They reach the drive at the next flush. */
  put(member: Member, row: number, entries: Uint32Array): Promise<void> {
    // A member that does not hold the region yet has no generation of its own: it uses that of the member it replaces.
    if (!member.holdsRegion(this.#regionOf(row))) return this.restore(member, row, entries);
    return this.#set(member, row, entries, (page, first) => page.change(first, entries));
  }

  /** Sets checksums of data the group had before: a repair, a resync, or a member that is being filled. */
  restore(member: Member, row: number, entries: Uint32Array): Promise<void> {
    return this.#set(member, row, entries, (page, first) => page.restore(first, entries));
  }

  /** Writes the changed pages of a member; pages that a full disk refuses stay dirty, and the error is thrown. */
  writeBack(member: Member): Promise<void> {
    return this.#writer.writeBack(member);
  }

  drop(member: Member): void {
    for (const page of member.pages.values()) this.#markEvicted(page);
    member.pages.clear();
    for (let index = this.#ring.length - 1; index >= 0; index -= 1) {
      if (this.#ring[index]?.member === member) this.#ring.splice(index, 1);
    }
  }

  /** Drops all state: the group is reassembled from its drives. */
  reset(): void {
    this.generations.clear();
  }

  /**
   * Compares a page in memory with the drive. When they differ, the page is written at the next flush. Returns the rows
   * of the region whose checksums differ.
   */
  async audit(member: Member, region: number): Promise<number[]> {
    const page = await this.fetch(member, region);
    if (page === undefined || !isAtRest(page)) return [];
    const found = await this.#readPage(member, region);
    if (found === undefined || !isAtRest(page)) return [];
    const rows = differingRows(page, found);
    if (rows.length > 0) page.isDirty = true;
    return rows;
  }

  async #set(
    member: Member,
    row: number,
    entries: Uint32Array,
    change: (page: MemberPage, first: number) => void,
  ): Promise<void> {
    const region = this.#regionOf(row);
    if (member.pages.has(region)) this.lookups.writeHits += 1;
    else this.lookups.writeMisses += 1;
    for (;;) {
      const page = await this.fetch(member, region);
      if (page === undefined) return;
      if (!page.isResident) continue;
      const first = row % this.#layout.regionRows;
      const isSame = entries.every((entry, index) => page.entries[first + index] === entry);
      if (!isSame || !page.isCurrent) change(page, first);
      return;
    }
  }

  async #load(member: Member, region: number): Promise<MemberPage | undefined> {
    for (;;) {
      const running = this.#loading.get(region) ?? this.#startLoading(region);
      const unread = await running;
      const page = member.pages.get(region);
      // In a failed group members are not failed any more: a page that cannot be read is not read again.
      if (page !== undefined || isGone(member) || unread.has(member)) return page;
      // It became a member after the others were read; unless it left without having failed.
      if (!this.#options.members().includes(member)) return undefined;
    }
  }

  #startLoading(region: number): Promise<ReadonlySet<Member>> {
    // Deferred, so that `loading` is set before this can end.
    const loading = Promise.resolve()
      .then(() => this.#loadRegion(region))
      .finally(() => this.#loading.delete(region));
    this.#loading.set(region, loading);
    return loading;
  }

  /**
   * Reads the pages of all members: only together they prove what was written. Returns the members that could not be
   * read.
   */
  async #loadRegion(region: number): Promise<ReadonlySet<Member>> {
    const absent = this.#options.members().filter((member) => !member.pages.has(region));
    await this.#evictFor(absent.length);
    const contents = await Promise.all(
      absent.map(async (member) => ({ member, content: await this.#readPage(member, region) })),
    );
    const unread = new Set(contents.flatMap(({ member, content }) => (content === undefined ? [member] : [])));
    const present = contents.flatMap(({ member, content }) =>
      content === undefined || isGone(member) ? [] : [{ member, content }],
    );
    if (this.#layout.format === 1) {
      for (const { member, content } of present) this.#insert(pageOfFormat1(member, region, content));
      return unread;
    }
    const { pages, rejected } = classifyPages(present, {
      groupId: this.#options.groupId,
      layout: this.#layout,
      region,
      isUnsynced: this.#options.isUnsynced(region),
      isWritten: this.#options.isWritten(region),
      generationsOf: (latest) => this.generations.of(region, latest),
    });
    for (const page of pages) this.#insert(page);
    for (const member of rejected) this.#options.onRejected(member, region);
    return unread;
  }

  #insert(page: MemberPage): void {
    page.member.pages.set(page.region, page);
    this.#ring.push(page);
    if (page.generations !== undefined) page.generations.pageCount += 1;
  }

  async #readPage(member: Member, region: number): Promise<Buffer | undefined> {
    const content = Buffer.allocUnsafeSlow(BLOCK_BYTES);
    try {
      await member.drive.read(checksumPageOffset(this.#layout, region), content);
      return content;
    } catch (error) {
      this.#options.fail(member, error);
      return undefined;
    }
  }

  async #evictFor(count: number): Promise<void> {
    for (let tries = count; tries > 0 && this.#ring.length + count > this.#pagesMax; tries -= 1) await this.#evict();
  }

  /** Evicts one page. Pages that change while they are written stay, so it may give up and let the ring grow. */
  async #evict(): Promise<void> {
    let isFull = false;
    for (let tries = this.#ring.length * 2; tries > 0 && this.#ring.length > 0; tries -= 1) {
      this.#hand = (this.#hand + 1) % this.#ring.length;
      const page = this.#ring[this.#hand];
      if (page === undefined) return;
      if (page.wasUsed) {
        page.wasUsed = false;
        continue;
      }
      if (page.writing !== undefined || (page.isDirty && isFull)) continue;
      if (page.isDirty) isFull = !(await this.#tryWriteBack(page.member));
      if (!isIdle(page)) continue;
      this.#remove(page);
      return;
    }
  }

  /** False when the disk is full: dirty pages stay in memory. */
  async #tryWriteBack(member: Member): Promise<boolean> {
    try {
      await this.writeBack(member);
      return true;
    } catch (error) {
      if (isNoSpace(error)) return false;
      throw error;
    }
  }

  #remove(page: MemberPage): void {
    this.#markEvicted(page);
    page.member.pages.delete(page.region);
    const index = this.#ring[this.#hand] === page ? this.#hand : this.#ring.indexOf(page);
    const last = this.#ring.pop();
    if (last !== undefined && last !== page) this.#ring[index] = last;
  }

  /** The page cannot be looked up any more. */
  #markEvicted(page: MemberPage): void {
    page.isResident = false;
    if (page.generations !== undefined) this.generations.pageEvicted(page.generations);
  }

  #regionOf(row: number): number {
    return Math.floor(row / this.#layout.regionRows);
  }
}

/** Evaluated again after every wait. */
function isGone(member: Member): boolean {
  return !member.isAlive;
}

/** The drive holds the page as it is in memory. */
function isAtRest(page: MemberPage): boolean {
  return !page.isDirty && page.writing === undefined && page.isResident && page.member.isAlive;
}

function isIdle(page: MemberPage): boolean {
  return isAtRest(page) && !page.wasUsed;
}
