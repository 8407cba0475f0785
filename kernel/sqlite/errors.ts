const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
const PRIMARY_CODE = 0xff;

export type DatabaseErrorCode = 'missing' | 'damaged' | 'in-use' | 'newer' | 'not-durable' | 'closed';

/** A problem with a database file. Users of this library translate it into an error of their own. */
export class DatabaseError extends Error {
  readonly code: DatabaseErrorCode;
  readonly file: string;
  readonly reason: string;

  constructor(code: DatabaseErrorCode, file: string, reason: string, cause?: unknown) {
    super(messageOf(code, file, reason), { cause });
    this.name = 'DatabaseError';
    this.code = code;
    this.file = file;
    this.reason = reason;
  }
}

/** The error, translated when SQLite reports a damaged file or one that another process has open. */
export function asDatabaseError(file: string, error: unknown): unknown {
  const code = (((error ?? {}) as { errcode?: number }).errcode ?? 0) & PRIMARY_CODE;
  if (code === SQLITE_BUSY) return new DatabaseError('in-use', file, 'it is open in another process', error);
  if (code === SQLITE_NOTADB) return new DatabaseError('damaged', file, 'it is not a database', error);
  if (code !== SQLITE_CORRUPT) return error;
  return new DatabaseError('damaged', file, (error as Error).message.replace(/\.$/, ''), error);
}

function messageOf(code: DatabaseErrorCode, file: string, reason: string): string {
  switch (code) {
    case 'missing':
      return `There is no file ${file}.`;
    case 'damaged':
      return `${file} is damaged: ${reason}.`;
    case 'in-use':
      return `${file} is open in another process; stop that one first.`;
    case 'newer':
      return reason;
    case 'not-durable':
      return `${file} could not be made durable (${reason}). It accepts no changes until it is opened again: repair its disk, then start again.`;
    case 'closed':
      return `${file} is closed.`;
  }
}
