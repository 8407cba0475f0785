import fs from 'node:fs';
import path from 'node:path';
import { backup, DatabaseSync, type SQLOutputValue } from 'node:sqlite';
import { asDatabaseError, DatabaseError } from './errors.ts';
import { migrate, type Migrations } from './migrations.ts';
import type { Reads, Transaction } from './queries.ts';
import { type RunResult, type SqlArguments, type Statement, Statements } from './statement.ts';

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
  /** Overwrites what is deleted. */
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
const SYNCHRONOUS_NORMAL = 1;
/** About a second of reading. */
const CHECKED_BYTES_MAX = 64 * 2 ** 20;
/** Pages copied at a time: the owner's thread waits for as long as that takes. */
const COPY_PAGES = 64;
/** A database that is written without a pause is copied in one step after this many attempts. */
const COPY_ATTEMPTS_IN_STEPS = 5;
const COPY_ATTEMPTS_MAX = 50;
const ALL_PAGES = 2 ** 30;

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
 * At the next open SQLite replays frames while their checksums match and stops at the last whole commit: A is there, B
 * is there completely or not at all.
 *
 * Invariant: nobody is told of a commit before the `sync` after it has returned. After a failed sync nothing is committed
 * any more, because the kernel drops pages it could not write and a later sync would report success.
 */
export class Database implements Reads {
  readonly file: string;
  readonly #sqlite: DatabaseSync;
  readonly #statements: Statements;
  readonly #transaction: OpenTransaction;
  readonly #translate: (error: unknown) => unknown;
  #isInTransaction = false;
  #isInSnapshot = false;
  #logFd: number | undefined;
  #syncs = 0;
  #failure: Error | undefined;

  constructor(file: string, options: DatabaseOptions) {
    const { access, mustExist = access === 'read-only', lockWaitMs = LOCK_WAIT_MS } = options;
    this.file = file;
    this.#translate = (error) => (options.translate ? options.translate(error, file) : error);
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
    if (this.#failure !== undefined) throw this.#failure;
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
    const fd = this.#openLog();
    if (fd === undefined) return;
    this.#syncs += 1;
    try {
      await new Promise<void>((resolve, reject) => {
        fs.fdatasync(fd, (error) => (error ? reject(this.#fail(error)) : resolve()));
      });
    } finally {
      this.#syncs -= 1;
      if (!this.#sqlite.isOpen) this.#closeLog();
    }
  }

  /** The same on the spot: for opening and closing. */
  syncNow(): void {
    const fd = this.#openLog();
    if (fd === undefined) return;
    try {
      fs.fdatasyncSync(fd);
    } catch (error) {
      throw this.#fail(error as Error);
    }
  }

  /** Copies the log into the file as far as there is room. */
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
  async copyTo(target: string): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const rate = attempt > COPY_ATTEMPTS_IN_STEPS ? ALL_PAGES : COPY_PAGES;
        await backup(this.#sqlite, target, { rate });
        return;
      } catch (error) {
        // A step that falls between the statements of a transaction is refused, and Node reports that as no error.
        if ((error as { errcode?: number }).errcode !== 0 || attempt >= COPY_ATTEMPTS_MAX) throw error;
        fs.rmSync(target, { force: true });
      }
    }
  }

  close(): void {
    if (!this.#sqlite.isOpen) return;
    this.#statements.clear();
    this.#sqlite.close();
    this.#closeLog();
  }

  /** Right by accident otherwise: only as long as readers and the writer share one connection. */
  #refuseInTransaction(): void {
    if (this.#isInTransaction) throw new Error('Inside a transaction, read and write through it.');
  }

  #execute(sql: string): void {
    this.#statements.of(sql).run([]);
  }

  #configure({
    access,
    checkpointPages = CHECKPOINT_PAGES,
    cacheKib = CACHE_KIB,
    secureDelete,
  }: DatabaseOptions): void {
    // First of all: after any access to the log, SQLite would take the lock at the next write only.
    if (access === 'exclusive') this.#sqlite.exec('PRAGMA locking_mode = EXCLUSIVE');
    this.#sqlite.exec(`PRAGMA cache_size = -${cacheKib}`);
    if (access === 'read-only') return;
    this.#sqlite.exec('PRAGMA journal_mode = WAL');
    this.#sqlite.exec('PRAGMA synchronous = NORMAL');
    this.checkpointAfter(checkpointPages);
    // What a savepoint has to be able to undo stays in memory instead of a temporary file.
    this.#sqlite.exec('PRAGMA temp_store = MEMORY');
    if (secureDelete) this.#sqlite.exec('PRAGMA secure_delete = ON');
    this.#assertSettings();
  }

  #assertSettings(): void {
    if (this.file === IN_MEMORY) return;
    const mode = this.get<{ journal_mode: string }>('PRAGMA journal_mode')?.journal_mode;
    const synchronous = this.get<{ synchronous: number }>('PRAGMA synchronous')?.synchronous;
    if (mode === 'wal' && synchronous === SYNCHRONOUS_NORMAL) return;
    throw new Error(`${this.file} cannot keep a write-ahead log; put it on a local disk.`);
  }

  #prepare({ isChecked = false, migrations = [] }: DatabaseOptions): void {
    if (this.file === IN_MEMORY) {
      for (const each of migrations) migrate(this, each);
      return;
    }
    if (isChecked) this.#checkStructure();
    for (const each of migrations) migrate(this, each);
    this.syncNow();
    syncFolder(path.dirname(this.file));
  }

  /** Damage is found before anybody is served, not when the first request reads it. */
  #checkStructure(): void {
    if (fs.statSync(this.file).size > CHECKED_BYTES_MAX) return;
    const found = this.get<{ quick_check: string }>('PRAGMA quick_check(1)')?.quick_check;
    if (found !== 'ok') throw new DatabaseError('damaged', this.file, (found ?? '').replace(/\s+/g, ' '));
  }

  /** Undefined while there is nothing to sync. */
  #openLog(): number | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.file === IN_MEMORY) return undefined;
    this.#logFd ??= fs.openSync(`${this.file}-wal`, 'r+');
    return this.#logFd;
  }

  /** A descriptor that is being synced stays open: by then its number could name another file. */
  #closeLog(): void {
    if (this.#logFd === undefined || this.#syncs > 0) return;
    fs.closeSync(this.#logFd);
    this.#logFd = undefined;
  }

  #fail(cause: Error): Error {
    const failure = this.#translate(new DatabaseError('not-durable', this.file, cause.message, cause));
    this.#failure = failure instanceof Error ? failure : cause;
    return this.#failure;
  }
}

class OpenTransaction implements Transaction {
  readonly #sqlite: DatabaseSync;
  readonly #statements: Statements;
  readonly #isOpen: () => boolean;

  constructor(sqlite: DatabaseSync, statements: Statements, isOpen: () => boolean) {
    this.#sqlite = sqlite;
    this.#statements = statements;
    this.#isOpen = isOpen;
  }

  all<T>(sql: string, ...values: SqlArguments): T[] {
    return this.#statement(sql).all(values) as T[];
  }

  get<T>(sql: string, ...values: SqlArguments): T | undefined {
    return this.#statement(sql).get(values) as T | undefined;
  }

  iterate<T>(sql: string, ...values: SqlArguments): IterableIterator<T> {
    return this.#statement(sql).iterate(values) as IterableIterator<T>;
  }

  arrays(sql: string, ...values: SqlArguments): SQLOutputValue[][] {
    this.#refuseLater();
    return this.#statements.ofArrays(sql).all(values) as SQLOutputValue[][];
  }

  run(sql: string, ...values: SqlArguments): RunResult {
    return this.#statement(sql).run(values);
  }

  exec(sql: string): void {
    this.#refuseLater();
    this.#sqlite.exec(sql);
  }

  /** A transaction sees one state anyway. */
  snapshot<T>(work: () => T): T {
    return work();
  }

  #statement(sql: string): Statement {
    this.#refuseLater();
    return this.#statements.of(sql);
  }

  /** Work that goes on after its transaction has ended would write outside of any. */
  #refuseLater(): void {
    if (!this.#isOpen()) throw new Error('The transaction has ended.');
  }
}

/** A file that is missing or empty was lost: SQLite would create an empty database in its place. */
function refuseLost(file: string): void {
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new DatabaseError('missing', file, 'the file is missing');
  if (size === 0) throw new DatabaseError('damaged', file, 'it has 0 bytes, but it held data before');
}

/** The name of a new file is durable once its folder is. */
function syncFolder(folder: string): void {
  const fd = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
