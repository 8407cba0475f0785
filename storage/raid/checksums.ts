import { isNoSpace } from '../errors.ts';
import type { StorageError } from '../errors.ts';
import { BLOCK_BYTES, BLOCKS_PER_REGION } from '../units.ts';
import type { Layout } from './layout.ts';
import type { Member } from './member.ts';

const CACHE_BYTES_DEFAULT = 32 * 1024 * 1024;
const PAGES_MIN = 64;

/** The checksum of nothing: the block was never written and reads as zeros. */
export const NEVER_WRITTEN = 0;
/** Stands in for the checksum of a block whose content is lost, so that nobody takes the bytes there for data. */
export const LOST = 0x1057_b10c;

/** Why a page is still to be written: the disk is full. */
type Refusal = StorageError | undefined;

/** The checksums of one region on one member. */
export class ChecksumPage {
  readonly member: Member;
  readonly region: number;
  readonly bytes = Buffer.allocUnsafeSlow(BLOCK_BYTES);
  readonly entries = new Uint32Array(this.bytes.buffer, 0, BLOCKS_PER_REGION);
  isDirty = false;
  /** Among the changes are checksums of blocks that had none, or were lost. */
  hasFirstWrites = false;
  wasUsed = true;
  isResident = true;
  writing: Promise<Refusal> | undefined;

  constructor(member: Member, region: number) {
    this.member = member;
    this.region = region;
  }

  change(first: number, entries: Uint32Array): void {
    this.noteWrites(first, entries.length);
    this.entries.set(entries, first);
  }

  /** To be called before these checksums are changed to those of new data. */
  noteWrites(first: number, count: number): void {
    this.isDirty = true;
    for (let index = first; index < first + count; index += 1) {
      const entry = this.entries[index];
      if (entry === NEVER_WRITTEN || entry === LOST) this.hasFirstWrites = true;
    }
  }
}

/** Takes a member out; throws instead when the disk is full, because that is no failure of the member. */
export type FailMember = (member: Member, error: unknown) => void;

/**
 * Keeps the checksum pages in use in memory, up to a bound; which one goes is decided by the clock algorithm. A page
 * that was changed is written before it goes. Pages are looked up and changed without waiting in between: nobody holds
 * one across an `await`.
 */
export class ChecksumCache {
  readonly #layout: Layout;
  readonly #fail: FailMember;
  readonly #pagesMax: number;
  readonly #ring: ChecksumPage[] = [];
  #hand = 0;

  constructor(layout: Layout, fail: FailMember, cacheBytes = CACHE_BYTES_DEFAULT) {
    this.#layout = layout;
    this.#fail = fail;
    this.#pagesMax = Math.max(PAGES_MIN, Math.floor(cacheBytes / BLOCK_BYTES));
  }

  get pageCount(): number {
    return this.#ring.length;
  }

  /** The page, from memory or from the drive; undefined when the drive failed over it. */
  fetch(member: Member, region: number): ChecksumPage | Promise<ChecksumPage | undefined> {
    const page = member.pages.get(region);
    if (page === undefined) return this.#load(member, region);
    page.wasUsed = true;
    return page;
  }

  /** Copies the checksums of rows of one region; false when the drive failed. */
  async read(member: Member, row: number, into: Uint32Array): Promise<boolean> {
    const page = await this.fetch(member, regionOf(row));
    if (page === undefined) return false;
    const first = row % BLOCKS_PER_REGION;
    into.set(page.entries.subarray(first, first + into.length));
    return true;
  }

  /** Sets the checksums of rows of one region. They reach the drive at the next flush. */
  async put(member: Member, row: number, entries: Uint32Array): Promise<void> {
    const region = regionOf(row);
    for (;;) {
      const page = await this.fetch(member, region);
      if (page === undefined) return;
      if (!page.isResident) continue;
      const first = row % BLOCKS_PER_REGION;
      if (entries.every((entry, index) => page.entries[first + index] === entry)) return;
      page.change(first, entries);
      return;
    }
  }

  /**
   * Writes what was changed on a member so far, and waits for what is being written already. The checksum of a block
   * that had none must not be on the drive before its data is: after a crash whatever was there before, perhaps of
   * another owner, would be taken for it. What a full disk refuses stays changed, and the refusal is thrown.
   */
  async writeBack(member: Member): Promise<void> {
    const pages = [...member.pages.values()];
    const flushing = pages.some((page) => page.hasFirstWrites) ? this.#flushData(member) : undefined;
    const writes: Promise<Refusal>[] = [];
    for (const page of pages) {
      const writing = page.isDirty ? this.#write(page, flushing) : page.writing;
      if (writing !== undefined) writes.push(writing);
    }
    await flushing;
    const refusal = (await Promise.all(writes)).find((result) => result !== undefined);
    if (refusal !== undefined) throw refusal;
  }

  forget(member: Member): void {
    for (const page of member.pages.values()) page.isResident = false;
    member.pages.clear();
    for (let index = this.#ring.length - 1; index >= 0; index -= 1) {
      if (this.#ring[index]?.member === member) this.#ring.splice(index, 1);
    }
  }

  #load(member: Member, region: number): Promise<ChecksumPage | undefined> {
    const running = member.loading.get(region);
    if (running !== undefined) return running;
    const loading = this.#read(member, region).finally(() => member.loading.delete(region));
    member.loading.set(region, loading);
    return loading;
  }

  async #read(member: Member, region: number): Promise<ChecksumPage | undefined> {
    // Never inside the caller's turn: `loading` has to be set before this can end.
    await Promise.resolve();
    if (this.#ring.length >= this.#pagesMax) await this.#evict();
    if (isGone(member)) return undefined;
    const page = new ChecksumPage(member, region);
    try {
      await member.drive.read(this.#offsetOf(region), page.bytes);
    } catch (error) {
      this.#fail(member, error);
      return undefined;
    }
    if (isGone(member)) return undefined;
    member.pages.set(region, page);
    this.#ring.push(page);
    return page;
  }

  /** Makes room for one page. Pages that change while they are written stay, so it may give up and let the ring grow. */
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
      if (this.#ring.length < this.#pagesMax) return;
    }
  }

  /** False when the disk is full: then pages that were changed stay. */
  async #tryWriteBack(member: Member): Promise<boolean> {
    try {
      await this.writeBack(member);
      return true;
    } catch (error) {
      if (isNoSpace(error)) return false;
      throw error;
    }
  }

  #remove(page: ChecksumPage): void {
    page.isResident = false;
    page.member.pages.delete(page.region);
    const index = this.#ring[this.#hand] === page ? this.#hand : this.#ring.indexOf(page);
    const last = this.#ring.pop();
    if (last !== undefined && last !== page) this.#ring[index] = last;
  }

  /** The caller waits for `after`, if there is one, in the same way: it belongs to the same member. */
  #write(page: ChecksumPage, after: Promise<void> | undefined): Promise<Refusal> {
    const { hasFirstWrites } = page;
    page.isDirty = false;
    page.hasFirstWrites = false;
    const before = page.writing;
    // A copy, because the page goes on changing and may take in checksums of data that is not durable.
    const content = Buffer.from(page.bytes);
    const writing = this.#writeNow(page, content, [before, after]).then((refusal) => {
      if (page.writing === writing) page.writing = undefined;
      if (refusal === undefined) return undefined;
      page.isDirty = true;
      page.hasFirstWrites ||= hasFirstWrites;
      return refusal;
    });
    page.writing = writing;
    return writing;
  }

  async #writeNow(
    { member, region }: ChecksumPage,
    content: Buffer,
    conditions: readonly (Promise<unknown> | undefined)[],
  ): Promise<Refusal> {
    for (const condition of conditions) await condition;
    if (isGone(member)) return undefined;
    try {
      await member.drive.write(this.#offsetOf(region), content);
    } catch (error) {
      if (isNoSpace(error)) return error;
      this.#fail(member, error);
    }
    return undefined;
  }

  async #flushData(member: Member): Promise<void> {
    try {
      await member.drive.flush();
    } catch (error) {
      this.#fail(member, error);
    }
  }

  #offsetOf(region: number): number {
    return this.#layout.checksumOffset + region * BLOCK_BYTES;
  }
}

/** Asked anew after every wait. */
function isGone(member: Member): boolean {
  return !member.isAlive;
}

function isIdle(page: ChecksumPage): boolean {
  return !page.isDirty && !page.wasUsed && page.writing === undefined && page.isResident;
}

export function regionOf(row: number): number {
  return Math.floor(row / BLOCKS_PER_REGION);
}
