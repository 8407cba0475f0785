import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { Store } from '@granary/kernel';
import { temporaryFolder } from '../testing/folders.ts';
import { mappedTables, tablesInSql } from '../testing/tables.ts';
import { migrations } from './migrations.ts';

/** The folder that owns each table: it alone names the table in SQL. */
const OWNERS: Readonly<Record<string, string>> = {
  arrays: 'arrays',
  array_summaries: 'summaries',
  public_services: 'arrays',
  clouds: 'clouds',
  drive_type_offers: 'clouds',
  join_codes: 'clouds',
  computes: 'tenants',
  tenants: 'tenants',
  interfaces: 'networks',
  virtual_networks: 'networks',
  vlans: 'networks',
  metered_items: 'metering',
  object_accounts: 'accounts',
  prices: 'pricing',
  provider_groups: 'providers',
  providers: 'providers',
  requests: 'requests',
  settings: 'settings',
  totp_factors: 'totp',
  users: 'users',
};
/** Columns that SQL alone reads and writes: a removed user or provider is no record, but bills show its former name. */
const UNMAPPED: Readonly<Record<string, readonly string[]>> = {
  users: ['removed_at', 'former_name'],
  providers: ['removed_at', 'former_name', 'former_key'],
};
/** Read by the hundred thousand for a bill, or a name and a value: their rows are no records. */
const WITHOUT_RECORD = new Set(['metered_items', 'prices', 'settings']);

const KERNEL = new Set([
  'capacity_points',
  'events',
  'idempotency_keys',
  'jobs',
  'schema_versions',
  'sessions',
  'webhooks',
]);

const FOLDER = import.meta.dirname;

/** The columns of each table of the portal after all migrations; the kernel's own tables are not among them. */
function schema(t: TestContext): Map<string, string[]> {
  const store = new Store(join(temporaryFolder(t), 'portal.db'), migrations);
  t.after(() => store.close());
  const sql = `SELECT t.name AS tableName, c.name AS columnName FROM sqlite_schema t, pragma_table_info(t.name) c
    WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`;
  const columns = new Map<string, string[]>();
  for (const row of store.read((db) => db.all<{ tableName: string; columnName: string }>(sql))) {
    if (!KERNEL.has(row.tableName)) columns.set(row.tableName, [...(columns.get(row.tableName) ?? []), row.columnName]);
  }
  return columns;
}

test('every table of the portal has an owner', (t) => {
  assert.deepEqual([...schema(t).keys()].sort(), Object.keys(OWNERS).sort());
});

test('records have a field for each column of their table', (t) => {
  const mapped = mappedTables(FOLDER);
  const columns = schema(t);
  for (const { file, name, columns: fields } of mapped) {
    const all = columns.get(name)?.filter((column) => !UNMAPPED[name]?.includes(column));
    assert.deepEqual([...fields].sort(), all?.sort(), `${file} maps ${name}`);
  }
  const expected = [...columns.keys()].filter((name) => !WITHOUT_RECORD.has(name));
  assert.deepEqual(mapped.map(({ name }) => name).sort(), expected.sort(), 'each table is mapped once');
});

test('a table is named in SQL only in the folder that owns it', () => {
  const foreign = tablesInSql(FOLDER, Object.keys(OWNERS)).filter(
    ({ file, name }) => !file.startsWith(`${OWNERS[name] ?? ''}/`),
  );
  assert.deepEqual(foreign, []);
});
