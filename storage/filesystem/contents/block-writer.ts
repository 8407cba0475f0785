import { BLOCK_BYTES } from '../../units.ts';
import type { Context } from '../files/context.ts';
import { type Attributes, attributesOf, type Inode } from '../files/inode.ts';
import { CHECKED_BYTES_MAX, type DataCheck } from '../store/data-checks.ts';
import type { Transaction } from '../store/transaction.ts';
import { writeSegments } from './block-io.ts';
import { type ContentChanges, loadFile } from './content-changes.ts';
import { markWritten, type Segment } from './extents.ts';

/** Bytes of a file, and their segments. */
export interface BlockWrite {
  readonly inode: Inode;
  readonly segments: readonly Segment[];
  readonly offset: number;
  readonly data: Buffer;
}

/**
 * Writes data over the blocks of a file, and to new blocks where it has none; then runs the transaction that records
 * the new blocks. `finish` is part of it and saves the inode.
 */
export async function writeBlocks<T>(
  context: Context,
  changes: ContentChanges,
  { inode, segments, offset, data }: BlockWrite,
  finish: (transaction: Transaction, current: Inode, before: Attributes) => T,
): Promise<T> {
  const { store } = context;
  const goal = await changes.goalOf(inode, segments);
  const placed = await changes.placement.place(segments, goal);
  const checks: DataCheck[] | undefined = data.length <= CHECKED_BYTES_MAX ? [] : undefined;
  try {
    for (const { start, count, isNew } of placed) if (!isNew) await store.beforeOverwriting(start, count);
    await writeSegments(store.device, placed, inode, offset, data, checks);
    store.dataWritten();
    return await store.change((transaction) => {
      const current = loadFile(transaction, inode.inode);
      const before = attributesOf(current);
      changes.placement.record(transaction, current, placed, checks === undefined ? 'flushed' : 'checked');
      for (const check of checks ?? []) transaction.check(check);
      if (placed.some(({ isUnwritten }) => isUnwritten)) {
        const end = Math.ceil((offset + data.length) / BLOCK_BYTES);
        markWritten(transaction, inode.inode, Math.floor(offset / BLOCK_BYTES), end);
        transaction.namesData();
      }
      return finish(transaction, current, before);
    });
  } catch (error) {
    changes.placement.release(placed);
    throw error;
  }
}
