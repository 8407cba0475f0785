import type { HeldRange } from '../../range-lock.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { FsError, toFsError } from '../errors.ts';
import { KIND } from '../store/layout.ts';
import type { Awaitable } from '../store/store.ts';
import type { Reader, Transaction } from '../store/transaction.ts';
import { type Credentials, MAY_READ, MAY_WRITE, modeAfterWrite, requireContents } from './access.ts';
import { readSegments, writePart, writeSegments } from './block-io.ts';
import { type Context, requireRoom, withSpace } from './context.ts';
import { markWritten, type Segment, segmentsOf } from './extents.ts';
import { FileLocks } from './file-locks.ts';
import { type Attributes, attributesOf, type Inode, loadInode, saveInode, stamp } from './inode.ts';
import { Placement } from './placement.ts';
import { chargeQuota, checkQuota } from './quotas.ts';
import type { Removal } from './removal.ts';

export const FILE_BYTES_MAX = 2 ** 44;
/** Files up to this size are items of the tree. */
export const INLINE_BYTES_MAX = 1024;

/** A preallocation is recorded in steps of so many extents. */
const STEP_SEGMENTS = 64;

export interface ContentOptions {
  /** Who asks has the file open: permissions were checked then. */
  readonly isOpen?: boolean;
}

export interface ReadResult {
  readonly bytes: number;
  readonly isEnd: boolean;
}

interface WritePlan {
  readonly inode: Inode;
  readonly segments: readonly Segment[] | undefined;
}

/**
 * The bytes of files. Data are written to their place first; the transaction that names the blocks, or moves the end of
 * the file, follows, and its commit flushes the data before it. What lies behind the end of a file in its last block may
 * be anything: whoever moves the end away from there fills it with zeros.
 */
export class Contents {
  readonly #context: Context;
  readonly #removal: Removal;
  readonly #locks = new FileLocks();
  readonly #placement: Placement;

  constructor(context: Context, removal: Removal) {
    this.#context = context;
    this.#removal = removal;
    this.#placement = new Placement(context.store);
  }

  read(
    credentials: Credentials,
    inode: number,
    offset: number,
    into: Buffer,
    options: ContentOptions = {},
  ): Awaitable<ReadResult> {
    const { store } = this.#context;
    const transfer = store.freed.beginTransfer();
    try {
      const result = store.read(() => this.#startRead(credentials, inode, offset, into, options));
      if (result instanceof Promise) return this.#finishRead(result, transfer);
      if (result.done !== undefined) return this.#finishRead(result, transfer);
      store.freed.endTransfer(transfer);
      return result;
    } catch (error) {
      store.freed.endTransfer(transfer);
      throw toFsError(error);
    }
  }

  /** Resolves when the data are where reads find them; durable after the next commit. */
  async write(
    credentials: Credentials,
    inode: number,
    offset: number,
    data: Buffer,
    options: ContentOptions = {},
  ): Promise<Attributes> {
    if (offset + data.length > FILE_BYTES_MAX) {
      throw new FsError('EFBIG', `A file has ${FILE_BYTES_MAX} bytes at most.`);
    }
    if (data.length === 0) return attributesOf(await this.#toChange(credentials, inode, options));
    return withSpace(this.#context, () => this.#write(credentials, inode, offset, data, options));
  }

  /** Sets the size. */
  async truncate(
    credentials: Credentials,
    inode: number,
    size: number,
    options: ContentOptions = {},
  ): Promise<Attributes> {
    if (size > FILE_BYTES_MAX) throw new FsError('EFBIG', `A file has ${FILE_BYTES_MAX} bytes at most.`);
    return withSpace(this.#context, () =>
      this.#changing(inode, 0, Infinity, async () => {
        const file = await this.#toChange(credentials, inode, options);
        if (file.isInline && size > INLINE_BYTES_MAX) await this.#outgrow(file);
        else if (size > file.size) await this.#zeroTail(file, size);
        return this.#setSize(credentials, inode, size);
      }),
    );
  }

  /** The range reads as zeros and gives back whole blocks; the size stays. */
  async punch(
    credentials: Credentials,
    inode: number,
    offset: number,
    length: number,
    options: ContentOptions = {},
  ): Promise<void> {
    const end = Math.min(offset + length, FILE_BYTES_MAX);
    await this.#changing(inode, 0, Infinity, async () => {
      const file = await this.#toChange(credentials, inode, options);
      if (file.isInline) {
        await this.#changeInline(credentials, inode, (data) => {
          data.fill(0, Math.min(offset, data.length), Math.min(end, data.length));
          return data;
        });
        return;
      }
      await this.#zeroEdges(file, offset, end);
      const [from, until] = [Math.ceil(offset / BLOCK_BYTES), Math.floor(end / BLOCK_BYTES)];
      for (let isDone = false; !isDone;) {
        isDone = await this.#context.store.change((transaction) => {
          const current = loadInode(transaction, inode);
          const isLast = from >= until || this.#removal.removeRange(transaction, current, from, until);
          this.#stampWrite(transaction, credentials, current);
          return isLast;
        });
      }
    });
  }

  /** Takes blocks for a range, which reads as before. Without `keepsSize` the file reaches to its end at least. */
  async preallocate(
    credentials: Credentials,
    inode: number,
    offset: number,
    length: number,
    options: ContentOptions & { readonly keepsSize?: boolean } = {},
  ): Promise<void> {
    const end = offset + length;
    if (end > FILE_BYTES_MAX) throw new FsError('EFBIG', `A file has ${FILE_BYTES_MAX} bytes at most.`);
    await withSpace(this.#context, () =>
      this.#changing(inode, 0, Infinity, async () => {
        const file = await this.#toChange(credentials, inode, options);
        if (file.isInline) await this.#outgrow(file);
        await this.#fillHoles(inode, Math.floor(offset / BLOCK_BYTES), Math.ceil(end / BLOCK_BYTES));
        if (options.keepsSize === true || end <= file.size) return;
        await this.#zeroTail(file, end);
        await this.#setSize(credentials, inode, end);
      }),
    );
  }

  #startRead(
    credentials: Credentials,
    number: number,
    offset: number,
    into: Buffer,
    options: ContentOptions,
  ): ReadResult & { done?: Promise<void> } {
    const { store } = this.#context;
    const inode = loadFile(store.tree, number);
    if (options.isOpen !== true) requireContents(store.tree, credentials, inode, MAY_READ);
    const bytes = Math.max(Math.min(into.length, inode.size - offset), 0);
    const result = { bytes, isEnd: offset + bytes >= inode.size };
    if (bytes === 0) return result;
    if (inode.isInline) {
      store.tree.get(number, KIND.data, 0)?.copy(into, 0, offset, offset + bytes);
      return result;
    }
    const end = offset + bytes;
    const segments = segmentsOf(store.tree, number, Math.floor(offset / BLOCK_BYTES), Math.ceil(end / BLOCK_BYTES));
    const done = readSegments(store.device, segments, offset, into.subarray(0, bytes));
    return done === undefined ? result : { ...result, done };
  }

  async #finishRead(started: Awaitable<ReadResult & { done?: Promise<void> }>, transfer: number): Promise<ReadResult> {
    try {
      const { bytes, isEnd, done } = await started;
      await done;
      return { bytes, isEnd };
    } catch (error) {
      throw toFsError(error);
    } finally {
      this.#context.store.freed.endTransfer(transfer);
    }
  }

  async #write(
    credentials: Credentials,
    inode: number,
    offset: number,
    data: Buffer,
    options: ContentOptions,
  ): Promise<Attributes> {
    const first = Math.floor(offset / BLOCK_BYTES);
    const end = offset + data.length;
    const { isInline, size } = await this.#context.store.read(() => loadFile(this.#context.store.tree, inode));
    // What moves the end of the file excludes everything behind it, and the block that the end is in now.
    const isLonger = isInline || end > size;
    const from = isInline ? 0 : Math.min(first, Math.floor(size / BLOCK_BYTES));
    const range = isLonger ? ([from, Infinity] as const) : ([first, Math.ceil(end / BLOCK_BYTES)] as const);
    const done = await this.#changing(inode, ...range, async () => {
      const plan = await this.#context.store.read(() =>
        this.#planWrite(credentials, inode, offset, data.length, options),
      );
      // The file was cut off while this waited: again, with the other range.
      if (!isLonger && end > plan.inode.size) return undefined;
      if (isLonger && plan.inode.size < size && from > Math.floor(plan.inode.size / BLOCK_BYTES)) return undefined;
      return this.#writePlanned(credentials, plan, offset, data);
    });
    return done ?? this.#write(credentials, inode, offset, data, options);
  }

  #planWrite(
    credentials: Credentials,
    number: number,
    offset: number,
    length: number,
    options: ContentOptions,
  ): WritePlan {
    const { store } = this.#context;
    const inode = loadFile(store.tree, number);
    if (options.isOpen !== true) requireContents(store.tree, credentials, inode, MAY_WRITE);
    const end = offset + length;
    const size = Math.max(end, inode.size);
    const isEmpty = inode.size === 0 && inode.blocks === 0;
    if (size <= INLINE_BYTES_MAX && (inode.isInline || isEmpty)) return { inode, segments: undefined };
    const segments = segmentsOf(store.tree, number, Math.floor(offset / BLOCK_BYTES), Math.ceil(end / BLOCK_BYTES));
    this.#requireBlocks(inode, segments);
    return { inode, segments };
  }

  async #writePlanned(credentials: Credentials, plan: WritePlan, offset: number, data: Buffer): Promise<Attributes> {
    const { inode } = plan;
    if (plan.segments === undefined) {
      return this.#changeInline(credentials, inode.inode, (before) => {
        const after = Buffer.concat([before], Math.max(before.length, offset + data.length));
        data.copy(after, offset);
        return after;
      });
    }
    if (inode.isInline) {
      await this.#outgrow(inode);
      const again = await this.#context.store.read(() =>
        this.#planWrite(credentials, inode.inode, offset, data.length, { isOpen: true }),
      );
      return this.#writePlanned(credentials, again, offset, data);
    }
    if (offset > inode.size) await this.#zeroTail(inode, offset);
    return this.#writeBlocks(credentials, inode, plan.segments, offset, data);
  }

  async #writeBlocks(
    credentials: Credentials,
    inode: Inode,
    segments: readonly Segment[],
    offset: number,
    data: Buffer,
  ): Promise<Attributes> {
    const { store } = this.#context;
    const end = offset + data.length;
    const goal = await this.#goalOf(inode, segments);
    const placed = await this.#placement.place(segments, goal);
    try {
      await writeSegments(store.device, placed, inode, offset, data);
      store.dataWritten();
      return await store.change((transaction) => {
        const current = loadFile(transaction, inode.inode);
        this.#placement.record(transaction, current, placed, true);
        const isFilled = placed.some(({ isUnwritten }) => isUnwritten);
        if (isFilled) {
          markWritten(transaction, inode.inode, Math.floor(offset / BLOCK_BYTES), Math.ceil(end / BLOCK_BYTES));
        }
        if (isFilled || end > current.size) transaction.namesData();
        current.size = Math.max(current.size, end);
        this.#stampWrite(transaction, credentials, current);
        return attributesOf(current);
      });
    } catch (error) {
      this.#placement.release(placed);
      throw error;
    }
  }

  /** The block behind the one that the first segment follows in the file. */
  #goalOf(inode: Inode, segments: readonly Segment[]): Awaitable<number | undefined> {
    const first = segments[0];
    if (first === undefined || first.start !== undefined || first.block === 0) return undefined;
    const { store } = this.#context;
    return store.read(() => {
      const [before] = segmentsOf(store.tree, inode.inode, first.block - 1, first.block);
      return before?.start === undefined ? undefined : before.start + 1;
    });
  }

  /** Moves the contents of a small file out of the tree. */
  async #outgrow(inode: Inode): Promise<void> {
    const { store } = this.#context;
    const number = inode.inode;
    requireRoom(this.#context, 1);
    const data = await store.read(() => Buffer.from(store.tree.get(number, KIND.data, 0) ?? []));
    const placed = await this.#placement.place(
      [{ block: 0, count: 1, start: undefined, isUnwritten: false }],
      undefined,
    );
    try {
      const base = (placed[0]?.start ?? 0) * BLOCK_BYTES;
      await writePart(store.device, base, 0, data, 0);
      store.dataWritten();
      await store.change((transaction) => {
        const current = loadFile(transaction, number);
        transaction.delete(number, KIND.data, 0);
        chargeQuota(transaction, current, -current.size, 0);
        current.isInline = false;
        this.#placement.record(transaction, current, placed, true);
        saveInode(transaction, current);
      });
    } catch (error) {
      this.#placement.release(placed);
      throw error;
    }
  }

  /** Before the end moves to `size`: what is behind it in its block becomes zeros. */
  async #zeroTail(inode: Inode, size: number): Promise<void> {
    if (inode.isInline || inode.size % BLOCK_BYTES === 0) return;
    const blockEnd = Math.ceil(inode.size / BLOCK_BYTES) * BLOCK_BYTES;
    await this.#zero(inode, inode.size, Math.min(blockEnd, size));
  }

  async #zeroEdges(inode: Inode, offset: number, end: number): Promise<void> {
    const firstWhole = Math.ceil(offset / BLOCK_BYTES) * BLOCK_BYTES;
    const lastWhole = Math.floor(end / BLOCK_BYTES) * BLOCK_BYTES;
    if (firstWhole > offset) await this.#zero(inode, offset, Math.min(firstWhole, end));
    if (lastWhole < end && lastWhole >= firstWhole) await this.#zero(inode, lastWhole, end);
  }

  /** Zeros within one block; nothing to do where there is a hole. */
  async #zero(inode: Inode, from: number, until: number): Promise<void> {
    const { store } = this.#context;
    const block = Math.floor(from / BLOCK_BYTES);
    const [segment] = await store.read(() => segmentsOf(store.tree, inode.inode, block, block + 1));
    if (segment?.start === undefined || segment.isUnwritten) return;
    const base = (segment.start - block) * BLOCK_BYTES;
    await writePart(store.device, base, from, Buffer.alloc(until - from), inode.size);
    store.dataWritten();
  }

  async #fillHoles(inode: number, from: number, until: number): Promise<void> {
    const { store } = this.#context;
    for (let at = from; at < until;) {
      const start = at;
      const { segments, owner } = await store.read(() => this.#planFilling(inode, start, until));
      const placed = await this.#placement.place(segments, await this.#goalOf(owner, segments));
      try {
        await store.change((transaction) => {
          const current = loadFile(transaction, inode);
          this.#placement.record(transaction, current, placed, false);
          stamp(current, this.#context.now(), false);
          saveInode(transaction, current);
        });
      } catch (error) {
        this.#placement.release(placed);
        throw error;
      }
      const last = segments.at(-1);
      at = last === undefined ? until : last.block + last.count;
    }
  }

  #planFilling(inode: number, from: number, until: number): { segments: Segment[]; owner: Inode } {
    const { tree } = this.#context.store;
    const owner = loadFile(tree, inode);
    const segments = segmentsOf(tree, inode, from, until, STEP_SEGMENTS);
    this.#requireBlocks(owner, segments);
    return { segments, owner };
  }

  /** Space and quota for the holes among the segments. */
  #requireBlocks(owner: Inode, segments: readonly Segment[]): void {
    const missing = segments.reduce((sum, { start, count }) => sum + (start === undefined ? count : 0), 0);
    if (missing === 0) return;
    requireRoom(this.#context, missing);
    checkQuota(this.#context.store.tree, owner, missing * BLOCK_BYTES);
  }

  async #setSize(credentials: Credentials, inode: number, size: number): Promise<Attributes> {
    const block = Math.ceil(size / BLOCK_BYTES);
    const { attributes, isDone } = await this.#context.store.change((transaction) => {
      const current = loadFile(transaction, inode);
      if (current.isInline) this.#resizeInline(transaction, current, size);
      if (size > current.size) transaction.namesData();
      const isShorter = size < current.size;
      current.size = size;
      const isCut = !isShorter || this.#removal.truncate(transaction, current, block);
      this.#stampWrite(transaction, credentials, current);
      return { attributes: attributesOf(current), isDone: isCut };
    });
    if (!isDone) await this.#removal.finishTruncation(inode, block);
    return attributes;
  }

  #resizeInline(transaction: Transaction, inode: Inode, size: number): void {
    const before = transaction.get(inode.inode, KIND.data, 0) ?? Buffer.alloc(0);
    chargeQuota(transaction, inode, size - inode.size, 0);
    inode.isInline = size > 0;
    if (size === 0) transaction.delete(inode.inode, KIND.data, 0);
    else transaction.put(inode.inode, KIND.data, 0, Buffer.concat([before], size));
  }

  async #changeInline(credentials: Credentials, inode: number, change: (data: Buffer) => Buffer): Promise<Attributes> {
    return this.#context.store.change((transaction) => {
      const current = loadFile(transaction, inode);
      const after = change(Buffer.from(transaction.get(inode, KIND.data, 0) ?? []));
      if (after.length > current.size) requireRoom(this.#context);
      chargeQuota(transaction, current, after.length - current.size, 0);
      current.size = after.length;
      current.isInline = after.length > 0;
      if (current.isInline) transaction.put(inode, KIND.data, 0, after);
      this.#stampWrite(transaction, credentials, current);
      return attributesOf(current);
    });
  }

  #stampWrite(transaction: Transaction, credentials: Credentials, inode: Inode): void {
    inode.mode = modeAfterWrite(credentials, inode);
    stamp(inode, this.#context.now(), true);
    saveInode(transaction, inode);
  }

  async #toChange(credentials: Credentials, inode: number, options: ContentOptions): Promise<Inode> {
    const { tree } = this.#context.store;
    return this.#context.store.read(() => {
      const file = loadFile(tree, inode);
      if (options.isOpen !== true) requireContents(tree, credentials, file, MAY_WRITE);
      return file;
    });
  }

  /** Runs a change of blocks of a file when no other one changes them, and keeps what it looks up from being given away. */
  async #changing<T>(inode: number, from: number, until: number, work: () => Promise<T>): Promise<T> {
    const { freed } = this.#context.store;
    const range: HeldRange = await this.#locks.acquire(inode, from, until);
    const transfer = freed.beginTransfer();
    try {
      return await work();
    } catch (error) {
      throw toFsError(error);
    } finally {
      freed.endTransfer(transfer);
      this.#locks.release(inode, range);
    }
  }
}

function loadFile(reader: Reader, number: number): Inode {
  const inode = loadInode(reader, number);
  if (inode.type === 'directory') throw new FsError('EISDIR', `Inode ${number} is a directory.`);
  if (inode.type !== 'file') throw new FsError('EINVAL', `Inode ${number} is no regular file.`);
  return inode;
}
