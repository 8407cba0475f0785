import { readdirSync, readFileSync } from 'node:fs';
import type { Database } from './database.ts';

/** The numbered migrations of one component; a service's file holds the kernel's tables and its own. */
export interface Migrations {
  readonly component: string;
  readonly steps: readonly { readonly name: string; readonly sql: string }[];
}

/** Reads `0001-what-it-does.sql`, `0002-…` from a folder. */
export function readMigrations(component: string, folder: URL): Migrations {
  const names = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();
  const steps = names.map((name, index) => {
    if (Number(name.slice(0, 4)) !== index + 1) throw new Error(`Migration ${name} should be number ${index + 1}`);
    return { name, sql: readFileSync(new URL(name, folder), 'utf8') };
  });
  return { component, steps };
}

/** Brings a component up to its newest migration, each step in a transaction of its own. */
export function migrate(database: Database, { component, steps }: Migrations): void {
  database.exec(
    'CREATE TABLE IF NOT EXISTS schema_versions (component TEXT PRIMARY KEY, version INTEGER NOT NULL) STRICT',
  );
  const row = database.get<{ version: number }>('SELECT version FROM schema_versions WHERE component = :component', {
    component,
  });
  const current = row?.version ?? 0;
  if (current > steps.length) {
    throw new Error(
      `The ${component} tables are at version ${current}, newer than this release knows (${steps.length}); run the newer release.`,
    );
  }
  steps.slice(current).forEach((step, index) => {
    applyStep(database, component, current + index + 1, step);
  });
}

function applyStep(database: Database, component: string, version: number, step: Migrations['steps'][number]): void {
  database.exec('BEGIN IMMEDIATE');
  try {
    database.exec(step.sql);
    database.run(
      'INSERT INTO schema_versions VALUES (:component, :version) ON CONFLICT DO UPDATE SET version = excluded.version',
      { component, version },
    );
    database.exec('COMMIT');
  } catch (error) {
    if (database.inTransaction) database.exec('ROLLBACK');
    throw new Error(`Migration ${step.name} of ${component} failed`, { cause: error });
  }
}
