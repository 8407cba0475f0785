import { constants } from 'node:os';

/** Node has no name for an exhausted quota, so both errors are recognised by their numbers. */
const NUMBERS = new Set([-constants.errno.ENOSPC, -constants.errno.EDQUOT]);
const SQLITE_FULL = 13;
/** Writing, syncing and extending a file: how SQLite reports limits that file systems report in different ways. */
const SQLITE_IOERR_WRITES = new Set([778, 1034, 1290, 1546, 4874]);

/** Whether a system call failed because the disk is full. */
export function isDiskFull(error: unknown): boolean {
  const { errno = 0 } = (error ?? {}) as NodeJS.ErrnoException;
  return NUMBERS.has(errno);
}

/** Whether a change to a database failed because the disk is full. */
export function isDatabaseFull(error: unknown): boolean {
  const { errcode = 0 } = (error ?? {}) as { errcode?: number };
  return errcode === SQLITE_FULL || SQLITE_IOERR_WRITES.has(errcode) || isDiskFull(error);
}
