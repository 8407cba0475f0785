import { BLOCK_BYTES } from '../../units.ts';
import type { Credentials } from '../files/access.ts';
import { dropArchive } from '../files/archive-record.ts';
import { type AttributeChanges, applyChanges } from '../files/changes.ts';
import { type Context, withSpace } from '../files/context.ts';
import {
  attributesOf,
  type Changed,
  changedOf,
  FILE_BYTES_MAX,
  type Inode,
  loadInode,
  refuseTooLarge,
  saveInode,
  stamp,
} from '../files/inode.ts';
import { type ContentChanges, type ContentOptions, INLINE_BYTES_MAX, loadFile } from './content-changes.ts';
import { type Segment, segmentsOf } from './extents.ts';
import type { Removal } from './removal.ts';

/** Extents that one transaction of a preallocation records. */
const STEP_SEGMENTS = 64;

/** Operations that change the space of a file: size, holes, and preallocated blocks. */
export class ContentSpace {
  readonly #context: Context;
  readonly #changes: ContentChanges;
  readonly #removal: Removal;

  constructor(context: Context, changes: ContentChanges, removal: Removal) {
    this.#context = context;
    this.#changes = changes;
    this.#removal = removal;
  }

  /** Sets the size, together with other attributes. */
  async truncate(
    credentials: Credentials,
    inode: number,
    size: number,
    options: ContentOptions = {},
    others: AttributeChanges = {},
  ): Promise<Changed> {
    refuseTooLarge(size);
    return withSpace(this.#context, () =>
      this.#changes.changing(inode, 0, Infinity, async () => {
        const file = await this.#changes.load(credentials, inode, { ...options, cutsOff: size === 0 });
        if (file.isInline && size > INLINE_BYTES_MAX) await this.#changes.outgrow(file);
        else if (size > file.size) await this.#changes.zeroTail(file, size);
        return this.#setSize(credentials, inode, size, others);
      }),
    );
  }

  /** The range reads as zeros afterwards and whole blocks are freed; the size stays. */
  async punch(
    credentials: Credentials,
    inode: number,
    offset: number,
    length: number,
    options: ContentOptions = {},
  ): Promise<void> {
    const end = Math.min(offset + length, FILE_BYTES_MAX);
    await this.#changes.changing(inode, 0, Infinity, async () => {
      const file = await this.#changes.load(credentials, inode, options);
      if (file.isInline) {
        await this.#changes.changeInline(credentials, inode, (data) => {
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
          this.#changes.save(transaction, credentials, current);
          return isLast;
        });
      }
    });
  }

  /**
   * Allocates blocks for a range without changing its content. Without `keepsSize` the file is extended to the end of
   * the range.
   */
  async preallocate(
    credentials: Credentials,
    inode: number,
    offset: number,
    length: number,
    options: ContentOptions & { readonly keepsSize?: boolean } = {},
  ): Promise<void> {
    const end = offset + length;
    refuseTooLarge(end);
    await withSpace(this.#context, () =>
      this.#changes.changing(inode, 0, Infinity, async () => {
        const file = await this.#changes.load(credentials, inode, options);
        if (file.isInline) await this.#changes.outgrow(file);
        await this.#fillHoles(inode, Math.floor(offset / BLOCK_BYTES), Math.ceil(end / BLOCK_BYTES));
        if (options.keepsSize === true || end <= file.size) return;
        await this.#changes.zeroTail(file, end);
        await this.#setSize(credentials, inode, end, {});
      }),
    );
  }

  async #zeroEdges(inode: Inode, offset: number, end: number): Promise<void> {
    const firstWhole = Math.ceil(offset / BLOCK_BYTES) * BLOCK_BYTES;
    const lastWhole = Math.floor(end / BLOCK_BYTES) * BLOCK_BYTES;
    if (firstWhole > offset) await this.#changes.zero(inode, offset, Math.min(firstWhole, end));
    if (lastWhole < end && lastWhole >= firstWhole) await this.#changes.zero(inode, lastWhole, end);
  }

  async #fillHoles(inode: number, from: number, until: number): Promise<void> {
    const { store } = this.#context;
    for (let at = from; at < until;) {
      const start = at;
      const { segments, owner } = await store.read(() => this.#planFilling(inode, start, until));
      const placed = await this.#changes.placement.place(segments, await this.#changes.goalOf(owner, segments));
      try {
        await store.change((transaction) => {
          const current = loadFile(transaction, inode);
          this.#changes.placement.record(transaction, current, placed, 'unwritten');
          stamp(current, this.#context.now(), false);
          saveInode(transaction, current);
        });
      } catch (error) {
        this.#changes.placement.release(placed);
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
    this.#changes.requireBlocks(owner, segments);
    return { segments, owner };
  }

  async #setSize(credentials: Credentials, inode: number, size: number, others: AttributeChanges): Promise<Changed> {
    const block = Math.ceil(size / BLOCK_BYTES);
    const { changed, isDone } = await this.#context.store.change((transaction) => {
      const current = loadFile(transaction, inode);
      const before = attributesOf(current);
      if (current.isInline) this.#changes.resizeInline(transaction, current, size);
      if (current.isArchived) dropArchive(transaction, current);
      if (size > current.size) transaction.namesData();
      const isShorter = size < current.size;
      current.size = size;
      const isCut = !isShorter || this.#removal.truncate(transaction, current, block);
      this.#changes.touch(credentials, current);
      applyChanges(transaction, this.#context, credentials, current, others);
      saveInode(transaction, current);
      return { changed: changedOf(before, current), isDone: isCut };
    });
    if (!isDone) await this.#removal.finishTruncation(inode, block);
    return changed;
  }
}
