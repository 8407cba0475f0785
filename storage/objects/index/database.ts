import fs from 'node:fs';
import path from 'node:path';
import { DatabaseSync, type SQLInputValue, type SQLOutputValue, type StatementSync } from 'node:sqlite';
import { StorageError } from '../../errors.ts';
import { QuickDisk } from './quick-disk.ts';
import { SCHEMA } from './schema.ts';

const LOCK_WAIT_MS = 4000;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
const PRIMARY_CODE = 0xff;
/** A larger one costs more than it saves: after a page was split, SQLite looks through all of it at the commit. */
const WRITER_CACHE_KIB = 8 * 1024;
const READER_CACHE_KIB = 8 * 1024;
/** About a second's reading. */
const CHECKED_BYTES_MAX = 64 * 2 ** 20;

/** Queries over the index; statements are prepared once. */
export interface IndexDb {
  all<T>(sql: string, ...values: SQLInputValue[]): T[];
  get<T>(sql: string, ...values: SQLInputValue[]): T | undefined;
  iterate<T>(sql: string, ...values: SQLInputValue[]): IterableIterator<T>;
  /** How many rows changed. */
  run(sql: string, ...values: SQLInputValue[]): number;
}

/**
 * A connection to index.db. Many threads read while one writes, so the file is not locked exclusively. The writer's
 * commits go to the write-ahead log at once and are made durable by `sync`, off the event loop unless the disk is quick:
 * SQLite's own `synchronous=FULL` would hold up everything else in the thread for the time of an fsync. `NORMAL` keeps what SQLite
 * itself must sync: the log before a checkpoint, the database after it, and the log's header when it begins anew.
 */
export class IndexDatabase implements IndexDb {
  readonly file: string;
  readonly #sqlite: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #listing = new Map<string, StatementSync>();
  readonly #disk = new QuickDisk();
  #changesSynced = 0;
  #logFd: number | undefined;
  #failure: StorageError | undefined;

  private constructor(file: string, sqlite: DatabaseSync) {
    this.file = file;
    this.#sqlite = sqlite;
  }

  /** Makes the file if there is none. Checkpoints are somebody else's: see `LogKeeper`. */
  static openWriter(file: string): IndexDatabase {
    fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    const sqlite = new DatabaseSync(file, { timeout: LOCK_WAIT_MS });
    const database = new IndexDatabase(file, sqlite);
    try {
      sqlite.exec('PRAGMA journal_mode = WAL');
      sqlite.exec('PRAGMA synchronous = NORMAL');
      sqlite.exec('PRAGMA wal_autocheckpoint = 0');
      sqlite.exec(`PRAGMA cache_size = -${WRITER_CACHE_KIB}`);
      // What a savepoint has to be able to undo stays in memory instead of a temporary file.
      sqlite.exec('PRAGMA temp_store = MEMORY');
      nameDetails(database);
      sqlite.exec(SCHEMA);
      database.#assertSettings();
      fsyncFolder(path.dirname(file));
      database.#demandSound();
    } catch (error) {
      sqlite.close();
      throw asDamage(file, error);
    }
    return database;
  }

  static openReader(file: string): IndexDatabase {
    const sqlite = new DatabaseSync(file, { readOnly: true, timeout: LOCK_WAIT_MS });
    sqlite.exec(`PRAGMA cache_size = -${READER_CACHE_KIB}`);
    return new IndexDatabase(file, sqlite);
  }

  get isOpen(): boolean {
    return this.#sqlite.isOpen;
  }

  get inTransaction(): boolean {
    return this.#sqlite.isTransaction;
  }

  all<T>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#prepare(sql).all(...values) as T[];
  }

  /** Rows as lists of values: for those of many columns, of which there are many. */
  lists(sql: string, ...values: SQLInputValue[]): SQLOutputValue[][] {
    let statement = this.#listing.get(sql);
    if (!statement) {
      statement = this.#sqlite.prepare(sql);
      statement.setReturnArrays(true);
      this.#listing.set(sql, statement);
    }
    return statement.all(...values) as unknown as SQLOutputValue[][];
  }

  get<T>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#prepare(sql).get(...values) as T | undefined;
  }

  iterate<T>(sql: string, ...values: SQLInputValue[]): IterableIterator<T> {
    return this.#prepare(sql).iterate(...values) as IterableIterator<T>;
  }

  run(sql: string, ...values: SQLInputValue[]): number {
    return Number(this.#prepare(sql).run(...values).changes);
  }

  /** Several statements, not prepared and without values. */
  exec(sql: string): void {
    this.#sqlite.exec(sql);
  }

  begin(): void {
    if (this.#failure) throw this.#failure;
    this.run('BEGIN IMMEDIATE');
  }

  /** Reads that must see one state of the index. */
  snapshot<T>(work: () => T): T {
    if (this.#sqlite.isTransaction) return work();
    this.run('BEGIN');
    try {
      return work();
    } finally {
      this.run('COMMIT');
    }
  }

  /** Resolves when every commit so far survives a power cut. */
  async sync(): Promise<void> {
    if (this.#failure) throw this.#failure;
    this.#logFd ??= fs.openSync(`${this.file}-wal`, 'r+');
    const fd = this.#logFd;
    if (this.#disk.isWorthIt) {
      this.#syncNow(fd);
      return;
    }
    await new Promise<void>((resolve, reject) => {
      fs.fdatasync(fd, (error) => (error ? reject(this.#failedForGood(error)) : resolve()));
    });
  }

  #syncNow(fd: number): void {
    const { changes = 0 } = this.get<{ changes: number }>('SELECT total_changes() AS changes') ?? {};
    const startMs = performance.now();
    try {
      fs.fdatasyncSync(fd);
    } catch (error) {
      throw this.#failedForGood(error as Error);
    }
    // Where nothing was written every disk is quick.
    if (changes !== this.#changesSynced) this.#disk.took(performance.now() - startMs);
    this.#changesSynced = changes;
  }

  close(): void {
    if (this.#logFd !== undefined) fs.closeSync(this.#logFd);
    this.#logFd = undefined;
    this.#statements.clear();
    this.#listing.clear();
    if (this.#sqlite.isOpen) this.#sqlite.close();
  }

  /** A damaged index could have segments removed that are in use. Large ones are not read whole at every start. */
  #demandSound(): void {
    if (fs.statSync(this.file).size > CHECKED_BYTES_MAX) return;
    const { quick_check: found } = this.get<{ quick_check: string }>('PRAGMA quick_check(1)') ?? {};
    if (found !== 'ok') throw damaged(this.file, found?.split('\n').at(-1) ?? 'it cannot be read');
  }

  #assertSettings(): void {
    const { journal_mode: journal } = this.get<{ journal_mode: string }>('PRAGMA journal_mode') ?? {};
    const { synchronous } = this.get<{ synchronous: number }>('PRAGMA synchronous') ?? {};
    if (journal === 'wal' && synchronous === 1) return;
    throw new StorageError('invalid', `${this.file} cannot keep a write-ahead log; put it on a local disk.`);
  }

  /** The kernel forgets pages it could not write, so a later sync would claim success for commits that are gone. */
  #failedForGood(cause: Error): StorageError {
    const what = `${this.file} could not be made durable (${cause.message}); mend its disk and start again.`;
    this.#failure = new StorageError('drive-failed', what, { cause });
    return this.#failure;
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#sqlite.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}

/** Files of before have the details under the name of what was all of them, the parts. */
function nameDetails(database: IndexDatabase): void {
  const old = `SELECT tables.name FROM sqlite_schema tables, pragma_table_info(tables.name) columns
               WHERE tables.name IN ('objects', 'versions') AND columns.name = 'parts'`;
  for (const { name } of database.all<{ name: string }>(old)) {
    database.exec(`ALTER TABLE ${name} RENAME COLUMN parts TO details`);
  }
}

function fsyncFolder(folder: string): void {
  const fd = fs.openSync(folder, 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** The error as it is, or with the name of the file when SQLite says that it is no database or a broken one. */
function asDamage(file: string, error: unknown): unknown {
  const code = ((error as { errcode?: number }).errcode ?? 0) & PRIMARY_CODE;
  if (code !== SQLITE_CORRUPT && code !== SQLITE_NOTADB) return error;
  return damaged(file, (error as Error).message, error);
}

function damaged(file: string, reason: string, cause?: unknown): StorageError {
  return new StorageError('invalid', `${file} is damaged: ${reason}. Put it back from a backup of the array.`, {
    cause,
  });
}
