/** SQLite with durable group commit and numbered migrations, for services and for storage. Imports nothing else. */
export { Database, type DatabaseOptions } from './database.ts';
export { isDatabaseFull, isDiskFull } from './disk-full.ts';
export { asDatabaseError, DatabaseError } from './errors.ts';
export { GroupCommit, type ChangeOptions } from './group-commit.ts';
export { readMigrations, type Migrations } from './migrations.ts';
export type { Reads, Transaction } from './queries.ts';
export type { RunResult, SqlArguments, SqlParams, SqlValue } from './statement.ts';
