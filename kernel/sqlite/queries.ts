import type { SQLOutputValue } from 'node:sqlite';
import type { RunResult, SqlArguments } from './statement.ts';

/** Reads. Statements are prepared once for each text. */
export interface Reads {
  all<T>(sql: string, ...values: SqlArguments): T[];
  get<T>(sql: string, ...values: SqlArguments): T | undefined;
  iterate<T>(sql: string, ...values: SqlArguments): IterableIterator<T>;
  /** Rows as arrays of values: cheaper than objects for many rows and columns. */
  arrays(sql: string, ...values: SqlArguments): SQLOutputValue[][];
  /** Runs reads that must see one state of the database. */
  snapshot<T>(work: () => T): T;
}

/**
 * An open transaction: the only way to write, and inside it the only way to read. `Database` refuses reads while one is
 * open, because they would depend on both using the same connection.
 */
export interface Transaction extends Reads {
  run(sql: string, ...values: SqlArguments): RunResult;
  /** Several statements without values. */
  exec(sql: string): void;
}
