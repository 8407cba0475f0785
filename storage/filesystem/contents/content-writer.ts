import { BLOCK_BYTES } from '../../units.ts';
import type { Credentials } from '../files/access.ts';
import { type Context, withSpace } from '../files/context.ts';
import { attributesOf, type Changed, changedOf, type Inode, refuseTooLarge } from '../files/inode.ts';
import { writeBlocks } from './block-writer.ts';
import { type ContentChanges, type ContentOptions, INLINE_BYTES_MAX, loadFile } from './content-changes.ts';
import { type Segment, segmentsOf } from './extents.ts';

interface WritePlan {
  readonly inode: Inode;
  /** Absent where the contents are in the tree, and stay there. */
  readonly segments: readonly Segment[] | undefined;
}

/** Writes bytes of files: over their blocks, or to new ones. */
export class ContentWriter {
  readonly #context: Context;
  readonly #changes: ContentChanges;

  constructor(context: Context, changes: ContentChanges) {
    this.#context = context;
    this.#changes = changes;
  }

  /** Resolves when reads return the data; durable after the next commit. */
  async write(
    credentials: Credentials,
    inode: number,
    offset: number,
    data: Buffer,
    options: ContentOptions = {},
  ): Promise<Changed> {
    refuseTooLarge(offset + data.length);
    if (data.length === 0) return unchanged(await this.#changes.load(credentials, inode, options));
    return withSpace(this.#context, () => this.#write(credentials, inode, offset, data, options));
  }

  async #write(
    credentials: Credentials,
    inode: number,
    offset: number,
    data: Buffer,
    options: ContentOptions,
  ): Promise<Changed> {
    const first = Math.floor(offset / BLOCK_BYTES);
    const end = offset + data.length;
    const { isInline, size } = await this.#context.store.read(() => loadFile(this.#context.store.tree, inode));
    // A write that moves the end of the file excludes everything after it, and the block of the current end.
    const isLonger = isInline || end > size;
    const from = isInline ? 0 : Math.min(first, Math.floor(size / BLOCK_BYTES));
    const range = isLonger ? ([from, Infinity] as const) : ([first, Math.ceil(end / BLOCK_BYTES)] as const);
    const done = await this.#changes.changing(inode, ...range, async () => {
      const plan = await this.#context.store.read(() =>
        this.#planWrite(credentials, inode, offset, data.length, options),
      );
      // The file was truncated while this waited: tried again, with the other range.
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
    const inode = this.#changes.loadWritable(credentials, number, options);
    const end = offset + length;
    const size = Math.max(end, inode.size);
    const isEmpty = inode.size === 0 && inode.blocks === 0;
    if (size <= INLINE_BYTES_MAX && (inode.isInline || isEmpty)) return { inode, segments: undefined };
    const segments = segmentsOf(store.tree, number, Math.floor(offset / BLOCK_BYTES), Math.ceil(end / BLOCK_BYTES));
    this.#changes.requireBlocks(inode, segments);
    return { inode, segments };
  }

  async #writePlanned(credentials: Credentials, plan: WritePlan, offset: number, data: Buffer): Promise<Changed> {
    const { inode } = plan;
    if (plan.segments === undefined) {
      return this.#changes.changeInline(credentials, inode.inode, (before) => {
        const after = Buffer.concat([before], Math.max(before.length, offset + data.length));
        data.copy(after, offset);
        return after;
      });
    }
    if (inode.isInline) {
      await this.#changes.outgrow(inode);
      const again = await this.#context.store.read(() =>
        this.#planWrite(credentials, inode.inode, offset, data.length, { isOpen: true }),
      );
      return this.#writePlanned(credentials, again, offset, data);
    }
    if (offset > inode.size) await this.#changes.zeroTail(inode, offset);
    return this.#writeBlocks(credentials, inode, plan.segments, offset, data);
  }

  async #writeBlocks(
    credentials: Credentials,
    inode: Inode,
    segments: readonly Segment[],
    offset: number,
    data: Buffer,
  ): Promise<Changed> {
    const end = offset + data.length;
    return writeBlocks(
      this.#context,
      this.#changes,
      { inode, segments, offset, data },
      (transaction, current, before) => {
        // The bytes after the old end in its block become visible.
        if (end > current.size && current.size % BLOCK_BYTES !== 0) transaction.namesData();
        current.size = Math.max(current.size, end);
        this.#changes.save(transaction, credentials, current);
        return changedOf(before, current);
      },
    );
  }
}

function unchanged(inode: Inode): Changed {
  return changedOf(attributesOf(inode), inode);
}
