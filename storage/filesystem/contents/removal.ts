import { BLOCK_BYTES } from '../../units.ts';
import { FsError } from '../errors.ts';
import { KIND, NUMBER_MAX, OWN_INODE } from '../store/layout.ts';
import type { FilesystemStore } from '../store/filesystem-store.ts';
import type { Transaction } from '../store/transaction.ts';
import { removeExtents } from './extents.ts';
import { type Inode, loadInode, saveInode, usedBytesOf } from '../files/inode.ts';
import { chargeQuota } from '../files/quotas.ts';
import { removeSomeXattrs } from '../files/xattrs.ts';

/** Items that one transaction removes; larger removals take several steps. */
const STEP_ITEMS = 128;
const BLOCK_NUMBER_BYTES = 8;

/**
 * Removal of files. A file whose last name is removed is removed at once if it is small and not open. Otherwise it
 * becomes an orphan, recorded in the tree, and is removed in steps: when it is closed, or at the next mount. The same
 * holds for extents that a truncation leaves.
 */
export class Removal {
  readonly #store: FilesystemStore;
  readonly #opens = new Map<number, number>();
  readonly #running = new Set<Promise<void>>();
  /** Could not be removed, for example because the pool is full. */
  readonly #failed = new Set<number>();

  constructor(store: FilesystemStore) {
    this.#store = store;
  }

  /** The file is in use: it outlives its last name. */
  open(inode: number): void {
    this.#opens.set(inode, (this.#opens.get(inode) ?? 0) + 1);
  }

  /** The last close of an orphan removes it; resolves when the removal has begun. */
  async close(inode: number): Promise<void> {
    const count = (this.#opens.get(inode) ?? 0) - 1;
    if (count > 0) {
      this.#opens.set(inode, count);
      return;
    }
    this.#opens.delete(inode);
    const isOrphan = await this.#store.read(() => this.#store.tree.get(OWN_INODE, KIND.orphan, inode) !== undefined);
    if (isOrphan && !this.#opens.has(inode)) this.#start(inode);
  }

  /** The last name was removed. Returns whether `reap` has to follow the transaction. */
  drop(transaction: Transaction, inode: Inode): boolean {
    const isOpen = this.#opens.has(inode.inode);
    if (!isOpen && this.#removeSome(transaction, inode)) return false;
    transaction.put(OWN_INODE, KIND.orphan, inode.inode, Buffer.alloc(0));
    saveInode(transaction, inode);
    return !isOpen;
  }

  /** Removes an orphan in the background. */
  reap(inode: number): void {
    if (!this.#opens.has(inode)) this.#start(inode);
  }

  /** Frees blocks of a range. False if it has to be called again. The caller saves the inode. */
  removeRange(transaction: Transaction, inode: Inode, from: number, until: number): boolean {
    const { blocks, isDone } = removeExtents(transaction, inode.inode, from, until, STEP_ITEMS);
    inode.blocks -= blocks;
    chargeQuota(transaction, inode, -blocks * BLOCK_BYTES, 0);
    return isDone;
  }

  /** Truncates a file at a block. False if `finishTruncation` has to continue. The caller saves the inode. */
  truncate(transaction: Transaction, inode: Inode, block: number): boolean {
    const isDone = this.removeRange(transaction, inode, block, NUMBER_MAX);
    if (isDone) transaction.delete(OWN_INODE, KIND.truncation, inode.inode);
    else this.putTruncation(transaction, inode.inode, block);
    return isDone;
  }

  /** The next mount truncates the file at the block. */
  putTruncation(transaction: Transaction, inode: number, block: number): void {
    const value = Buffer.alloc(BLOCK_NUMBER_BYTES);
    value.writeDoubleLE(block);
    transaction.put(OWN_INODE, KIND.truncation, inode, value);
  }

  async finishTruncation(inode: number, block: number): Promise<void> {
    for (let isDone = false; !isDone;) {
      isDone = await this.#store.change((transaction) => {
        const current = loadInode(transaction, inode);
        const isLast = this.truncate(transaction, current, block);
        saveInode(transaction, current);
        return isLast;
      });
    }
  }

  /** After a crash or a close with open files: completes interrupted removals. */
  async recover(): Promise<void> {
    for (const { inode, block } of await this.#store.read(() => this.#truncations())) {
      await this.finishTruncation(inode, block);
    }
    for (const inode of await this.#store.read(() => this.#orphans())) this.#start(inode);
  }

  /** Resolves when no removal is running. Failed ones are retried, here and at the next mount. */
  async whenIdle(): Promise<void> {
    const failed = [...this.#failed];
    this.#failed.clear();
    for (const inode of failed) this.#start(inode);
    while (this.#running.size > 0) await Promise.all(this.#running);
  }

  #truncations(): { inode: number; block: number }[] {
    const found: { inode: number; block: number }[] = [];
    this.#store.tree.scan(OWN_INODE, KIND.truncation, 0, (inode, value) => {
      found.push({ inode, block: value.readDoubleLE() });
      return true;
    });
    return found;
  }

  #orphans(): number[] {
    const found: number[] = [];
    this.#store.tree.scan(OWN_INODE, KIND.orphan, 0, (inode) => found.push(inode) > 0);
    return found;
  }

  #start(inode: number): void {
    const running = this.#remove(inode)
      .catch(() => void this.#failed.add(inode))
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #remove(inode: number): Promise<void> {
    for (let isDone = false; !isDone;) {
      isDone = await this.#store.change((transaction) => {
        const orphan = transaction.get(inode, KIND.attributes, 0) && loadInode(transaction, inode);
        if (orphan === undefined || this.#opens.has(inode)) return true;
        const isGone = this.#removeSome(transaction, orphan);
        if (!isGone) saveInode(transaction, orphan);
        return isGone;
      });
    }
  }

  /** Removes items of the inode; its attributes are the last. Returns whether the inode is removed. */
  #removeSome(transaction: Transaction, inode: Inode): boolean {
    if (!this.removeRange(transaction, inode, 0, NUMBER_MAX)) return false;
    if (!removeSomeXattrs(transaction, inode, STEP_ITEMS)) return false;
    const keys: [number, number][] = [];
    for (const kind of [KIND.data, KIND.archive]) {
      transaction.scan(inode.inode, kind, 0, (key) => keys.push([kind, key]) > 0);
    }
    for (const [kind, key] of keys) transaction.delete(inode.inode, kind, key);
    if (inode.blocks !== 0) throw new FsError('EIO', `Inode ${inode.inode} counts its blocks wrongly; run a check.`);
    chargeQuota(transaction, inode, -usedBytesOf(inode), -1);
    transaction.delete(inode.inode, KIND.attributes, 0);
    transaction.delete(OWN_INODE, KIND.orphan, inode.inode);
    transaction.delete(OWN_INODE, KIND.truncation, inode.inode);
    return true;
  }
}
