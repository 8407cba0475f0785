import type { HeldRange } from '../../range-lock.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { FsError, toFsError } from '../errors.ts';
import { type Credentials, MAY_WRITE, modeAfterWrite, requireContents } from '../files/access.ts';
import { refuseArchived } from '../files/archive-record.ts';
import { type Context, requireSpace } from '../files/context.ts';
import { attributesOf, type Changed, changedOf, type Inode, loadInode, saveInode, stamp } from '../files/inode.ts';
import { chargeQuota, checkQuota } from '../files/quotas.ts';
import { KIND } from '../store/layout.ts';
import type { Awaitable } from '../store/filesystem-store.ts';
import type { Reader, Transaction } from '../store/transaction.ts';
import { writePart } from './block-io.ts';
import { type Segment, segmentsOf } from './extents.ts';
import { ContentLocks } from './content-locks.ts';
import { BlockPlacement } from './block-placement.ts';

/** Contents up to this size are stored as items of the tree. */
export const INLINE_BYTES_MAX = 1024;

export interface ContentOptions {
  /** The caller has the file open: permissions were checked then. */
  readonly isOpen?: boolean;
}

/**
 * The common part of all changes of file contents. Data is written in place first. The transaction that records the
 * blocks, or moves the end of the file, follows, and its commit flushes the data first. The bytes after the end of a
 * file in its last block are undefined: an operation that extends the file zeroes them.
 */
export class ContentChanges {
  readonly placement: BlockPlacement;
  readonly #context: Context;
  readonly #locks = new ContentLocks();

  constructor(context: Context) {
    this.#context = context;
    this.placement = new BlockPlacement(context.store);
  }

  /**
   * Runs a change of blocks of a file while no other change overlaps, and keeps the blocks it looks up from being
   * reused.
   */
  async changing<T>(inode: number, from: number, until: number, work: () => Promise<T>): Promise<T> {
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

  async load(
    credentials: Credentials,
    inode: number,
    options: ContentOptions & { readonly cutsOff?: boolean },
  ): Promise<Inode> {
    return this.#context.store.read(() => this.loadWritable(credentials, inode, options));
  }

  /** A file whose contents the caller may change. They may be archived if they are truncated to nothing. */
  loadWritable(
    credentials: Credentials,
    inode: number,
    options: ContentOptions & { readonly cutsOff?: boolean },
  ): Inode {
    const { tree } = this.#context.store;
    const file = loadFile(tree, inode);
    if (options.isOpen !== true) requireContents(tree, credentials, file, MAY_WRITE);
    if (options.cutsOff !== true) refuseArchived(tree, file);
    return file;
  }

  /** Updates the attributes after a change of the contents. */
  touch(credentials: Credentials, inode: Inode): void {
    inode.mode = modeAfterWrite(credentials, inode);
    stamp(inode, this.#context.now(), true);
  }

  save(transaction: Transaction, credentials: Credentials, inode: Inode): void {
    this.touch(credentials, inode);
    saveInode(transaction, inode);
  }

  async changeInline(credentials: Credentials, inode: number, change: (data: Buffer) => Buffer): Promise<Changed> {
    return this.#context.store.change((transaction) => {
      const current = loadFile(transaction, inode);
      const before = attributesOf(current);
      const after = change(Buffer.from(transaction.get(inode, KIND.data, 0) ?? []));
      if (after.length > current.size) requireSpace(this.#context);
      chargeQuota(transaction, current, after.length - current.size, 0);
      current.size = after.length;
      current.isInline = after.length > 0;
      if (current.isInline) transaction.put(inode, KIND.data, 0, after);
      this.save(transaction, credentials, current);
      return changedOf(before, current);
    });
  }

  resizeInline(transaction: Transaction, inode: Inode, size: number): void {
    const before = transaction.get(inode.inode, KIND.data, 0) ?? Buffer.alloc(0);
    chargeQuota(transaction, inode, size - inode.size, 0);
    inode.isInline = size > 0;
    if (size === 0) transaction.delete(inode.inode, KIND.data, 0);
    else transaction.put(inode.inode, KIND.data, 0, Buffer.concat([before], size));
  }

  /** Moves the contents of a small file out of the tree. */
  async outgrow(inode: Inode): Promise<void> {
    const { store } = this.#context;
    const number = inode.inode;
    requireSpace(this.#context, 1);
    const data = await store.read(() => Buffer.from(store.tree.get(number, KIND.data, 0) ?? []));
    const placed = await this.placement.place(
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
        this.placement.record(transaction, current, placed, 'flushed');
        saveInode(transaction, current);
      });
    } catch (error) {
      this.placement.release(placed);
      throw error;
    }
  }

  /** Before the end moves to `size`: zeroes the bytes after the old end in its block. */
  async zeroTail(inode: Inode, size: number): Promise<void> {
    if (inode.isInline || inode.size % BLOCK_BYTES === 0) return;
    const blockEnd = Math.ceil(inode.size / BLOCK_BYTES) * BLOCK_BYTES;
    await this.zero(inode, inode.size, Math.min(blockEnd, size));
  }

  /** Zeroes a range within one block; a hole stays a hole. */
  async zero(inode: Inode, from: number, until: number): Promise<void> {
    const { store } = this.#context;
    const block = Math.floor(from / BLOCK_BYTES);
    const [segment] = await store.read(() => segmentsOf(store.tree, inode.inode, block, block + 1));
    if (segment?.start === undefined || segment.isUnwritten) return;
    const base = (segment.start - block) * BLOCK_BYTES;
    await store.beforeOverwriting(segment.start, 1);
    await writePart(store.device, base, from, Buffer.alloc(until - from), inode.size);
    store.dataWritten();
  }

  /** The block after the one that precedes the first segment in the file. */
  goalOf(inode: Inode, segments: readonly Segment[]): Awaitable<number | undefined> {
    const first = segments[0];
    if (first === undefined || first.start !== undefined || first.block === 0) return undefined;
    const { store } = this.#context;
    return store.read(() => {
      const [before] = segmentsOf(store.tree, inode.inode, first.block - 1, first.block);
      return before?.start === undefined ? undefined : before.start + 1;
    });
  }

  /** Checks space and quota for the holes among the segments. */
  requireBlocks(owner: Inode, segments: readonly Segment[]): void {
    const missing = segments.reduce((sum, { start, count }) => sum + (start === undefined ? count : 0), 0);
    if (missing === 0) return;
    requireSpace(this.#context, missing);
    checkQuota(this.#context.store.tree, owner, missing * BLOCK_BYTES);
  }
}

export function loadFile(reader: Reader, number: number): Inode {
  const inode = loadInode(reader, number);
  if (inode.type === 'directory') throw new FsError('EISDIR', `Inode ${number} is a directory.`);
  if (inode.type !== 'file') throw new FsError('EINVAL', `Inode ${number} is no regular file.`);
  return inode;
}
