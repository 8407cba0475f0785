import { BLOCK_BYTES } from '../../units.ts';
import type { Run } from '../store/space-map-page.ts';
import type { FilesystemStore } from '../store/filesystem-store.ts';
import type { Transaction } from '../store/transaction.ts';
import { addExtent, type Extent, type Segment } from './extents.ts';
import type { Inode } from '../files/inode.ts';
import { chargeQuota } from '../files/quotas.ts';

/** A segment with blocks; new ones are not recorded yet. */
export type Placed = Extent & { readonly isNew: boolean };

/** What the blocks hold: nothing, or data that the commit flushes first or has checksums of. */
export type PlacedData = 'unwritten' | 'flushed' | 'checked';

/** Allocates blocks for the holes of a file: after the file's previous block, or after the last allocation. */
export class BlockPlacement {
  readonly #store: FilesystemStore;
  #cursor = 0;

  constructor(store: FilesystemStore) {
    this.#store = store;
  }

  /** Reserves blocks for the holes among the segments. The caller must follow with `record` or `release`. */
  async place(segments: readonly Segment[], goal: number | undefined): Promise<Placed[]> {
    const placed: Placed[] = [];
    let next = goal ?? this.#cursor;
    try {
      for (const segment of segments) {
        if (segment.start !== undefined) {
          placed.push({ ...segment, start: segment.start, isNew: false });
          next = segment.start + segment.count;
          continue;
        }
        for (let done = 0; done < segment.count;) {
          const wanted = segment.count - done;
          const run = await this.#store.read(() => this.#store.space.reserve(wanted, next));
          placed.push({ ...segment, block: segment.block + done, ...run, isNew: true });
          this.#runs.set(placed.at(-1) as Placed, run);
          done += run.count;
          next = run.start + run.count;
          this.#cursor = next;
        }
      }
    } catch (error) {
      this.release(placed);
      throw error;
    }
    return placed;
  }

  /** Adds the new blocks to the file. The caller saves the inode. */
  record(transaction: Transaction, inode: Inode, placed: readonly Placed[], data: PlacedData): void {
    let blocks = 0;
    for (const segment of placed) {
      const run = this.#runs.get(segment);
      if (run === undefined) continue;
      transaction.claim(run, data === 'flushed');
      addExtent(transaction, inode.inode, segment.block, run, data === 'unwritten');
      blocks += run.count;
    }
    inode.blocks += blocks;
    chargeQuota(transaction, inode, blocks * BLOCK_BYTES, 0);
  }

  /** Releases blocks that were not recorded. */
  release(placed: readonly Placed[]): void {
    for (const segment of placed) {
      const run = this.#runs.get(segment);
      if (run !== undefined) this.#store.space.release(run);
    }
  }

  /** The reservations of the new segments. */
  readonly #runs = new WeakMap<Placed, Run>();
}
