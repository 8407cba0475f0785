import { closeSync, copyFileSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { markClosed, markFileOf, syncFolderOf } from './mark.ts';

const LOCK_WAIT_MS = 200;
const SQLITE_BUSY = 5;
const PRIMARY_CODE = 0xff;
/** Set in a restored database: milliseconds since the epoch. */
export const RESTORED_AT = 'restored_at';

/**
 * Replaces a database that is not open by a copy. The copy is checked first. The old file is kept beside it,
 * `<database>.damaged-<time>`, with its log; its name is returned. After an interruption at any point, either the old
 * file or the new one exists, or none: then a start reports that the file is missing, and this can be repeated.
 */
export function restoreCopy(file: string, copy: string): string | undefined {
  refuseIfOpen(file);
  const fresh = `${file}.restoring`;
  rmSync(fresh, { force: true });
  copyFileSync(copy, fresh);
  stamp(fresh);
  const aside = `${file}.damaged-${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
  // A start detects by the mark that a file is missing.
  if (!existsSync(markFileOf(file))) markClosed(file);
  const wasThere = existsSync(file);
  // The file is moved before its log: without the log it would be opened in an older state.
  for (const ending of ['', '-wal', '-shm'])
    if (existsSync(`${file}${ending}`)) renameSync(`${file}${ending}`, `${aside}${ending}`);
  // The log is durably gone before the new file exists: it would be replayed into that.
  syncFolderOf(file);
  markClosed(file);
  renameSync(fresh, file);
  syncFolderOf(file);
  return wasThere ? aside : undefined;
}

/** The problem with a database that is not open; undefined when there is none. Changes nothing. */
export function problemOfCopy(path: string): string | undefined {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const { quick_check: found } = database.prepare('PRAGMA quick_check(1)').get() as { quick_check: string };
      return found === 'ok' ? undefined : found;
    } finally {
      database.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}

export function isOpenElsewhere(file: string): boolean {
  if (!existsSync(file)) return false;
  const database = new DatabaseSync(file, { readOnly: true, timeout: LOCK_WAIT_MS });
  try {
    database.prepare('PRAGMA schema_version').get();
    return false;
  } catch (error) {
    return (((error as { errcode?: number }).errcode ?? 0) & PRIMARY_CODE) === SQLITE_BUSY;
  } finally {
    database.close();
  }
}

function refuseIfOpen(file: string): void {
  if (isOpenElsewhere(file)) throw new Error(`${file} is open in another process; stop that one first.`);
}

function stamp(path: string): void {
  const problem = problemOfCopy(path);
  if (problem !== undefined) throw new Error(`The copy cannot be used: ${problem}. Choose another one.`);
  const database = new DatabaseSync(path);
  try {
    const sql = 'INSERT INTO settings VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value';
    database.prepare(sql).run(RESTORED_AT, String(Date.now()));
  } finally {
    database.close();
  }
  const fd = openSync(path, 'r+');
  fsyncSync(fd);
  closeSync(fd);
}
