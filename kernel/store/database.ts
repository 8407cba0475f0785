import { DatabaseSync } from 'node:sqlite';
import { assert } from '../assert.ts';
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

/**
 * One SQLite file, owned by this process alone: a second process that opens it waits and then fails, so that
 * records may be kept in memory. Written through at every commit: `synchronous=FULL` is set and asserted, because
 * anything less loses acknowledged rows in a power cut.
 */
export class Database implements Db {
  readonly #sqlite: DatabaseSync;
  readonly #statements = new Map<string, Statement>();

  constructor(file: string, lockWaitMs: number) {
    this.#sqlite = new DatabaseSync(file, { timeout: lockWaitMs, enableForeignKeyConstraints: true });
    try {
      this.#configure();
    } catch (error) {
      if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
      throw new Error(`${file} is open in another process; stop that one first.`, { cause: error });
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
    this.#sqlite.close();
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
