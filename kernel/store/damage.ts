import { asDatabaseError, DatabaseError } from '../sqlite/index.ts';

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

/** The error as it is, or what it means when the file is no database or a broken one. */
export function asDamage(file: string, error: unknown): unknown {
  if (error instanceof DamagedDatabaseError) return error;
  const known = asDatabaseError(file, error);
  if (!(known instanceof DatabaseError)) return error;
  return known.code === 'damaged' ? new DamagedDatabaseError(file, known.reason, known.cause) : known;
}
