import { isNoSpace, StorageError } from '../../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import type { Done } from '../../units.ts';
import { writeCopies } from '../../drive/copies.ts';
import { readSummed } from '../../drive/then-sum.ts';
import { allDone } from '../../all-done.ts';
import { areAllWritten, areEqual, checksumsOf, damagedBlocks } from '../blocks.ts';
import type { GroupCore } from '../core.ts';
import type { Member } from '../members/member.ts';
import { MirrorCopies } from './mirror-copies.ts';
import { chooseReader, SLICE_ROWS } from './reader-choice.ts';
import { ifThereIsSpace } from '../journal/deferred-writes.ts';
import { SpareSums } from '../checksums/spare-sums.ts';
import type { Examination, Strategy } from '../strategy.ts';

const PIECES_AT_ONCE = 8;

/** RAID1: every member holds all data. */
export class Mirror implements Strategy {
  readonly #core: GroupCore;
  readonly #dataOffset: number;
  readonly #regionRows: number;
  readonly #spareSums = new SpareSums();

  constructor(core: GroupCore) {
    this.#core = core;
    this.#dataOffset = core.layout.dataOffset;
    this.#regionRows = core.layout.regionRows;
  }

  readonly #orFail = async (member: Member, done: Promise<void>): Promise<void> => {
    try {
      await done;
    } catch (error) {
      this.#core.fail(member, error);
    }
  };

  read(offset: number, into: Buffer): Done {
    const core = this.#core;
    const row = offset / BLOCK_BYTES;
    const count = into.length / BLOCK_BYTES;
    const first = row % this.#regionRows;
    const region = (row - first) / this.#regionRows;
    const across = first + count - this.#regionRows;
    if (across > 0) return this.#inTwo(row, into, across, (at, part) => this.read(at, part));
    const member = this.#memberFor(row);
    const page = member?.pages.get(region);
    const isPlain = page !== undefined && core.isOpen();
    if (!isPlain || member === undefined || core.unsynced.has(region)) return this.#readPieces(row, into);
    if (!areAllWritten(page.entries, first, count)) return this.#readPieces(row, into);
    page.wasUsed = true;
    core.checksums.lookups.readHits += 1;
    const sums = this.#spareSums.acquire(count);
    let done: Done;
    try {
      done = readSummed(member.drive, this.#dataOffset + offset, into, sums);
    } catch (error) {
      core.membership.fail(member, error);
      return this.#readPieces(row, into);
    }
    if (done !== undefined) return this.#readLater(done, member, row, into, sums);
    const isRight = areEqual(sums, page.entries, first);
    this.#spareSums.release(sums);
    return isRight ? undefined : this.#readPieces(row, into);
  }

  write(offset: number, from: Buffer): Done {
    const core = this.#core;
    const row = offset / BLOCK_BYTES;
    const count = from.length / BLOCK_BYTES;
    const first = row % this.#regionRows;
    const region = (row - first) / this.#regionRows;
    const { writers } = core.membership;
    const across = first + count - this.#regionRows;
    if (across > 0) return this.#inTwo(row, from, across, (at, part) => this.write(at, part));
    if (!core.isOpen() || core.unsynced.has(region)) return this.#writePieces(row, from);
    if (!core.locks.isFree(row, row + count) || !hasPages(writers, region) || !core.intent.use(region)) {
      return this.#writePieces(row, from);
    }
    const sums = this.#spareSums.acquire(count);
    const running = writeCopies(writers, this.#dataOffset + offset, from, sums, this.#orFail);
    if (running !== undefined) return this.#writeLater(row, from, sums, running);
    setChecksums(writers, region, first, sums);
    core.checksums.lookups.writeHits += writers.length;
    this.#spareSums.release(sums);
    return undefined;
  }

  async discard(offset: number, length: number): Promise<void> {
    const end = (offset + length) / BLOCK_BYTES;
    for (let row = offset / BLOCK_BYTES; row < end;) {
      const count = Math.min(end, (this.#core.regionOf(row) + 1) * this.#regionRows) - row;
      const range = await this.#core.begin(row, count, true);
      try {
        await this.#putChecksums(row, new Uint32Array(count));
      } finally {
        this.#core.end(range);
      }
      row += count;
    }
    await this.#core.membership.whenRecorded();
  }

  async resync(row: number, count: number): Promise<void> {
    const copies = await MirrorCopies.load(this.#core, row, count);
    try {
      copies.agreeAfterCrash();
      await copies.writeBack();
    } finally {
      copies.release();
    }
  }

  async fill(target: Member, row: number, count: number): Promise<void> {
    const copies = await MirrorCopies.load(this.#core, row, count);
    try {
      copies.agree();
      await copies.copyTo(target);
    } finally {
      copies.release();
    }
  }

  async examine(row: number, count: number, repair: boolean): Promise<Examination> {
    const copies = await MirrorCopies.load(this.#core, row, count);
    try {
      const { mismatches, lost } = copies.agree();
      const repaired = repair ? await copies.writeBack() : 0;
      return { mismatches, lost: lost.length, repaired };
    } finally {
      copies.release();
    }
  }

  /** Splits a request at the end of its first region; `across` rows are beyond. */
  #inTwo(row: number, bytes: Buffer, across: number, operate: (offset: number, part: Buffer) => Done): Done {
    const cut = bytes.length - across * BLOCK_BYTES;
    const first = operate(row * BLOCK_BYTES, bytes.subarray(0, cut));
    // Sequential where the drives are asynchronous: that bounds the requests in flight.
    const rest = () => operate(row * BLOCK_BYTES + cut, bytes.subarray(cut));
    return first === undefined ? rest() : first.then(rest);
  }

  #memberFor(row: number): Member | undefined {
    return chooseReader(this.#core.membership.readers, this.#core.readMode, row);
  }

  async #readLater(done: Promise<void>, member: Member, row: number, into: Buffer, sums: Uint32Array): Promise<void> {
    member.readsUnderWay += 1;
    try {
      await done;
    } catch (error) {
      this.#core.membership.fail(member, error);
      await this.#readPieces(row, into);
      return;
    } finally {
      member.readsUnderWay -= 1;
    }
    const first = row % this.#regionRows;
    const page = member.pages.get(this.#core.regionOf(row));
    if (page !== undefined && areAllWritten(page.entries, first, into.length / BLOCK_BYTES)) {
      if (areEqual(sums, page.entries, first)) return undefined;
    }
    return this.#readPieces(row, into);
  }

  async #readPieces(row: number, into: Buffer): Promise<void> {
    const running: Promise<void>[] = [];
    for (let at = 0; at < into.length;) {
      const start = row + at / BLOCK_BYTES;
      const count = Math.min(SLICE_ROWS - (start % SLICE_ROWS), (into.length - at) / BLOCK_BYTES);
      running.push(this.#readPiece(start, into.subarray(at, at + count * BLOCK_BYTES)));
      if (running.length === PIECES_AT_ONCE) await allDone(running.splice(0));
      at += count * BLOCK_BYTES;
    }
    await allDone(running);
  }

  async #readPiece(row: number, into: Buffer): Promise<void> {
    await this.#core.enter(true);
    const member = this.#core.unsynced.has(this.#core.regionOf(row)) ? undefined : this.#memberFor(row);
    if (member === undefined) return this.#readAndRepair(row, into);
    const entries = new Uint32Array(into.length / BLOCK_BYTES);
    member.readsUnderWay += 1;
    const isRead = await this.#core.readRows(member, row, into);
    member.readsUnderWay -= 1;
    if (!isRead || !(await this.#core.checksums.read(member, row, entries))) return this.#readAndRepair(row, into);
    if (damagedBlocks(into, entries).length > 0) return this.#readAndRepair(row, into);
    if (!areAllWritten(entries, 0, entries.length) && !(await this.#doAllAgree(member, row, entries))) {
      return this.#readAndRepair(row, into);
    }
  }

  /** A checksum of "never written" cannot be verified against data: the other members must agree. */
  async #doAllAgree(member: Member, row: number, entries: Uint32Array): Promise<boolean> {
    const others = new Uint32Array(entries.length);
    for (const other of this.#core.membership.readers) {
      if (other === member) continue;
      if (!(await this.#core.checksums.read(other, row, others))) return false;
      if (entries.some((entry, index) => (entry === 0) !== (others[index] === 0))) return false;
    }
    return true;
  }

  /** With the rows held exclusively: blocks that do not match now are damaged. */
  async #readAndRepair(row: number, into: Buffer): Promise<void> {
    const core = this.#core;
    const count = into.length / BLOCK_BYTES;
    const range = await core.begin(row, count, false, true);
    try {
      const copies = await MirrorCopies.load(core, row, count);
      try {
        const isSynced = !core.unsynced.has(this.#core.regionOf(row));
        const lost = isSynced ? copies.agree().lost : copies.agreeAfterCrash();
        if (isSynced) await ifThereIsSpace(copies.writeBack());
        if (lost.length > 0) throw this.#unreadable(lost);
        copies.data.copy(into);
      } finally {
        copies.release();
      }
    } finally {
      core.end(range);
    }
    await core.whenRecorded(true);
  }

  async #writePieces(row: number, from: Buffer): Promise<void> {
    const running: Promise<void>[] = [];
    for (let at = 0; at < from.length;) {
      const start = row + at / BLOCK_BYTES;
      const count = Math.min(SLICE_ROWS - (start % SLICE_ROWS), (from.length - at) / BLOCK_BYTES);
      running.push(this.#writePiece(start, from.subarray(at, at + count * BLOCK_BYTES)));
      if (running.length === PIECES_AT_ONCE) await allDone(running.splice(0));
      at += count * BLOCK_BYTES;
    }
    await allDone(running);
    await this.#core.membership.whenRecorded();
  }

  async #writePiece(row: number, from: Buffer): Promise<void> {
    const range = await this.#core.begin(row, from.length / BLOCK_BYTES, true);
    try {
      const writing = this.#core.membership.writers.map((member) => this.#core.writeRows(member, row, from));
      // Computed while the drives work.
      const entries = checksumsOf(from);
      await this.#written(row, writing);
      await this.#putChecksums(row, entries);
    } finally {
      this.#core.end(range);
    }
  }

  /** Waits for the copies that were not written synchronously. */
  async #writeLater(row: number, from: Buffer, sums: Uint32Array, running: readonly Promise<void>[]): Promise<void> {
    const core = this.#core;
    const range = core.beginNow(row, from.length / BLOCK_BYTES);
    try {
      await this.#written(row, running);
      await this.#putChecksums(row, sums);
    } finally {
      core.end(range);
    }
    await core.membership.whenRecorded();
  }

  /**
   * Waits for all copies. When one is refused, all checksums stay unchanged: they identify the copies that have the old
   * data.
   */
  async #written(row: number, running: readonly Promise<unknown>[]): Promise<void> {
    try {
      await allDone(running);
    } catch (error) {
      if (isNoSpace(error)) this.#core.resyncs.leaveUnsynced(row, true);
      throw error;
    }
  }

  async #putChecksums(row: number, entries: Uint32Array): Promise<void> {
    const { checksums, membership } = this.#core;
    await Promise.all(membership.writers.map((member) => checksums.put(member, row, entries)));
  }

  #unreadable(lost: readonly number[]): StorageError {
    this.#core.emit({ type: 'block-lost', row: lost[0] ?? 0 });
    const rows = lost.join(', ');
    return new StorageError(
      'unreadable',
      `Group ${this.#core.id}: no good copy is left of blocks ${rows}; restore them.`,
    );
  }
}

function hasPages(members: readonly Member[], region: number): boolean {
  for (const member of members) if (!member.pages.has(region)) return false;
  return true;
}

/** For pages that are all in memory. */
function setChecksums(members: readonly Member[], region: number, first: number, sums: Uint32Array): void {
  for (const member of members) {
    const page = member.pages.get(region);
    if (page === undefined) continue;
    page.wasUsed = true;
    page.change(first, sums);
  }
}
