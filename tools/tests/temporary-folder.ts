import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';

const MEMORY_FOLDER = '/dev/shm';
const MEMORY_BYTES_MIN = 6 * 1024 ** 3;

/**
 * A folder for what the tests of a run write; it goes when this process ends. In memory where there is room: thousands
 * of synced writes then do not wait for a disk that others keep busy.
 */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(hasMemory() ? MEMORY_FOLDER : tmpdir(), 'granary-tests-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  return folder;
}

function hasMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY_FOLDER);
    return Math.min(bavail * bsize, freemem()) >= MEMORY_BYTES_MIN;
  } catch {
    return false;
  }
}
