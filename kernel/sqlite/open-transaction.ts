import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { Transaction } from './queries.ts';
import type { RunResult, SqlArguments, Statement, Statements } from './statement.ts';

/** The handle of a transaction, valid while its work runs. */
export class OpenTransaction implements Transaction {
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
    this.#requireOpen();
    return this.#statements.ofArrays(sql).all(values) as SQLOutputValue[][];
  }

  run(sql: string, ...values: SqlArguments): RunResult {
    return this.#statement(sql).run(values);
  }

  exec(sql: string): void {
    this.#requireOpen();
    this.#sqlite.exec(sql);
  }

  /** A transaction sees one state anyway. */
  snapshot<T>(work: () => T): T {
    return work();
  }

  #statement(sql: string): Statement {
    this.#requireOpen();
    return this.#statements.of(sql);
  }

  /** Work that continues after its transaction has ended would write outside of any. */
  #requireOpen(): void {
    if (!this.#isOpen()) throw new Error('The transaction has ended.');
  }
}
