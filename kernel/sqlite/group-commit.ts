import type { Database } from './database.ts';
import { isDatabaseFull } from './disk-full.ts';
import type { Transaction } from './queries.ts';

/** Room on the disk that only changes which free space may use. */
interface ReservedSpace {
  /** Part of it was given away and could not be filled again yet. */
  readonly isReleased: boolean;
  /** Gives a piece of it away; false when there is none left. */
  release(): boolean;
}

export interface GroupCommitOptions {
  readonly reserve?: ReservedSpace | undefined;
  /**
   * Syncs before the event loop goes on, so that no reader sees a change that a power cut could still undo. Otherwise the
   * sync runs off the event loop, and readers may see a change in the moment before it is durable.
   */
  readonly isSyncedInPlace?: boolean;
  /** What a caller is told instead of `error`. */
  readonly translate?: (error: unknown) => unknown;
  /** In the transaction, after the last change. */
  readonly beforeCommit?: (tx: Transaction) => void;
  /** The transaction was undone as a whole. */
  readonly rolledBack?: () => void;
  /** Other connections see the changes now; they are not durable yet. */
  readonly committed?: () => void;
  /** The changes are durable and answered. The next batch waits for the promise. */
  readonly answered?: (changes: number) => Promise<void> | undefined;
}

export interface ChangeOptions {
  /** It frees space: on a full disk it may use the reserve. */
  readonly frees?: boolean;
  /** It changes nothing but the database, so it can be undone with others and run again. */
  readonly isRepeatable?: boolean;
  /** Runs before the change, outside of its savepoint. */
  readonly before?: (tx: Transaction) => void;
  /** Runs once the change is durable, before its caller hears of it. Must not throw. */
  readonly durable?: () => void;
}

/** Synchronous: what it did after the transaction ended would not be part of it. */
type Work<T> = (tx: Transaction, isUndoneAlone: boolean) => T;

interface Change extends ChangeOptions {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What became of a batch: all that is in `done` is committed, nothing of what is in `refused`. */
interface Outcome {
  readonly done: { readonly change: Change; readonly value: unknown }[];
  readonly refused: { readonly change: Change; readonly error: unknown }[];
}

const BATCH_LENGTH_MAX = 256;
/** Batches that are not tried without savepoints after one was refused: refusals seldom come alone. */
const SAVEPOINT_BATCHES = 16;

/**
 * Changes that wait at the same moment share one transaction and one sync, and are answered after it, in the order they
 * came. While a sync runs off the event loop, the next changes gather.
 *
 * A change that fails takes none of the others with it: each runs in a savepoint of its own. A batch of repeatable changes
 * is tried without savepoints first, which saves a seventh of the processor time; if one fails, all of it is undone and
 * run again with savepoints.
 *
 * On a full disk, changes that free space run again with a piece of the reserve. While the reserve is not whole, the owner
 * submits no others, see `isReserveInUse`.
 */
export class GroupCommit {
  readonly #database: Database;
  readonly #options: GroupCommitOptions;
  readonly #queue: Change[] = [];
  #running: Promise<void> | undefined;
  #savepointBatchesLeft = 0;

  constructor(database: Database, options: GroupCommitOptions = {}) {
    this.#database = database;
    this.#options = options;
  }

  /** `isUndoneAlone` tells `work` whether it can fail without the rest of its transaction. */
  submit<T>(work: Work<T>, options: ChangeOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ ...options, work, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#run();
    });
  }

  /** What is left of the reserve is for changes that free space. */
  get isReserveInUse(): boolean {
    return this.#options.reserve?.isReleased === true;
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Commits on the spot what waits: for closing. */
  drain(): void {
    while (this.#queue.length > 0) {
      const outcome = this.#commit(this.#queue.splice(0, BATCH_LENGTH_MAX));
      try {
        if (outcome.done.length > 0) this.#database.syncNow();
        this.#answer(outcome);
      } catch (error) {
        this.#refuseAll(outcome, error);
      }
    }
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      // Changes that are submitted in the same turn of the event loop are one batch.
      await new Promise(setImmediate);
      const batch = this.#queue.splice(0, BATCH_LENGTH_MAX);
      if (batch.length > 0) await this.#commitDurably(batch);
    }
    // In the same step as the last check of the queue, so that no change is left waiting.
    this.#running = undefined;
  }

  async #commitDurably(batch: readonly Change[]): Promise<void> {
    const outcome = this.#commit(batch);
    try {
      if (outcome.done.length > 0) await this.#sync();
    } catch (error) {
      this.#refuseAll(outcome, error);
      return;
    }
    this.#answer(outcome);
    await this.#options.answered?.(batch.length);
  }

  #sync(): Promise<void> | undefined {
    if (!this.#options.isSyncedInPlace) return this.#database.sync();
    this.#database.syncNow();
    return undefined;
  }

  #answer({ done, refused }: Outcome): void {
    for (const { change } of done) change.durable?.();
    for (const { change, value } of done) change.resolve(value);
    for (const { change, error } of refused) change.reject(error);
  }

  /** After a failed sync nobody can tell what is on disk. */
  #refuseAll({ done, refused }: Outcome, failure: unknown): void {
    const error = this.#translate(failure);
    for (const { change } of done) change.reject(error);
    for (const each of refused) each.change.reject(each.error);
  }

  /** Commits what can be; on a full disk also the changes that free space, as long as the reserve gives room. */
  #commit(batch: readonly Change[]): Outcome {
    const { done, refused } = this.#transact(batch);
    const reported = refused.map(({ change, error }) => ({ change, error: this.#translate(error) }));
    const isRetried = ({ change, error }: Outcome['refused'][number]): boolean =>
      change.frees === true && isDatabaseFull(error);
    // At once: other writers to the disk would take the room otherwise.
    if (!refused.some(isRetried) || this.#options.reserve?.release() !== true) return { done, refused: reported };
    const again = this.#commit(refused.filter(isRetried).map(({ change }) => change));
    const others = reported.filter((_, at) => !isRetried(refused[at] as Outcome['refused'][number]));
    return { done: [...done, ...again.done], refused: [...others, ...again.refused] };
  }

  #transact(batch: readonly Change[]): Outcome {
    this.#savepointBatchesLeft = Math.max(0, this.#savepointBatchesLeft - 1);
    const canShare = this.#savepointBatchesLeft === 0 && batch.every(({ isRepeatable }) => isRepeatable);
    try {
      const outcome = (canShare && this.#inOneTransaction(batch)) || this.#inSavepoints(batch);
      if (outcome.done.length > 0) this.#options.committed?.();
      return outcome;
    } catch (error) {
      // A full disk or an I/O error undoes the whole batch.
      return { done: [], refused: batch.map((change) => ({ change, error })) };
    }
  }

  /** Undefined when a change was refused: then nothing has happened. */
  #inOneTransaction(batch: readonly Change[]): Outcome | undefined {
    let refusal: unknown;
    try {
      return this.#inTransaction((tx) => {
        const done = batch.map((change) => {
          change.before?.(tx);
          try {
            return { change, value: demandSynchronous(change.work(tx, false)) };
          } catch (error) {
            if (this.#database.hasTransaction) refusal = error;
            throw error;
          }
        });
        return { done, refused: [] };
      });
    } catch (error) {
      if (error !== refusal) throw error;
      this.#savepointBatchesLeft = SAVEPOINT_BATCHES;
      return undefined;
    }
  }

  #inSavepoints(batch: readonly Change[]): Outcome {
    return this.#inTransaction((tx) => {
      const outcome: Outcome = { done: [], refused: [] };
      for (const change of batch) this.#attempt(tx, change, outcome);
      return outcome;
    });
  }

  #attempt(tx: Transaction, change: Change, { done, refused }: Outcome): void {
    change.before?.(tx);
    tx.run('SAVEPOINT change');
    try {
      done.push({ change, value: demandSynchronous(change.work(tx, true)) });
    } catch (error) {
      if (!this.#database.hasTransaction) throw error;
      tx.run('ROLLBACK TO change');
      refused.push({ change, error });
    }
    tx.run('RELEASE change');
  }

  #inTransaction(work: (tx: Transaction) => Outcome): Outcome {
    try {
      return this.#database.transaction((tx) => {
        const outcome = work(tx);
        this.#options.beforeCommit?.(tx);
        return outcome;
      });
    } catch (error) {
      this.#options.rolledBack?.();
      throw error;
    }
  }

  #translate(error: unknown): unknown {
    return this.#options.translate ? this.#options.translate(error) : error;
  }
}

/** What a promise does later would not be part of the transaction, and would be answered all the same. */
function demandSynchronous(value: unknown): unknown {
  if (value instanceof Promise) throw new Error('The work of a transaction is synchronous.');
  return value;
}
