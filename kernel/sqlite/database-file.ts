import fs from 'node:fs';
import path from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { DatabaseError } from './errors.ts';
import type { Reads } from './queries.ts';

const SYNCHRONOUS_NORMAL = 1;
/** About a second of reading. */
const CHECKED_BYTES_MAX = 64 * 2 ** 20;

interface WriterSettings {
  readonly checkpointPages: number;
  readonly secureDelete: boolean;
}

/** The settings of a connection that writes. */
export function configureWriter(sqlite: DatabaseSync, { checkpointPages, secureDelete }: WriterSettings): void {
  sqlite.exec('PRAGMA journal_mode = WAL');
  sqlite.exec('PRAGMA synchronous = NORMAL');
  sqlite.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
  // The undo log of savepoints stays in memory instead of a temporary file.
  sqlite.exec('PRAGMA temp_store = MEMORY');
  if (secureDelete) sqlite.exec('PRAGMA secure_delete = ON');
}

/** Durability depends on these settings, and SQLite ignores a pragma that it cannot apply. */
export function assertDurable(database: Pick<Reads, 'get'>, file: string): void {
  const mode = database.get<{ journal_mode: string }>('PRAGMA journal_mode')?.journal_mode;
  const synchronous = database.get<{ synchronous: number }>('PRAGMA synchronous')?.synchronous;
  if (mode === 'wal' && synchronous === SYNCHRONOUS_NORMAL) return;
  throw new Error(`${file} cannot keep a write-ahead log; put it on a local disk.`);
}

/** Finds damage at the start, before a request reads it. */
export function checkStructure(database: Pick<Reads, 'get'>, file: string): void {
  if (fs.statSync(file).size > CHECKED_BYTES_MAX) return;
  const found = database.get<{ quick_check: string }>('PRAGMA quick_check(1)')?.quick_check;
  if (found !== 'ok') throw new DatabaseError('damaged', file, (found ?? '').replace(/\s+/g, ' '));
}

/** A file that is missing or empty was lost: SQLite would create an empty database in its place. */
export function refuseLost(file: string): void {
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new DatabaseError('missing', file, 'the file is missing');
  if (size === 0) throw new DatabaseError('damaged', file, 'it has 0 bytes, but it held data before');
}

/** The name of a new file is durable once its folder is. */
export function syncFolderOf(file: string): void {
  const fd = fs.openSync(path.dirname(file), 'r');
  try {
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}
