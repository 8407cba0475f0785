import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  Database,
  GroupCommit,
  readMigrations,
  type Migrations,
  type Reads,
  type RunResult,
  type SqlArguments,
  type Transaction,
} from '../sqlite/index.ts';
import { DatabaseCopies, type CopyOptions } from './copies.ts';
import { asDamage } from './damage.ts';
import { asDiskFull, DiskFullError } from './disk-full.ts';
import { isFreeing } from './freeing.ts';
import { checkBeforeOpen, markClosed, markOpen } from './mark.ts';
import { Reserve } from './reserve.ts';

/** The reads of repositories, outside or inside a transaction. */
export type Db = Pick<Reads, 'all' | 'get'>;

/** A transaction. Its work is synchronous, so no reader sees part of it. */
export interface Tx extends Db, Pick<Transaction, 'run'> {
  /** Runs once the transaction is durable: to drop a cached record, to wake a worker. Must not throw. */
  afterCommit(action: () => void): void;
}

const LOCK_WAIT_MS = 4000;
const PROBE_EVERY_MS = 5_000;
/** Delayed, so that it does not slow the start. */
const FILL_AFTER_MS = 10_000;
const IN_MEMORY = ':memory:';
const kernelMigrations = readMigrations('kernel', new URL('../migrations/', import.meta.url));

/**
 * The database of one service: owned by this process alone, so that records may be kept in memory; changes are written by
 * group commit (`kernel/sqlite`).
 *
 * When the disk is full, changes that free space (`runFreeing`) use the reserve; from then on all others are
 * refused until the reserve is filled again.
 */
export class Store {
  readonly #database: Database;
  readonly #commits: GroupCommit;
  readonly #reserve: Reserve | undefined;
  /** The transaction whose work is running. Work is synchronous, so there is one at most. */
  #open: Tx | undefined;
  #closed = false;
  #isDiskFull = false;
  #probe: NodeJS.Timeout | undefined;
  #copies: DatabaseCopies | undefined;

  /** Waits up to `lockWaitMs` for an exiting process to release the file. */
  constructor(file: string, migrations: Migrations, lockWaitMs = LOCK_WAIT_MS) {
    if (file !== IN_MEMORY) {
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      checkBeforeOpen(file);
    }
    this.#database = new Database(file, {
      access: 'exclusive',
      migrations: [kernelMigrations, migrations],
      lockWaitMs,
      // Deleting the row of an array erases its keys.
      secureDelete: true,
      isChecked: true,
      translate: (error) => asDamage(file, error),
    });
    this.#markInUse();
    this.#reserve = file === IN_MEMORY ? undefined : new Reserve(`${file}-reserve`);
    this.#commits = new GroupCommit(this.#database, {
      reserve: this.#reserve,
      translate: (error) => this.#classify(error),
      committed: () => {
        if (!this.#reserve?.isReleased) this.#isDiskFull = false;
      },
    });
    if (this.#reserve?.isReleased) this.#awaitSpace();
    else if (this.#reserve) this.#probe = setTimeout(() => void this.#fill(), FILL_AFTER_MS).unref();
  }

  /** Inside the work of `write` it reads through that transaction. */
  read<T>(work: (db: Db) => T): T {
    return work(this.#open ?? this.#database);
  }

  write<T>(work: (tx: Tx) => T): Promise<T> {
    if (this.#closed) return Promise.reject(new Error('The store is closed'));
    const frees = isFreeing();
    if (!frees && this.#commits.isReserveInUse) return Promise.reject(new DiskFullError(undefined));
    let actions: (() => void)[] = [];
    const attempt = (transaction: Transaction): T => {
      // A change may run twice: the second time with space of the reserve.
      actions = [];
      const tx = new StoreTransaction(transaction, actions);
      this.#open = tx;
      try {
        return work(tx);
      } finally {
        this.#open = undefined;
      }
    };
    const durable = (): void => {
      for (const action of actions) action();
    };
    return this.#commits.submit(attempt, { frees, durable });
  }

  /** Resolves when everything that reads can see now is durable; undefined when it is already. Rejects after a failed sync. */
  whenDurable(): Promise<void> | undefined {
    return this.#commits.whenDurable();
  }

  get file(): string {
    return this.#database.file;
  }

  /** A consistent copy of everything committed, made while the store is in use. */
  copyTo(target: string): Promise<void> {
    return this.#database.copyTo(target);
  }

  /** From now on a copy is made every hour, and the last few are kept. */
  keepCopies(options: CopyOptions): DatabaseCopies {
    this.#copies ??= new DatabaseCopies(this, options);
    this.#copies.start();
    return this.#copies;
  }

  /** For changes that may be lost, such as an event: undefined when the disk is full. */
  async writeUnlessFull<T>(work: (tx: Tx) => T): Promise<T | undefined> {
    try {
      return await this.write(work);
    } catch (error) {
      if (error instanceof DiskFullError) return undefined;
      throw error;
    }
  }

  /** From a change that was refused for lack of space to the next one that succeeds. */
  get isDiskFull(): boolean {
    return this.#isDiskFull;
  }

  /** To be awaited before `close`: SQLite keeps a file locked while it is being copied. */
  async stopCopies(): Promise<void> {
    await this.#copies?.stop();
  }

  close(): void {
    if (this.#closed) return;
    clearTimeout(this.#probe);
    void this.#copies?.stop();
    this.#reserve?.close();
    this.#commits.drain();
    this.#closed = true;
    if (this.file !== IN_MEMORY && existsSync(this.file)) markClosed(this.file);
    this.#database.close();
  }

  /** From now on a missing file, or a missing log, is damage. */
  #markInUse(): void {
    if (this.file === IN_MEMORY) return;
    try {
      // A commit, so that the log exists and its salt is on disk.
      this.#database.transaction((tx) => tx.exec('PRAGMA user_version = 1'));
      this.#database.syncNow();
      markOpen(this.file);
    } catch {
      // A full disk: the mark stays as the last start left it, as the file does.
    }
  }

  #classify(error: unknown): unknown {
    const reported = asDiskFull(asDamage(this.file, error));
    if (reported instanceof DiskFullError) this.#awaitSpace();
    return reported;
  }

  /** Retries a small change periodically: refused callers may not come back to try. */
  #awaitSpace(): void {
    this.#isDiskFull = true;
    clearTimeout(this.#probe);
    this.#probe = setTimeout(() => {
      if (this.#reserve?.isReleased) void this.#fill();
      else this.write((tx) => tx.run('PRAGMA user_version = 1')).catch(() => undefined);
    }, PROBE_EVERY_MS).unref();
  }

  /** When the reserve can be filled, there is space for all changes. */
  async #fill(): Promise<void> {
    const isFilled = await this.#reserve?.fill();
    if (this.#closed) return;
    if (isFilled) this.#isDiskFull = false;
    else if (this.#reserve?.isReleased) this.#awaitSpace();
  }
}

class StoreTransaction implements Tx {
  readonly #transaction: Transaction;
  readonly #actions: (() => void)[];

  constructor(transaction: Transaction, actions: (() => void)[]) {
    this.#transaction = transaction;
    this.#actions = actions;
  }

  all<T>(sql: string, ...values: SqlArguments): T[] {
    return this.#transaction.all(sql, ...values);
  }

  get<T>(sql: string, ...values: SqlArguments): T | undefined {
    return this.#transaction.get(sql, ...values);
  }

  run(sql: string, ...values: SqlArguments): RunResult {
    return this.#transaction.run(sql, ...values);
  }

  afterCommit(action: () => void): void {
    this.#actions.push(action);
  }
}
