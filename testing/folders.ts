import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';

/** A folder that is removed after the test. */
export function temporaryFolder(t: { after(action: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'granary-test-'));
  t.after(() => {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  });
  return folder;
}

/** A folder with a file system of its own, so small that it can be filled; undefined where the test may not mount. */
export function smallFileSystem(t: TestContext, megabytes: number): string | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'granary-test-'));
  let isMounted = false;
  t.after(() => {
    if (isMounted) execFileSync('umount', ['-l', folder], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder], { stdio: 'ignore' });
  } catch {
    return undefined;
  }
  isMounted = true;
  return folder;
}

/** Writes to the file until its disk is full, to the last block. */
export function fillDisk(file: string): void {
  const descriptor = openSync(file, 'a');
  try {
    for (const size of [2 ** 20, 4096]) {
      const piece = Buffer.alloc(size, 1);
      try {
        while (writeSync(descriptor, piece) === size);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      }
    }
  } finally {
    closeSync(descriptor);
  }
}
