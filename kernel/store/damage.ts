import { asDatabaseError, DatabaseError } from '../sqlite/index.ts';

/** A database file that cannot be used. The message names the file and what to do. */
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

/** The error, translated when the file is damaged or no database. */
export function asDamage(file: string, error: unknown): unknown {
  if (error instanceof DamagedDatabaseError) return error;
  const known = asDatabaseError(file, error);
  if (!(known instanceof DatabaseError)) return error;
  return known.code === 'damaged' ? new DamagedDatabaseError(file, known.reason, known.cause) : known;
}
