import { Database, DatabaseError } from '@granary/kernel/sqlite';
import { StorageError, type StorageErrorCode } from '../errors.ts';
import { MIGRATIONS } from './schema.ts';

const CHECKPOINT_PAGES = 4000;
const LOCK_WAIT_MS = 2000;
const CODES = {
  missing: 'not-found',
  damaged: 'invalid',
  newer: 'invalid',
  'in-use': 'conflict',
  'not-durable': 'drive-failed',
  closed: 'closed',
} as const satisfies Record<DatabaseError['code'], StorageErrorCode>;

/** Opens the metadata of a pool. Creates it only on request: a mistyped name must not create an empty pool. */
export function openPoolDatabase(file: string, { create = false } = {}): Database {
  return new Database(file, {
    access: 'exclusive',
    migrations: [MIGRATIONS],
    mustExist: !create,
    lockWaitMs: LOCK_WAIT_MS,
    checkpointPages: CHECKPOINT_PAGES,
    translate: asStorageError,
  });
}

function asStorageError(error: unknown, file: string): StorageError {
  if (error instanceof DatabaseError) return new StorageError(CODES[error.code], error.message, { cause: error });
  return new StorageError('conflict', `${file} cannot be opened: ${String(error)}`, { cause: error });
}
