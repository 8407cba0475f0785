import { StorageError } from '../errors.ts';

/** The errors of file operations, as POSIX names them; protocols map them to their own numbers. */
export type FsErrorCode =
  | 'EPERM'
  | 'ENOENT'
  | 'EIO'
  | 'EACCES'
  | 'EEXIST'
  | 'EXDEV'
  | 'ENOTDIR'
  | 'EISDIR'
  | 'EINVAL'
  | 'EFBIG'
  | 'ENOSPC'
  | 'EROFS'
  | 'EMLINK'
  | 'ENAMETOOLONG'
  | 'ENOTEMPTY'
  | 'ELOOP'
  | 'ENODATA'
  | 'ENXIO'
  | 'ERANGE'
  | 'EDQUOT'
  /** The contents are archived and have to be recalled first. */
  | 'EARCHIVED'
  /** The inode was removed, or its number belongs to another file now. */
  | 'ESTALE';

export class FsError extends Error {
  readonly code: FsErrorCode;

  constructor(code: FsErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'FsError';
    this.code = code;
  }
}

/** Maps an error to that of a file operation: a full device is ENOSPC, any other failure of it EIO. */
export function toFsError(error: unknown): unknown {
  if (!(error instanceof StorageError)) return error;
  const isFull = error.code === 'pool-full' || error.code === 'no-space';
  const code = isFull ? 'ENOSPC' : error.code === 'read-only' ? 'EROFS' : 'EIO';
  return new FsError(code, error.message, { cause: error });
}
