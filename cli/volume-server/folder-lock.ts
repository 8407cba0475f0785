import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CommandFailure, exitCodes } from '../exit.ts';

/** Two processes on the same drives would tear each other's data apart, so the folder is taken before any is opened. */
export function lockFolder(folder: string): { release(): void } {
  const database = new DatabaseSync(join(folder, 'lock.db'));
  try {
    // Held until the file is closed, or the process is gone.
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
  } catch (error) {
    database.close();
    const what = `Another volume server runs in ${folder}; stop it first, or choose another folder with --dir.`;
    throw new CommandFailure(exitCodes.failed, what, { cause: error });
  }
  return {
    release() {
      if (database.isOpen) database.close();
    },
  };
}
