import fs from 'node:fs';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { StorageError } from '../errors.ts';

const CHECKPOINT_PAGES = 4000;
const LOCK_WAIT_MS = 2000;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
const PRIMARY_CODE = 0xff;

/**
 * One SQLite file, owned by this process alone. A commit is written to the write-ahead log at once and made durable by
 * `sync`, off the event loop: SQLite's own `synchronous=FULL` would hold up every other request for the time of an
 * fsync. Frames of the log carry checksums, so a log cut short by a power cut ends at a whole commit.
 */
export class Database {
  readonly #file: string;
  readonly #sqlite: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  #logFd: number | undefined;
  #failure: StorageError | undefined;

  /** Makes the file only when `create` says so: a mistyped name must not pass for an empty pool. */
  constructor(file: string, schema: string, create = false) {
    this.#file = file;
    if (!create) refuseLost(file);
    this.#sqlite = new DatabaseSync(file, { timeout: LOCK_WAIT_MS, enableForeignKeyConstraints: true });
    try {
      this.#sqlite.exec('PRAGMA locking_mode = EXCLUSIVE');
      this.#sqlite.exec('PRAGMA journal_mode = WAL');
      this.#sqlite.exec('PRAGMA synchronous = NORMAL');
      this.#sqlite.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      this.#sqlite.exec(schema);
    } catch (error) {
      this.#sqlite.close();
      throw openingProblem(file, error);
    }
  }

  all<T>(sql: string, ...values: SQLInputValue[]): T[] {
    return this.#prepare(sql).all(...values) as T[];
  }

  get<T>(sql: string, ...values: SQLInputValue[]): T | undefined {
    return this.#prepare(sql).get(...values) as T | undefined;
  }

  iterate<T>(sql: string, ...values: SQLInputValue[]): IterableIterator<T> {
    return this.#prepare(sql).iterate(...values) as IterableIterator<T>;
  }

  run(sql: string, ...values: SQLInputValue[]): void {
    this.#prepare(sql).run(...values);
  }

  /** Everything `work` writes, or nothing. Durable only after `sync`. */
  transaction(work: () => void): void {
    if (this.#failure) throw this.#failure;
    if (!this.#sqlite.isOpen) throw new StorageError('closed', 'The pool is closed.');
    this.#sqlite.exec('BEGIN IMMEDIATE');
    try {
      work();
      this.#sqlite.exec('COMMIT');
    } catch (error) {
      if (this.#sqlite.isTransaction) this.#sqlite.exec('ROLLBACK');
      throw error;
    }
  }

  /** Resolves when every transaction committed so far survives a power cut. */
  async sync(): Promise<void> {
    if (this.#failure) throw this.#failure;
    this.#logFd ??= fs.openSync(`${this.#file}-wal`, 'r+');
    const fd = this.#logFd;
    await new Promise<void>((resolve, reject) => {
      fs.fdatasync(fd, (error) => (error ? reject(this.#failedForGood(error)) : resolve()));
    });
  }

  /** Brings the log into the file as far as there is room; the log stays as it is otherwise. */
  tryCheckpoint(): void {
    try {
      this.#sqlite.exec('PRAGMA wal_checkpoint(PASSIVE)');
    } catch {
      // Nothing is lost by it: the log has everything.
    }
  }

  close(): void {
    if (this.#logFd !== undefined) fs.closeSync(this.#logFd);
    this.#logFd = undefined;
    this.#statements.clear();
    this.#sqlite.close();
  }

  /** The kernel forgets pages it could not write, so a later sync would claim success for commits that are gone. */
  #failedForGood(cause: Error): StorageError {
    const what = `${this.#file} could not be made durable (${cause.message}); mend its disk and start again.`;
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

/** A file that is missing or empty was lost: SQLite would make an empty pool of it. */
function refuseLost(file: string): void {
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new StorageError('not-found', `There is no file ${file}.`);
  if (size === 0) throw new StorageError('invalid', `${file} is damaged: it has 0 bytes, but it held data before.`);
}

function openingProblem(file: string, cause: unknown): StorageError {
  const code = ((cause as { errcode?: number }).errcode ?? 0) & PRIMARY_CODE;
  if (code !== SQLITE_CORRUPT && code !== SQLITE_NOTADB)
    return new StorageError('conflict', `${file} cannot be opened; is another process using it?`, { cause });
  return new StorageError('invalid', `${file} is damaged: ${(cause as Error).message}.`, { cause });
}
