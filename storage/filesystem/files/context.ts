import { FsError, toFsError } from '../errors.ts';
import type { FilesystemStore } from '../store/filesystem-store.ts';
import type { Transaction } from '../store/transaction.ts';
import type { Time } from './inode.ts';

/** The common dependencies of a mounted filesystem's parts. */
export interface Context {
  readonly store: FilesystemStore;
  readonly now: () => Time;
  readonly updatesAccessTimes: () => boolean;
  /** Waits until deleted files have freed their space. */
  readonly reclaim: () => Promise<void>;
}

/** Refuses changes that let metadata grow when only the reserve for deletions is left. */
export function requireSpace({ store }: Context, blocks = 0): void {
  const { totalBlocks, allocatedBlocks } = store.space;
  if (totalBlocks - allocatedBlocks - store.reserveBlocks >= blocks) return;
  throw new FsError('ENOSPC', 'The filesystem is full; delete files or grow the volume.');
}

/** Runs work that needs space; if there is none, runs it again after earlier deletions have freed theirs. */
export async function withSpace<T>(context: Context, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FsError) || error.code !== 'ENOSPC') throw error;
    await context.reclaim();
    return work();
  }
}

/** How operations change the filesystem. */
export class FilesystemChanges {
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
  }

  /** Visible at once, and durable after the next commit. */
  async make<T>(work: (transaction: Transaction) => T): Promise<T> {
    try {
      return await withSpace(this.#context, () => this.#context.store.change(work));
    } catch (error) {
      throw toFsError(error);
    }
  }

  /** Durable when it resolves. */
  async durably<T>(work: (transaction: Transaction) => T): Promise<T> {
    const result = await this.make(work);
    await this.#context.store.commit();
    return result;
  }
}
