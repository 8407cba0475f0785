export { copiesFolderOf, finishCopy, listCopies, type DatabaseCopies, type DatabaseCopy } from './copies.ts';
export { DamagedDatabaseError } from './damage.ts';
export type { Db, RunResult, SqlParams, SqlValue } from './database.ts';
export { DiskFullError } from './disk-full.ts';
export { checkBeforeOpen, markClosed, markFileOf, syncFolderOf } from './mark.ts';
export { readMigrations, type Migrations } from './migrations.ts';
export { Store, type Tx } from './store.ts';
