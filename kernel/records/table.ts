import { assert } from '../assert.ts';
import type { Bytes } from '../capacity.ts';
import type { Db, SqlParams, SqlValue, Tx } from '../store/index.ts';

/** How one field of a record is stored. */
interface Column<T> {
  readonly name: string;
  /** Absent where the value is stored as it is. */
  readonly convert?: { readonly write: (value: T) => SqlValue; readonly read: (value: SqlValue) => T };
  readonly isGenerated?: true;
}

interface GeneratedColumn extends Column<number> {
  readonly isGenerated: true;
}

/** One column for each field: a field without one does not compile. */
type Columns<T, Generated> = { readonly [K in keyof T]-?: K extends Generated ? GeneratedColumn : Column<T[K]> };

/** Fields that are undefined keep their values. */
export type Changes<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The key of a query: a name from a request has no brand yet. */
type Key<T> = { readonly [K in keyof T]?: T[K] extends string ? string : T[K] extends number ? number : T[K] };

/** Stored as it is. */
export function plain<T extends SqlValue>(name: string): Column<T> {
  return { name };
}

/** A boolean, stored as 0 or 1. */
export function flag(name: string): Column<boolean> {
  return { name, convert: { write: Number, read: (value) => value === 1 } };
}

/** A size, stored in whole units of `unitBytes` bytes. */
export function inUnits<T extends Bytes | null>(name: string, unitBytes: number): Column<T> {
  return {
    name,
    convert: {
      write: (value) => (value === null ? null : value / unitBytes),
      read: (value) => (value === null ? null : Number(value) * unitBytes) as T,
    },
  };
}

/** A number that SQLite assigns to each new record. */
export function generated(name: string): GeneratedColumn {
  return { name, isGenerated: true };
}

/** Stored as JSON text; null as NULL. */
export function json<T>(name: string): Column<T> {
  return {
    name,
    convert: {
      write: (value) => (value === null ? null : JSON.stringify(value)),
      read: (value) => (value === null ? null : JSON.parse(value as string)) as T,
    },
  };
}

/**
 * Maps the records of one table between our words and its columns. The SQL stays with the repository:
 * `SELECT ${volumes.fields()} FROM volumes …` names the columns as the record does, and `get` and `all` convert the values.
 * `Generated` are the fields that a new record does not have before it is inserted.
 */
export class Table<T extends object, Generated extends keyof T = never> {
  readonly #name: string;
  readonly #columns: ReadonlyMap<string, Column<unknown>>;
  readonly #converted: readonly { readonly field: string; readonly read: (value: SqlValue) => unknown }[];
  readonly #inserted: readonly string[];
  readonly #insert: string;

  constructor(name: string, columns: Columns<T, Generated>) {
    this.#name = name;
    this.#columns = new Map(Object.entries(columns) as [string, Column<unknown>][]);
    this.#converted = [...this.#columns].flatMap(([field, { convert }]) =>
      convert ? [{ field, read: convert.read }] : [],
    );
    this.#inserted = [...this.#columns].flatMap(([field, { isGenerated }]) => (isGenerated ? [] : [field]));
    const names = this.#inserted.map((field) => this.#column(field).name);
    const places = this.#inserted.map((field) => `:${field}`);
    this.#insert = `INSERT INTO ${name} (${names.join(', ')}) VALUES (${places.join(', ')})`;
  }

  /** For a SELECT; `alias` is what the statement calls the table. */
  fields(alias = this.#name): string {
    return [...this.#columns].map(([field, { name }]) => `${alias}.${name} AS ${field}`).join(', ');
  }

  /** `Extra` is what the statement selects beyond the fields; its values stay as SQLite gives them. */
  all<Extra = unknown>(db: Db, sql: string, params?: SqlParams): (T & Extra)[] {
    const rows = db.all<T & Extra>(sql, params);
    for (const row of rows) this.#convert(row);
    return rows;
  }

  get<Extra = unknown>(db: Db, sql: string, params?: SqlParams): (T & Extra) | undefined {
    const row = db.get<T & Extra>(sql, params);
    if (row) this.#convert(row);
    return row;
  }

  /** The new row's id. */
  insert(tx: Tx, record: Omit<T, Generated>): number {
    return tx.run(this.#insert, this.#values(record, this.#inserted)).insertedId;
  }

  /** Updates the records with this key; returns their number. */
  update(tx: Tx, key: Key<T>, changes: Changes<T>): number {
    const changed = givenFields(changes);
    assert(changed.length > 0, `a change of ${this.#name} names a field`);
    const where = givenFields(key);
    assert(where.length > 0, `a change of ${this.#name} names its record`);
    const sql = `UPDATE ${this.#name} SET ${changed.map((field) => `${this.#column(field).name} = :${field}`).join(', ')}
      WHERE ${where.map((field) => `${this.#column(field).name} = :key_${field}`).join(' AND ')}`;
    const keys = Object.entries(this.#values(key, where)).map(([field, value]) => [`key_${field}`, value] as const);
    return tx.run(sql, { ...this.#values(changes, changed), ...Object.fromEntries(keys) }).changes;
  }

  #values(record: object, fields: readonly string[]): Record<string, SqlValue> {
    const values: Record<string, SqlValue> = {};
    for (const field of fields) {
      const { convert } = this.#column(field);
      const value = (record as Readonly<Record<string, unknown>>)[field];
      values[field] = convert ? convert.write(value) : (value as SqlValue);
    }
    return values;
  }

  #column(field: string): Column<unknown> {
    const column = this.#columns.get(field);
    assert(column, `${this.#name} has a field ${field}`);
    return column;
  }

  /** In place: lists of thousands pass here. */
  #convert(row: object): void {
    const values = row as Record<string, unknown>;
    for (const { field, read } of this.#converted) values[field] = read(values[field] as SqlValue);
  }
}

function givenFields(values: object): string[] {
  return Object.entries<unknown>({ ...values }).flatMap(([field, value]) => (value === undefined ? [] : [field]));
}
