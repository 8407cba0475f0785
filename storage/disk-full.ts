import { constants } from 'node:os';

/** Node has no name for a quota that is used up, so it is told by its number. */
const NUMBERS = new Set([-constants.errno.ENOSPC, -constants.errno.EDQUOT]);
const SQLITE_FULL = 13;
/** Writing, syncing and growing a file: how SQLite tells of the limits that file systems report in their own ways. */
const SQLITE_IOERR_WRITES = new Set([778, 1034, 1290, 1546, 4874]);

/** Whether a call of the system failed for want of room. */
export function isDiskFull(error: unknown): boolean {
  const { errno = 0 } = (error ?? {}) as NodeJS.ErrnoException;
  return NUMBERS.has(errno);
}

/** The same for a change to a database. */
export function isDatabaseFull(error: unknown): boolean {
  const { errcode = 0 } = (error ?? {}) as { errcode?: number };
  return errcode === SQLITE_FULL || SQLITE_IOERR_WRITES.has(errcode) || isDiskFull(error);
}
