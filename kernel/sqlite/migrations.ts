import { readdirSync, readFileSync } from 'node:fs';
import { DatabaseError } from './errors.ts';
import type { Reads, Transaction } from './queries.ts';

/** One step: statements, or a function where the change depends on the file. */
export type Migration =
  | { readonly name: string; readonly sql: string }
  | { readonly name: string; readonly apply: (tx: Transaction) => void };

/** The numbered migrations of one component. A file may hold the tables of several. */
export interface Migrations {
  readonly component: string;
  readonly steps: readonly Migration[];
  /** A table of files without a version: such a file is at version 1. */
  readonly unversionedTable?: string;
}

/** What migrations need of a database. */
interface Migrated extends Pick<Reads, 'get'> {
  readonly file: string;
  transaction(work: (tx: Transaction) => void): void;
}

const VERSIONS = `CREATE TABLE IF NOT EXISTS schema_versions (component TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT`;
const SET_VERSION =
  'INSERT INTO schema_versions VALUES (:component, :version) ON CONFLICT DO UPDATE SET version = excluded.version';

/** Migrations that are files of SQL. */
interface SqlMigrations extends Migrations {
  readonly steps: readonly { readonly name: string; readonly sql: string }[];
}

/** Reads `0001-what-it-does.sql`, `0002-…` from a folder. */
export function readMigrations(component: string, folder: URL): SqlMigrations {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  const steps = names.map((name, index) => {
    if (Number(name.slice(0, 4)) !== index + 1) throw new Error(`Migration ${name} should be number ${index + 1}`);
    return { name, sql: readFileSync(new URL(name, folder), 'utf8') };
  });
  return { component, steps };
}

/** Migrates a component to its newest version, each step in a transaction of its own. */
export function migrate(database: Migrated, migrations: Migrations): void {
  const { component, steps } = migrations;
  const current = versionOf(database, migrations);
  if (current > steps.length) {
    const what = `The ${component} tables are at version ${current}, newer than this release knows (${steps.length}); run the newer release.`;
    throw new DatabaseError('newer', database.file, what);
  }
  steps.slice(current).forEach((step, index) => applyStep(database, component, current + index + 1, step));
}

function versionOf(database: Migrated, { component, unversionedTable }: Migrations): number {
  const isThere = (table: string): boolean =>
    database.get(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`, table) !== undefined;
  const known = isThere('schema_versions')
    ? database.get<{ version: number }>('SELECT version FROM schema_versions WHERE component = ?', component)
    : undefined;
  return known?.version ?? (unversionedTable !== undefined && isThere(unversionedTable) ? 1 : 0);
}

function applyStep(database: Migrated, component: string, version: number, step: Migration): void {
  try {
    database.transaction((tx) => {
      tx.exec(VERSIONS);
      if ('sql' in step) tx.exec(step.sql);
      else step.apply(tx);
      tx.run(SET_VERSION, { component, version });
    });
  } catch (error) {
    throw new Error(`Migration ${step.name} of ${component} failed`, { cause: error });
  }
}
