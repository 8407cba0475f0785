import { existsSync, rmSync, statSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';
import { assert } from '../assert.ts';
import { asDamage, DamagedDatabaseError } from './damage.ts';
import { checkBeforeOpen, markClosed, markOpen } from './mark.ts';
import { Statement, type SqlParams } from './statement.ts';

export type { SqlParams, SqlValue } from './statement.ts';

/** What repositories see: plain SQL with named parameters, statements prepared once. */
export interface Db {
  all<T>(sql: string, params?: SqlParams): T[];
  get<T>(sql: string, params?: SqlParams): T | undefined;
  run(sql: string, params?: SqlParams): RunResult;
}

export interface RunResult {
  readonly changes: number;
  readonly insertedId: number;
}

const SQLITE_BUSY = 5;
const SYNCHRONOUS_FULL = 2;
const IN_MEMORY = ':memory:';
/** Larger ones are not read from end to end at each start: that would take seconds. */
const CHECKED_BYTES_MAX = 64 * 2 ** 20;
/** Pages copied at a time: the thread that owns the database waits for as long as that takes. */
const COPY_PAGES = 64;
/** A database that is written without a pause is copied in one step in the end. */
const COPY_ATTEMPTS_IN_STEPS = 5;
const COPY_ATTEMPTS_MAX = 50;
const ALL_PAGES = 2 ** 30;

/**
 * One SQLite file, owned by this process alone: a second process that opens it waits and then fails, so that
 * records may be kept in memory. Written through at every commit: `synchronous=FULL` is set and asserted, because
 * anything less loses acknowledged rows in a power cut.
 */
export class Database implements Db {
  readonly file: string;
  readonly #sqlite: DatabaseSync;
  readonly #statements = new Map<string, Statement>();

  constructor(file: string, lockWaitMs: number) {
    this.file = file;
    if (file !== IN_MEMORY) checkBeforeOpen(file);
    this.#sqlite = new DatabaseSync(file, { timeout: lockWaitMs, enableForeignKeyConstraints: true });
    try {
      this.#configure();
      this.#check();
    } catch (error) {
      this.#sqlite.close();
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw asDamage(file, error);
      throw new Error(`${file} is open in another process; stop that one first.`, { cause: error });
    }
  }

  /** From now on a missing file, or a missing log, is damage. Called once the tables are there. */
  markInUse(): void {
    if (this.file === IN_MEMORY) return;
    try {
      // A commit, so that the log exists and its salt is known.
      this.exec('PRAGMA user_version = 1');
      markOpen(this.file);
    } catch {
      // A full disk: the mark stays as the last start left it, which is true of the file as well.
    }
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
        rmSync(target, { force: true });
      }
    }
  }

  all<T>(sql: string, params: SqlParams = {}): T[] {
    return this.#prepare(sql).all(params) as T[];
  }

  get<T>(sql: string, params: SqlParams = {}): T | undefined {
    return this.#prepare(sql).get(params) as T | undefined;
  }

  run(sql: string, params: SqlParams = {}): RunResult {
    const { changes, lastInsertRowid } = this.#prepare(sql).run(params);
    return { changes: Number(changes), insertedId: Number(lastInsertRowid) };
  }

  exec(sql: string): void {
    this.#sqlite.exec(sql);
  }

  get inTransaction(): boolean {
    return this.#sqlite.isTransaction;
  }

  close(): void {
    this.#statements.clear();
    if (this.file !== IN_MEMORY && existsSync(this.file)) markClosed(this.file);
    this.#sqlite.close();
  }

  /** Damage is found before anybody is served from it, not when the first one comes upon it. */
  #check(): void {
    if (this.file === IN_MEMORY || statSync(this.file).size > CHECKED_BYTES_MAX) return;
    const found = this.get<{ quick_check: string }>('PRAGMA quick_check(1)')?.quick_check;
    if (found !== undefined && found !== 'ok') throw new DamagedDatabaseError(this.file, found.replace(/\s+/g, ' '));
  }

  #configure(): void {
    this.exec('PRAGMA locking_mode = EXCLUSIVE');
    this.exec('PRAGMA journal_mode = WAL');
    this.exec('PRAGMA synchronous = FULL');
    // What a savepoint would go back to: with ten changes in a commit it would not fit in SQLite's own and go to a file.
    this.exec('PRAGMA temp_store = MEMORY');
    // What is deleted is overwritten: the keys of a deleted array are gone with its row.
    this.exec('PRAGMA secure_delete = ON');
    const mode = this.get<{ synchronous: number }>('PRAGMA synchronous')?.synchronous;
    assert(mode === SYNCHRONOUS_FULL, `synchronous is ${mode}, not FULL`);
  }

  #prepare(sql: string): Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = new Statement(this.#sqlite, sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
