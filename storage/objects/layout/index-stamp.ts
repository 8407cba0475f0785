import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { syncFolder } from '../drives/files.ts';

/**
 * The index says where the pieces on the drives are, so it has to be the one they were written under. Every minute, and
 * when it is closed, the index counts one stamp more, durably, and then the number is written to every drive together with
 * the index's own. A drive whose stamp is ahead of the index proves that the index was put back to an earlier state; one of
 * another index, that it was replaced, emptied or removed. A crash leaves drives behind the index, never ahead of it.
 */
export interface IndexStamp {
  /** Number of the index, chosen at random when it is made. */
  readonly index: number;
  readonly count: number;
}

export const STAMP_FILE = 'index.stamp';
export const NEW_STAMP_FILE = `${STAMP_FILE}.new`;

/** Undefined where there is none, or a damaged one: the next takes its place. */
export async function readStamp(folder: string): Promise<IndexStamp | undefined> {
  const text = await readFile(join(folder, STAMP_FILE), 'latin1').catch(() => '');
  const [, index = '', count = '', sum] = /^index ([0-9]{1,15}) stamp ([0-9]{1,15}) ([0-9a-f]{8})\n$/.exec(text) ?? [];
  if (sum === undefined || checksumOf(Number(index), Number(count)) !== sum) return undefined;
  return { index: Number(index), count: Number(count) };
}

export async function writeStamp(folder: string, { index, count }: IndexStamp): Promise<void> {
  const file = await open(join(folder, NEW_STAMP_FILE), 'w', 0o600);
  try {
    await file.writeFile(`index ${index} stamp ${count} ${checksumOf(index, count)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(join(folder, NEW_STAMP_FILE), join(folder, STAMP_FILE));
  await syncFolder(folder);
}

function checksumOf(index: number, count: number): string {
  return crc32(`${index} ${count}`).toString(16).padStart(8, '0');
}
