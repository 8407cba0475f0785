import { constants } from 'node:fs';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageError } from '../../errors.ts';
import { syncFolder } from './files.ts';

const IDENTITY_FILE = 'drive.json';
const FORMAT = 1;

/** Says which drive a folder is. A folder without it is empty, foreign, or was wiped. */
export interface DriveIdentity {
  readonly uuid: string;
  readonly number: number;
}

export const SEGMENTS_FOLDER = 'segments';

/** Makes a folder a drive. One that has an identity already is refused: its pieces would be taken for another's. */
export async function formatDrive(folder: string, identity: DriveIdentity): Promise<void> {
  if ((await readIdentity(folder)) !== undefined) {
    throw new StorageError('conflict', `${folder} is a drive already; empty it to use it again.`);
  }
  await mkdir(join(folder, SEGMENTS_FOLDER), { recursive: true });
  const temporary = join(folder, `${IDENTITY_FILE}.new`);
  const file = await open(temporary, constants.O_CREAT | constants.O_TRUNC | constants.O_WRONLY, 0o600);
  try {
    await file.writeFile(`${JSON.stringify({ format: FORMAT, uuid: identity.uuid, number: identity.number })}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, join(folder, IDENTITY_FILE));
  await syncFolder(folder);
}

/** Undefined where there is none: no folder, or a folder that is no drive. */
export async function readIdentity(folder: string): Promise<DriveIdentity | undefined> {
  let text: string;
  try {
    text = await readFile(join(folder, IDENTITY_FILE), 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new StorageError('drive-failed', `The identity of the drive in ${folder} cannot be read.`, { cause: error });
  }
  return parse(text, folder);
}

function parse(text: string, folder: string): DriveIdentity {
  try {
    const { format, uuid, number } = JSON.parse(text) as { format?: unknown; uuid?: unknown; number?: unknown };
    if (format === FORMAT && typeof uuid === 'string' && Number.isSafeInteger(number)) {
      return { uuid, number: number as number };
    }
  } catch {
    // Reported below, like any other text that is no identity.
  }
  throw new StorageError('drive-failed', `The identity of the drive in ${folder} is damaged or of another version.`);
}
