export type { Db, RunResult, SqlParams, SqlValue } from './database.ts';
export { DiskFullError } from './disk-full.ts';
export { readMigrations, type Migrations } from './migrations.ts';
export { Store, type Tx } from './store.ts';
