import { constants } from 'node:os';

/** A change that did not fit on the disk: nothing of it was kept. */
export class DiskFullError extends Error {
  constructor(cause: unknown) {
    super('The disk is full', { cause });
    this.name = 'DiskFullError';
  }
}

const SQLITE_FULL = 13;
/** Node has no name for a quota that is used up, so it is told by its number. */
const NUMBERS = new Set([-constants.errno.ENOSPC, -constants.errno.EDQUOT]);
/** Writing, syncing and growing a file: how SQLite tells of the limits that file systems report in their own ways. */
const SQLITE_IOERR_WRITES = new Set([778, 1034, 1290, 1546, 4874]);

/** The error as it is, or what it means when the disk is full. */
export function asDiskFull(error: unknown): unknown {
  const { errcode = 0, errno = 0 } = (error ?? {}) as { errcode?: number; errno?: number };
  const isFull = errcode === SQLITE_FULL || SQLITE_IOERR_WRITES.has(errcode) || NUMBERS.has(errno);
  return isFull ? new DiskFullError(error) : error;
}
