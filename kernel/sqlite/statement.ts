import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';

export type SqlValue = SQLInputValue;
export type SqlParams = Readonly<Record<string, SqlValue>>;
/** Values for `?` in their order, or one object with the values of `:name`. */
export type SqlArguments = readonly SqlValue[] | readonly [params?: SqlParams | undefined];

export interface RunResult {
  readonly changes: number;
  readonly insertedId: number;
}

/** Quoted text and names, comments, and the names of parameters. */
const TOKENS = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--[^\n]*|\/\*[\s\S]*?\*\/|:([A-Za-z_]\w*)/g;

/**
 * A prepared statement. Named parameters are rewritten to positional ones: SQLite compares each name with all others at
 * every call, which was two thirds of the time of inserting a long row.
 */
export class Statement {
  readonly #statement: StatementSync;
  /** The name of the parameter at each position; empty for a statement with positional parameters. */
  readonly #names: readonly string[];

  /** With `asArrays` rows are arrays of values instead of objects. */
  constructor(database: DatabaseSync, sql: string, asArrays = false) {
    const names: string[] = [];
    const positional = sql.replace(TOKENS, (token: string, name: string | undefined) => {
      if (name === undefined) return token;
      names.push(name);
      return '?';
    });
    this.#statement = database.prepare(positional);
    if (asArrays) this.#statement.setReturnArrays(true);
    this.#names = names;
  }

  all(values: SqlArguments): unknown[] {
    return this.#statement.all(...this.#bind(values));
  }

  get(values: SqlArguments): unknown {
    return this.#statement.get(...this.#bind(values));
  }

  iterate(values: SqlArguments): IterableIterator<unknown> {
    return this.#statement.iterate(...this.#bind(values));
  }

  run(values: SqlArguments): RunResult {
    const { changes, lastInsertRowid } = this.#statement.run(...this.#bind(values));
    return { changes: Number(changes), insertedId: Number(lastInsertRowid) };
  }

  #bind(values: SqlArguments): readonly SqlValue[] {
    const [params] = values;
    if (params === undefined) return this.#names.map(() => null);
    if (this.#names.length === 0 && !isParams(params)) return values as readonly SqlValue[];
    return this.#positional(isParams(params) ? params : {});
  }

  /** A parameter that is not given is null; one that the statement does not have is an error. */
  #positional(params: SqlParams): SqlValue[] {
    for (const name in params) {
      if (!this.#names.includes(name)) throw new Error(`The statement has no parameter ${name}.`);
    }
    return this.#names.map((name) => params[name] ?? null);
  }
}

function isParams(value: SqlValue | SqlParams | undefined): value is SqlParams {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value);
}

/** The statements of one connection, prepared once for each text. */
export class Statements {
  readonly #database: DatabaseSync;
  readonly #objects = new Map<string, Statement>();
  readonly #arrays = new Map<string, Statement>();

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  of(sql: string): Statement {
    let statement = this.#objects.get(sql);
    if (!statement) this.#objects.set(sql, (statement = new Statement(this.#database, sql)));
    return statement;
  }

  ofArrays(sql: string): Statement {
    let statement = this.#arrays.get(sql);
    if (!statement) this.#arrays.set(sql, (statement = new Statement(this.#database, sql, true)));
    return statement;
  }

  clear(): void {
    this.#objects.clear();
    this.#arrays.clear();
  }
}
