import { isDiskFull } from '../../disk-full.ts';
import { ObjectError } from '../errors.ts';

const SQLITE_FULL = 13;
/** Writing, syncing and growing a file: how SQLite tells of the limits that file systems report in their own ways. */
const SQLITE_IOERR_WRITES = new Set([778, 1034, 1290, 1546, 4874]);

/** The error as it is, or what it means when there is no room for the index. */
export function asNoSpace(error: unknown): unknown {
  const { errcode = 0 } = (error ?? {}) as { errcode?: number };
  const isFull = errcode === SQLITE_FULL || SQLITE_IOERR_WRITES.has(errcode) || isDiskFull(error);
  return isFull ? noSpace(error) : error;
}

export function noSpace(cause?: unknown): ObjectError {
  return new ObjectError('no-space', 'The disk of the index is full.', { cause });
}
