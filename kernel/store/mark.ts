import {
  closeSync,
  existsSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DamagedDatabaseError } from './damage.ts';

/**
 * A small file beside each database, `<database>.mark`, that tells damage from a new installation:
 *
 * - It is made after the first migration. A database that is missing or empty beside its mark was lost; without a mark
 *   it was never made.
 * - `open` means that the database was not closed since: its write-ahead log holds acknowledged commits and must be
 *   there. The mark keeps the first salt of that log. SQLite adds one to it whenever the log starts over, so the log of
 *   another database, or of an earlier time, has a salt that is far from it. SQLite itself would replay any log
 *   whose frames fit each other.
 * - `closed` is written before the database is closed: the log may be there or not.
 *
 * The text always has the same length and is written in place, so it needs no space on a full disk.
 */
interface Mark {
  readonly state: 'open' | 'closed';
  readonly salt: number;
}

const TEXT = /^granary database (open|closed) +([0-9a-f]{8})\n$/;
const LOG_HEADER_BYTES = 32;
const LOG_MAGIC = 0x377f0682;
const LOG_SALT_AT = 16;
/** A log starts over less often than this between two starts. */
const LOG_RESTARTS_MAX = 2 ** 22;
const WORD = 2 ** 32;

/** Throws when the file, or its log, is not the one that was left there. */
export function checkBeforeOpen(file: string): void {
  const mark = readMark(file);
  if (mark === undefined) return;
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) throw new DamagedDatabaseError(file, 'the file is missing');
  if (size === 0) throw new DamagedDatabaseError(file, 'it has 0 bytes, but it held data before');
  if (mark.state === 'closed') return;
  const salt = saltOfLog(file);
  if (salt === undefined)
    throw new DamagedDatabaseError(
      file,
      `its write-ahead log ${file}-wal is missing or has no header (if another program opened and closed the database, remove ${markFileOf(file)} to accept it as it is)`,
    );
  if ((salt - mark.salt + WORD) % WORD > LOG_RESTARTS_MAX)
    throw new DamagedDatabaseError(file, `${file}-wal is the write-ahead log of another database or another time`);
}

/** To be called after a commit, so that the log exists. Does nothing without a log. */
export function markOpen(file: string): void {
  const salt = saltOfLog(file);
  if (salt !== undefined) writeMark(file, { state: 'open', salt });
}

export function markClosed(file: string): void {
  writeMark(file, { state: 'closed', salt: 0 });
}

export function markFileOf(file: string): string {
  return `${file}.mark`;
}

function readMark(file: string): Mark | undefined {
  const path = markFileOf(file);
  if (!existsSync(path)) return undefined;
  const [, state, salt] = TEXT.exec(readFileSync(path, 'latin1')) ?? [];
  // An unreadable mark still shows that there was a database.
  if (state === undefined || salt === undefined) return { state: 'closed', salt: 0 };
  return { state: state as Mark['state'], salt: parseInt(salt, 16) };
}

function writeMark(file: string, { state, salt }: Mark): void {
  const path = markFileOf(file);
  const isNew = !existsSync(path);
  const fd = openSync(path, isNew ? 'w' : 'r+', 0o600);
  try {
    writeSync(fd, `granary database ${state.padEnd(6)} ${salt.toString(16).padStart(8, '0')}\n`, 0);
    fdatasyncSync(fd);
  } finally {
    closeSync(fd);
  }
  if (isNew) syncFolderOf(path);
}

/** A name is durable once its folder is. */
export function syncFolderOf(path: string): void {
  const fd = openSync(dirname(path), 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function saltOfLog(file: string): number | undefined {
  if (!existsSync(`${file}-wal`)) return undefined;
  const fd = openSync(`${file}-wal`, 'r');
  try {
    const header = Buffer.alloc(LOG_HEADER_BYTES);
    const isWhole = readSync(fd, header, 0, LOG_HEADER_BYTES, 0) === LOG_HEADER_BYTES;
    // The last bit of the magic number is the byte order of the checksums.
    return isWhole && (header.readUInt32BE(0) & ~1) === LOG_MAGIC ? header.readUInt32BE(LOG_SALT_AT) : undefined;
  } finally {
    closeSync(fd);
  }
}
