import { setTimeout as sleep } from 'node:timers/promises';
import { StorageError } from '../errors.ts';
import { BLOCK_BYTES, SECTOR_BYTES } from '../units.ts';
import type { Done } from '../units.ts';
import type { Drive, DriveStatistics, LargeRequests } from './drive.ts';
import { UnflushedSectors } from './unflushed-sectors.ts';

interface Range {
  readonly offset: number;
  readonly length: number;
}

/** A source of numbers in [0, 1), injected so that a run can be repeated. */
export type Random = () => number;

/** Wraps a drive and injects faults: failures of the drive or of ranges, delays, silent corruption, and power cuts. */
export class FaultyDrive implements Drive {
  readonly inner: Drive;
  readonly #unflushed = new UnflushedSectors();
  #losesUnflushed = false;
  #failed = false;
  #withoutPower = false;
  #unreadable: Range[] = [];
  #unwritable: Range[] = [];
  #slowMs = 0;
  /** Bytes that still fit; undefined while space is unlimited. */
  #spaceBytes: number | undefined;
  #writingBack: Promise<void> = Promise.resolve();

  constructor(inner: Drive) {
    this.inner = inner;
  }

  get id(): string {
    return this.inner.id;
  }

  get sizeBytes(): number {
    return this.inner.sizeBytes;
  }

  get isFailed(): boolean {
    return this.#failed;
  }

  /** Everything is refused until `heal`. */
  fail(): void {
    this.#failed = true;
  }

  failReads(offset: number, length: number): void {
    this.#unreadable.push({ offset, length });
  }

  failWrites(offset: number, length: number): void {
    this.#unwritable.push({ offset, length });
  }

  heal(): void {
    this.#failed = false;
    this.#unreadable = [];
    this.#unwritable = [];
    this.#slowMs = 0;
    this.#spaceBytes = undefined;
  }

  /**
   * The disk underneath is full after `afterBytes` more bytes, until `giveSpace`. The part of a write that fits is
   * written.
   */
  refuseSpace(afterBytes = 0): void {
    this.#spaceBytes = afterBytes;
  }

  giveSpace(): void {
    this.#spaceBytes = undefined;
  }

  /** Delays each request. */
  slow(milliseconds: number): void {
    this.#slowMs = milliseconds;
  }

  /** From now on a write is kept in memory until the next flush, and `powerCut` may lose it. */
  loseUnflushed(): void {
    this.#losesUnflushed = true;
  }

  /** Changes every byte of the range on the inner drive, silently. */
  async corrupt(offset: number, length: number, random: Random): Promise<void> {
    const start = offset - (offset % BLOCK_BYTES);
    const end = Math.ceil((offset + length) / BLOCK_BYTES) * BLOCK_BYTES;
    const blocks = Buffer.alloc(end - start);
    await this.inner.read(start, blocks);
    this.#unflushed.overlay(start, blocks);
    for (let at = offset - start; at < offset - start + length; at += 1) {
      blocks[at] = (blocks[at] ?? 0) ^ (1 + Math.floor(random() * 255));
    }
    if (this.#losesUnflushed) this.#unflushed.put(start, blocks);
    else await this.inner.write(start, blocks);
  }

  /**
   * Some of the unflushed sectors reach the inner drive, each in any of its versions; the others are lost. Afterwards
   * all requests are refused; `inner` holds the remaining data.
   */
  async powerCut(random: Random): Promise<void> {
    this.#withoutPower = true;
    // A write-back in progress stops at the next sector; it must not overwrite the survivors.
    await this.#writingBack;
    const block = Buffer.alloc(BLOCK_BYTES);
    for (const { sector, versions } of this.#unflushed.sectors()) {
      const survivor = versions[Math.floor(random() * (versions.length + 1)) - 1];
      if (survivor === undefined) continue;
      const at = (sector * SECTOR_BYTES) % BLOCK_BYTES;
      const offset = sector * SECTOR_BYTES - at;
      await this.inner.read(offset, block);
      survivor.copy(block, at);
      await this.inner.write(offset, block);
    }
    this.#unflushed.clear();
  }

  read(offset: number, into: Buffer): Done {
    this.#refuse(offset, into.length, this.#unreadable);
    if (this.#slowMs === 0 && !this.#losesUnflushed) return this.inner.read(offset, into);
    return this.#readSlowly(offset, into);
  }

  /** The inner drive's, unless a fault other than a range is injected; ranges are checked for each request. */
  get large(): LargeRequests | undefined {
    const { large } = this.inner;
    if (!large || this.#slowMs > 0 || this.#losesUnflushed || this.#spaceBytes !== undefined) return undefined;
    return {
      readSummed: (offset, into, sums) => {
        this.#refuse(offset, into.length, this.#unreadable);
        return large.readSummed(offset, into, sums);
      },
      fileToWrite: (offset, from) => {
        this.#refuse(offset, from.length, this.#unwritable);
        return large.fileToWrite(offset, from);
      },
    };
  }

  write(offset: number, from: Buffer): Done {
    this.#refuse(offset, from.length, this.#unwritable);
    if (this.#slowMs > 0) return this.#writeSlowly(offset, from);
    return this.#writeNow(offset, from);
  }

  async flush(): Promise<void> {
    this.#refuse(0, 0, []);
    if (this.#slowMs > 0) await sleep(this.#slowMs);
    await this.#writeBack(0, this.sizeBytes);
    await this.inner.flush();
    this.#refuse(0, 0, []);
  }

  async writeDurably(offset: number, from: Buffer): Promise<void> {
    this.#refuse(offset, from.length, this.#unwritable);
    if (this.#slowMs > 0) await sleep(this.#slowMs);
    const fits = this.#reserveSpace(from.length);
    if (fits < from.length) return this.#writePart(offset, from.subarray(0, fits));
    if (!this.#losesUnflushed) return this.inner.writeDurably(offset, from);
    this.#unflushed.put(offset, from);
    await this.#writeBack(offset, offset + from.length);
  }

  async discard(offset: number, length: number): Promise<void> {
    this.#refuse(offset, length, this.#unwritable);
    await this.inner.discard(offset, length);
  }

  statistics(): DriveStatistics {
    return this.inner.statistics();
  }

  async close(): Promise<void> {
    if (!this.#withoutPower && !this.#failed && this.#unflushed.size > 0) await this.flush();
    await this.inner.close();
  }

  async #readSlowly(offset: number, into: Buffer): Promise<void> {
    if (this.#slowMs > 0) await sleep(this.#slowMs);
    this.#refuse(offset, into.length, this.#unreadable);
    // A concurrent flush may write a sector after the inner read and drop it here before the overlay.
    const before = this.#unflushed.newest(offset, into.length);
    await this.inner.read(offset, into);
    for (const { at, content } of before) content.copy(into, at);
    this.#unflushed.overlay(offset, into);
  }

  async #writeSlowly(offset: number, from: Buffer): Promise<void> {
    await sleep(this.#slowMs);
    this.#refuse(offset, from.length, this.#unwritable);
    await this.#writeNow(offset, from);
  }

  #writeNow(offset: number, from: Buffer): Done {
    const fits = this.#reserveSpace(from.length);
    return fits < from.length ? this.#writePart(offset, from.subarray(0, fits)) : this.#put(offset, from);
  }

  /** The part of a write that fits, in whole blocks. */
  #reserveSpace(bytes: number): number {
    if (this.#spaceBytes === undefined) return bytes;
    const fits = Math.min(bytes, this.#spaceBytes - (this.#spaceBytes % BLOCK_BYTES));
    this.#spaceBytes -= fits;
    return fits;
  }

  #writePart(offset: number, part: Buffer): Done {
    const refusal = new StorageError('no-space', `Drive ${this.id} has no room; make room on the disk beneath.`);
    const done = part.length > 0 ? this.#put(offset, part) : undefined;
    if (done === undefined) throw refusal;
    return done.then(() => Promise.reject(refusal));
  }

  #put(offset: number, from: Buffer): Done {
    if (!this.#losesUnflushed) return this.inner.write(offset, from);
    this.#unflushed.put(offset, from);
    return undefined;
  }

  /** Writes the unflushed sectors of the range to the inner drive; callers are serialized. */
  #writeBack(start: number, end: number): Promise<void> {
    const writingBack = this.#writingBack.then(() => this.#writeBackNow(start, end));
    this.#writingBack = writingBack.catch(() => undefined);
    return writingBack;
  }

  async #writeBackNow(start: number, end: number): Promise<void> {
    const block = Buffer.alloc(BLOCK_BYTES);
    for (const { sector, versions } of this.#unflushed.sectors()) {
      const newest = versions.at(-1);
      const place = sector * SECTOR_BYTES;
      if (newest === undefined || place < start || place >= end) continue;
      const at = place % BLOCK_BYTES;
      await this.inner.read(place - at, block);
      newest.copy(block, at);
      await this.inner.write(place - at, block);
      this.#refuse(0, 0, []);
      this.#unflushed.markFlushed(sector, versions.length);
    }
  }

  #refuse(offset: number, length: number, broken: readonly Range[]): void {
    if (this.#withoutPower) throw new StorageError('drive-failed', `Drive ${this.id} has no power; open what is left.`);
    if (this.#failed) throw new StorageError('drive-failed', `Drive ${this.id} does not answer; heal or replace it.`);
    for (const range of broken) {
      if (offset >= range.offset + range.length || range.offset >= offset + length) continue;
      throw new StorageError('drive-failed', `Drive ${this.id} fails at ${range.offset}; heal or replace it.`);
    }
  }
}
