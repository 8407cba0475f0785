import { DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { copyDatabase } from './copy.ts';
import { assertDurable, checkStructure, configureWriter, refuseLost, syncFolderOf } from './database-file.ts';
import { asDatabaseError, DatabaseError } from './errors.ts';
import { LogSync } from './log-sync.ts';
import { migrate, type Migrations } from './migrations.ts';
import { OpenTransaction } from './open-transaction.ts';
import type { Reads, Transaction } from './queries.ts';
import { type SqlArguments, Statements } from './statement.ts';

export interface DatabaseOptions {
  /**
   * `exclusive`: no other connection may open the file. `shared`: the one writer, while other connections read.
   * `read-only`: one of those.
   */
  readonly access: 'exclusive' | 'shared' | 'read-only';
  /** Applied in this order before the database is used. */
  readonly migrations?: readonly Migrations[];
  /** A file that is missing or empty was lost; otherwise it is created. */
  readonly mustExist?: boolean;
  readonly lockWaitMs?: number;
  /** Pages in the log after which a commit runs a checkpoint; 0: the caller runs them. */
  readonly checkpointPages?: number;
  readonly cacheKib?: number;
  /** Overwrites deleted content. */
  readonly secureDelete?: boolean;
  /** Checks the structure of the file when it is opened, unless that would take long. */
  readonly isChecked?: boolean;
  /** Maps errors of this library to those of its user. */
  readonly translate?: (error: unknown, file: string) => unknown;
}

const IN_MEMORY = ':memory:';
const LOCK_WAIT_MS = 4000;
const CHECKPOINT_PAGES = 1000;
const CACHE_KIB = 2000;

/**
 * One connection to a SQLite file with a write-ahead log.
 *
 * On disk:  file       pages as of the last checkpoint
 *           file-wal   | header | frame frame commit | frame commit | frame …     each frame with a checksum
 *
 * A commit appends frames to the log; `sync` makes the log durable, off the event loop. `synchronous=NORMAL` leaves that
 * sync to us and keeps those that SQLite itself depends on: the log before a checkpoint, the file after it, and the header
 * of a log that starts over.
 *
 * Crash example: commits A and B are in the log, `sync` returned after A. A power cut may leave any part of B's frames.
 * At the next open SQLite replays frames while their checksums match and stops at the last complete commit: A is there, B
 * is there completely or not at all.
 *
 * Invariant: no commit is acknowledged before the `sync` after it has returned. After a failed sync nothing is committed
 * any more (`log-sync.ts`).
 */
export class Database implements Reads {
  readonly file: string;
  readonly #sqlite: DatabaseSync;
  readonly #statements: Statements;
  readonly #transaction: OpenTransaction;
  readonly #translate: (error: unknown) => unknown;
  /** Undefined for a database in memory. */
  readonly #log: LogSync | undefined;
  #isInTransaction = false;
  #isInSnapshot = false;

  constructor(file: string, options: DatabaseOptions) {
    const { access, mustExist = access === 'read-only', lockWaitMs = LOCK_WAIT_MS } = options;
    this.file = file;
    this.#translate = (error) => (options.translate ? options.translate(error, file) : error);
    this.#log = file === IN_MEMORY ? undefined : new LogSync(`${file}-wal`, (cause) => this.#notDurable(cause));
    try {
      if (mustExist) refuseLost(file);
      this.#sqlite = new DatabaseSync(file, { readOnly: access === 'read-only', timeout: lockWaitMs });
    } catch (error) {
      throw this.#translate(asDatabaseError(file, error));
    }
    this.#statements = new Statements(this.#sqlite);
    this.#transaction = new OpenTransaction(this.#sqlite, this.#statements, () => this.#isInTransaction);
    try {
      this.#configure(options);
      if (access !== 'read-only') this.#prepare(options);
    } catch (error) {
      this.close();
      throw this.#translate(asDatabaseError(file, error));
    }
  }

  get isOpen(): boolean {
    return this.#sqlite.isOpen;
  }

  /** Whether SQLite still has a transaction open: it ends one by itself on a full disk or an I/O error. */
  get hasTransaction(): boolean {
    return this.#sqlite.isTransaction;
  }

  all<T>(sql: string, ...values: SqlArguments): T[] {
    this.#refuseInTransaction();
    return this.#statements.of(sql).all(values) as T[];
  }

  get<T>(sql: string, ...values: SqlArguments): T | undefined {
    this.#refuseInTransaction();
    return this.#statements.of(sql).get(values) as T | undefined;
  }

  iterate<T>(sql: string, ...values: SqlArguments): IterableIterator<T> {
    this.#refuseInTransaction();
    return this.#statements.of(sql).iterate(values) as IterableIterator<T>;
  }

  arrays(sql: string, ...values: SqlArguments): SQLOutputValue[][] {
    this.#refuseInTransaction();
    return this.#statements.ofArrays(sql).all(values) as SQLOutputValue[][];
  }

  snapshot<T>(work: () => T): T {
    this.#refuseInTransaction();
    if (this.#isInSnapshot) return work();
    this.#execute('BEGIN');
    this.#isInSnapshot = true;
    try {
      return work();
    } finally {
      this.#isInSnapshot = false;
      this.#execute('COMMIT');
    }
  }

  /** All that `work` writes, or nothing. Durable after the next `sync`. */
  transaction<T>(work: (tx: Transaction) => T): T {
    this.#log?.requireDurable();
    if (!this.#sqlite.isOpen) throw this.#translate(new DatabaseError('closed', this.file, ''));
    this.#refuseInTransaction();
    this.#execute('BEGIN IMMEDIATE');
    this.#isInTransaction = true;
    try {
      const value = work(this.#transaction);
      this.#execute('COMMIT');
      return value;
    } catch (error) {
      if (this.#sqlite.isTransaction) this.#execute('ROLLBACK');
      throw error;
    } finally {
      this.#isInTransaction = false;
    }
  }

  /** Resolves when every commit so far survives a power cut. */
  async sync(): Promise<void> {
    await this.#log?.sync();
  }

  /** The same, synchronously: for opening and closing. */
  syncNow(): void {
    this.#log?.syncNow();
  }

  /** Copies the log into the file as far as there is space. */
  tryCheckpoint(): void {
    try {
      this.#sqlite.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // Nothing is lost: the log keeps every commit.
    }
  }

  /** From now on commits run a checkpoint after this many pages. */
  checkpointAfter(pages: number): void {
    this.#sqlite.exec(`PRAGMA wal_autocheckpoint = ${pages}`);
  }

  /** A consistent copy, made off this thread while the database is in use. */
  copyTo(target: string): Promise<void> {
    return copyDatabase(this.#sqlite, target);
  }

  close(): void {
    if (!this.#sqlite.isOpen) return;
    this.#statements.clear();
    this.#sqlite.close();
    this.#log?.close();
  }

  /** Such a read would be correct only as long as readers and the writer share one connection. */
  #refuseInTransaction(): void {
    if (this.#isInTransaction) throw new Error('Inside a transaction, read and write through it.');
  }

  #execute(sql: string): void {
    this.#statements.of(sql).run([]);
  }

  #configure(options: DatabaseOptions): void {
    const { access, checkpointPages = CHECKPOINT_PAGES, cacheKib = CACHE_KIB, secureDelete = false } = options;
    // Before any access to the log, or SQLite would acquire the lock at the next write only.
    if (access === 'exclusive') this.#sqlite.exec('PRAGMA locking_mode = EXCLUSIVE');
    this.#sqlite.exec(`PRAGMA cache_size = -${cacheKib}`);
    if (access === 'read-only') return;
    configureWriter(this.#sqlite, { checkpointPages, secureDelete });
    if (this.#log) assertDurable(this, this.file);
  }

  #prepare({ isChecked = false, migrations = [] }: DatabaseOptions): void {
    if (isChecked && this.#log) checkStructure(this, this.file);
    for (const each of migrations) migrate(this, each);
    if (!this.#log) return;
    this.#log.syncNow();
    syncFolderOf(this.file);
  }

  #notDurable(cause: Error): Error {
    const failure = this.#translate(new DatabaseError('not-durable', this.file, cause.message, cause));
    return failure instanceof Error ? failure : cause;
  }
}
