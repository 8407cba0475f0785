import type { Db, SqlValue, Tx } from '@granary/kernel';

type Row = Readonly<Record<string, SqlValue>>;

/** Everything the cloud's database says of one array: the rows as they are, so that later columns come along. */
export interface ArrayRows {
  readonly array: Row & { readonly number: number; readonly uuid: string; readonly revision: number };
  readonly drives: readonly (Row & { readonly uuid: string })[];
  /** Rows of other tables that refer to the array, by table. */
  readonly related: Readonly<Record<string, readonly Row[]>>;
}

export function listRevisions(db: Db): { number: number; uuid: string; revision: number }[] {
  return db.all('SELECT number, uuid, revision FROM arrays ORDER BY number');
}

export function rowsOf(db: Db, number: number): ArrayRows | undefined {
  const array = db.get<ArrayRows['array']>('SELECT * FROM arrays WHERE number = :number', { number });
  const drives = db.all<ArrayRows['drives'][number]>('SELECT * FROM drives WHERE array = :number ORDER BY number', {
    number,
  });
  const related = relatedTables(db).map(({ table, column }) => {
    const rows = db.all<Row>(`SELECT * FROM ${table} WHERE ${column} = :number`, { number });
    return [table, rows] as const;
  });
  return array && { array, drives, related: Object.fromEntries(related) };
}

/** Makes the database say of the array what the rows say, and nothing else. */
export function putRows(tx: Tx, { array, drives, related }: ArrayRows): void {
  const { number } = array;
  upsert(tx, 'arrays', 'number', array);
  releaseAll(tx, number);
  for (const drive of drives) upsert(tx, 'drives', 'uuid', drive);
  for (const { table } of relatedTables(tx)) for (const row of related[table] ?? []) insertIfFree(tx, table, row);
  tx.run('UPDATE arrays SET revision = :revision WHERE number = :number', { number, revision: array.revision });
}

/** An array that is no longer there: its drives are free. */
export function dropRows(tx: Tx, number: number): void {
  releaseAll(tx, number);
  tx.run('DELETE FROM arrays WHERE number = :number', { number });
}

function releaseAll(tx: Tx, number: number): void {
  const sql = 'UPDATE drives SET array = NULL, number = NULL, policy = NULL, has_file = 0 WHERE array = :number';
  tx.run(sql, { number });
  for (const { table, column } of relatedTables(tx))
    tx.run(`DELETE FROM ${table} WHERE ${column} = :number`, { number });
}

/** Tables with a foreign key to arrays, apart from drives, which outlive the array. */
function relatedTables(db: Db): { table: string; column: string }[] {
  return db.all(
    `SELECT schema.name AS "table", key."from" AS "column"
     FROM sqlite_schema AS schema, pragma_foreign_key_list(schema.name) AS key
     WHERE schema.type = 'table' AND key."table" = 'arrays' AND schema.name <> 'drives'`,
  );
}

function insertIfFree(tx: Tx, table: string, row: Row): void {
  const { columns, values } = knownColumns(tx, table, row);
  tx.run(`INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${placesOf(columns)})`, values);
}

function upsert(tx: Tx, table: 'arrays' | 'drives', key: string, row: Row): void {
  const { columns, values } = knownColumns(tx, table, row);
  const updates = columns.filter((name) => name !== key).map((name) => `${name} = excluded.${name}`);
  tx.run(
    `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${placesOf(columns)})
     ON CONFLICT (${key}) DO UPDATE SET ${updates.join(', ')}`,
    values,
  );
}

/** Columns that this release does not have are left out; those that the row lacks keep their default. */
function knownColumns(db: Db, table: string, row: Row): { columns: string[]; values: Row } {
  const known = db.all<{ name: string }>(`SELECT name FROM pragma_table_info('${table}')`).map(({ name }) => name);
  const columns = known.filter((name) => Object.hasOwn(row, name));
  return { columns, values: Object.fromEntries(columns.map((name) => [name, row[name] ?? null])) };
}

function placesOf(columns: readonly string[]): string {
  return columns.map((name) => `:${name}`).join(', ');
}

export interface NewAddresses {
  readonly host: string;
  readonly port: number;
  readonly publicAddress: string | null;
}

export function setAddresses(tx: Tx, number: number, { host, port, publicAddress }: NewAddresses): void {
  const sql = `UPDATE arrays SET address = :host, port = :port, public_address = :publicAddress WHERE number = :number`;
  tx.run(sql, { number, host, port, publicAddress });
}

/** Where the folder came from and which portal it belonged to. */
export function clearOwner(tx: Tx): void {
  tx.run(`DELETE FROM settings WHERE key IN ('home', 'owner')`);
}
