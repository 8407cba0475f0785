import fs from 'node:fs';
import path from 'node:path';
import { Database, DatabaseError } from '@granary/kernel/sqlite';
import { StorageError } from '../../errors.ts';
import { LAYOUT_MIGRATIONS } from '../layout/schema.ts';
import { MIGRATIONS } from './schema.ts';

/** A larger one costs more than it saves: after a page was split, SQLite searches all of it at the commit. */
const WRITER_CACHE_KIB = 8 * 1024;
const READER_CACHE_KIB = 8 * 1024;

/** Opens index.db to write to it, and creates it if there is none. Many threads read it at the same time. */
export function openIndexWriter(file: string): Database {
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  return new Database(file, {
    access: 'shared',
    migrations: [MIGRATIONS, LAYOUT_MIGRATIONS],
    cacheKib: WRITER_CACHE_KIB,
    // `WalCheckpointer` runs them, in a thread of its own.
    checkpointPages: 0,
    // A damaged index could have segments removed that are in use.
    isChecked: true,
    translate: asStorageError,
  });
}

export function openIndexReader(file: string): Database {
  return new Database(file, { access: 'read-only', cacheKib: READER_CACHE_KIB, translate: asStorageError });
}

function asStorageError(error: unknown): unknown {
  if (!(error instanceof DatabaseError)) return error;
  const { code, message } = error;
  if (code === 'damaged')
    return new StorageError('invalid', `${message} Put it back from a backup of the array.`, { cause: error });
  return new StorageError(code === 'not-durable' ? 'drive-failed' : 'invalid', message, { cause: error });
}
