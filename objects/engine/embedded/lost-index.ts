import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The file that makes a folder a drive: written after the index has the drive on record. */
const IDENTITY_FILE = 'drive.json';

/** An index that is missing or empty beside drives in use was lost: a new one would hide every object there is. */
export function refuseLostIndex(file: string, drives: readonly { readonly file: string }[]): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > 0 || !drives.some((drive) => existsSync(join(drive.file, IDENTITY_FILE)))) return;
  const problem = existsSync(file) ? 'it has 0 bytes' : 'the file is missing';
  throw new Error(
    `${file} is damaged: ${problem}, but the drives hold objects. Put it back from a backup of the array. To start without what they hold, make a file index.db.accept beside it.`,
  );
}
