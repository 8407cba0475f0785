import type { Database } from './database.ts';
import { isDatabaseFull } from './disk-full.ts';
import type { Transaction } from './queries.ts';

/** Disk space that only changes which free space may use. */
interface ReservedSpace {
  /** Part of it was released and could not be filled again yet. */
  readonly isReleased: boolean;
  /** Releases a piece of it; false when there is none left. */
  release(): boolean;
}

export interface GroupCommitOptions {
  readonly reserve?: ReservedSpace | undefined;
  /** Maps an error to the one that the caller gets. */
  readonly translate?: (error: unknown) => unknown;
  /** In the transaction, after the last change. */
  readonly beforeCommit?: (tx: Transaction) => void;
  /** The transaction was rolled back as a whole. */
  readonly rolledBack?: () => void;
  /** Other connections see the changes now; they are not durable yet. */
  readonly committed?: () => void;
  /** The changes are durable and acknowledged. The next batch waits for the promise. */
  readonly answered?: (changes: number) => Promise<void> | undefined;
}

export interface ChangeOptions {
  /** It frees space: on a full disk it may use the reserve. */
  readonly frees?: boolean;
  /** It changes nothing but the database, so it can be rolled back with others and run again. */
  readonly isRepeatable?: boolean;
  /** Runs before the change, outside of its savepoint. */
  readonly before?: (tx: Transaction) => void;
  /** Runs once the change is durable, before it is acknowledged. Must not throw. */
  readonly durable?: () => void;
}

/** Synchronous: changes after the end of the transaction would not be part of it. */
type Work<T> = (tx: Transaction, isUndoneAlone: boolean) => T;

interface Change extends ChangeOptions {
  readonly work: Work<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** The result of a batch: the changes in `done` are committed, those in `refused` are not. */
interface Outcome {
  readonly done: { readonly change: Change; readonly value: unknown }[];
  readonly refused: { readonly change: Change; readonly error: unknown }[];
}

const BATCH_LENGTH_MAX = 256;
/** Batches that use savepoints after a refused change: refusals come in clusters. */
const SAVEPOINT_BATCHES = 16;

/**
 * Concurrent changes share one transaction and one sync, and are acknowledged after it, in order. The sync runs off the
 * event loop; the next changes gather meanwhile. Reads see a change between its commit and the end of the sync: an answer
 * that leaves the process waits for `whenDurable`.
 *
 * A change that fails does not affect the others: each runs in a savepoint of its own. A batch of repeatable changes is
 * tried without savepoints first, which saves a seventh of the processor time; if one fails, the batch is rolled back and
 * run again with savepoints.
 *
 * On a full disk, changes that free space run again with a piece of the reserve. While the reserve is in use, the owner
 * submits no others, see `isReserveInUse`.
 */
export class GroupCommit {
  readonly #database: Database;
  readonly #options: GroupCommitOptions;
  readonly #queue: Change[] = [];
  #running: Promise<void> | undefined;
  /** The batch that is committed and not durable yet, and its sync. */
  #unsynced: Outcome | undefined;
  #sync: Promise<void> | undefined;
  #savepointBatchesLeft = 0;

  constructor(database: Database, options: GroupCommitOptions = {}) {
    this.#database = database;
    this.#options = options;
  }

  /** `isUndoneAlone` is whether `work` can fail without the rest of its transaction. */
  submit<T>(work: Work<T>, options: ChangeOptions = {}): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ ...options, work, resolve: resolve as (value: unknown) => void, reject });
      this.#running ??= this.#run();
    });
  }

  /** The rest of the reserve is for changes that free space. */
  get isReserveInUse(): boolean {
    return this.#options.reserve?.isReleased === true;
  }

  /** Resolves when everything that reads can see now is durable; undefined when it is already. Rejects after a failed sync. */
  whenDurable(): Promise<void> | undefined {
    return this.#sync;
  }

  /** Resolves when no change is waiting. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Commits and syncs all waiting changes synchronously: for closing. */
  drain(): void {
    const unsynced = this.#unsynced;
    this.#unsynced = undefined;
    if (unsynced) this.#finishNow(unsynced);
    while (this.#queue.length > 0) this.#finishNow(this.#commit(this.#queue.splice(0, BATCH_LENGTH_MAX)));
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
    this.#unsynced = outcome;
    const failure = outcome.done.length > 0 ? await this.#syncLog() : undefined;
    // `drain` has acknowledged it meanwhile.
    if (this.#unsynced !== outcome) return;
    this.#unsynced = undefined;
    if (failure) {
      this.#refuseAll(outcome, failure.error);
      return;
    }
    this.#acknowledge(outcome);
    await this.#options.answered?.(batch.length);
  }

  async #syncLog(): Promise<{ readonly error: unknown } | undefined> {
    this.#sync = this.#database.sync();
    try {
      await this.#sync;
      return undefined;
    } catch (error) {
      return { error };
    } finally {
      this.#sync = undefined;
    }
  }

  #finishNow(outcome: Outcome): void {
    try {
      if (outcome.done.length > 0) this.#database.syncNow();
      this.#acknowledge(outcome);
    } catch (error) {
      this.#refuseAll(outcome, error);
    }
  }

  #acknowledge({ done, refused }: Outcome): void {
    for (const { change } of done) change.durable?.();
    for (const { change, value } of done) change.resolve(value);
    for (const { change, error } of refused) change.reject(error);
  }

  /** After a failed sync it is unknown which commits are on disk. */
  #refuseAll({ done, refused }: Outcome, failure: unknown): void {
    const error = this.#translate(failure);
    for (const { change } of done) change.reject(error);
    for (const each of refused) each.change.reject(each.error);
  }

  /** Commits the batch; on a full disk again the changes that free space, as long as the reserve has space. */
  #commit(batch: readonly Change[]): Outcome {
    const { done, refused } = this.#transact(batch);
    const reported = refused.map(({ change, error }) => ({ change, error: this.#translate(error) }));
    const isRetried = ({ change, error }: Outcome['refused'][number]): boolean =>
      change.frees === true && isDatabaseFull(error);
    // At once, before other writers of the disk take the space.
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
      // A full disk or an I/O error rolls back the whole batch.
      return { done: [], refused: batch.map((change) => ({ change, error })) };
    }
  }

  /** Undefined when a change was refused: then the batch is rolled back. */
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

/** Changes of a promise would not be part of the transaction, and would be acknowledged all the same. */
function demandSynchronous(value: unknown): unknown {
  if (value instanceof Promise) throw new Error('The work of a transaction is synchronous.');
  return value;
}
