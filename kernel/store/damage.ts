const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
const PRIMARY_CODE = 0xff;

/** A database file that cannot be used as it is. The message names the file and the way out. */
export class DamagedDatabaseError extends Error {
  readonly file: string;
  readonly problem: string;

  constructor(file: string, problem: string, cause?: unknown) {
    super(
      `${file} is damaged: ${problem}. Nothing was changed. ` +
        'List its copies with `granary restore-books --data FOLDER` and restore one of them.',
      { cause },
    );
    this.name = 'DamagedDatabaseError';
    this.file = file;
    this.problem = problem;
  }
}

/** The error as it is, or what it means when SQLite says that the file is no database or a broken one. */
export function asDamage(file: string, error: unknown): unknown {
  const code = ((error ?? {}) as { errcode?: number }).errcode ?? 0;
  if (error instanceof DamagedDatabaseError) return error;
  if ((code & PRIMARY_CODE) === SQLITE_NOTADB) return new DamagedDatabaseError(file, 'it is not a database', error);
  if ((code & PRIMARY_CODE) !== SQLITE_CORRUPT) return error;
  return new DamagedDatabaseError(file, (error as Error).message.replace(/\.$/, ''), error);
}
