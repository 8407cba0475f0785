import { StorageError, type StorageErrorCode } from '@granary/storage';
import { FsError, type FsErrorCode } from '@granary/storage/filesystem';
import { EngineError, type EngineErrorCode } from '../errors.ts';

const codes: Record<StorageErrorCode, EngineErrorCode> = {
  'drive-failed': 'failed',
  'no-space': 'no-space',
  'group-failed': 'failed',
  unreadable: 'failed',
  'pool-full': 'full',
  conflict: 'conflict',
  invalid: 'invalid',
  closed: 'interrupted',
  cancelled: 'cancelled',
  'read-only': 'conflict',
  locked: 'locked',
  'not-found': 'not-found',
};

/** Those that are not named are conflicts. */
const fileCodes: Partial<Record<FsErrorCode, EngineErrorCode>> = {
  EIO: 'failed',
  ENOSPC: 'full',
  ENOENT: 'not-found',
  ESTALE: 'not-found',
  EINVAL: 'invalid',
  ENAMETOOLONG: 'invalid',
};

/** What storage refuses, in the engine's words. Anything else is a fault of ours and stays as it is. */
function toEngineError(error: unknown): unknown {
  if (error instanceof FsError) return new EngineError(fileCodes[error.code] ?? 'conflict', error.message);
  return error instanceof StorageError ? new EngineError(codes[error.code], error.message) : error;
}

export async function translateErrors<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toEngineError(error);
  }
}

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function isStorageError(error: unknown, ...wanted: StorageErrorCode[]): error is StorageError {
  return error instanceof StorageError && wanted.includes(error.code);
}
