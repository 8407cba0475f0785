import { accessSync, constants, lstatSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const UNUSED_MS_MAX = 30 * 24 * 3_600_000;

/** Where compiled code of arrays is kept by default. */
export function defaultCacheFolder(): string {
  return join(tmpdir(), `granary-${process.getuid?.() ?? 'cache'}`);
}

/**
 * The folder for this release's compiled code; that of releases long unused goes. Undefined where it cannot be had:
 * arrays then start more slowly. Write access to it decides what runs, so it must be ours alone.
 */
export function openCache(folder: string, version: string): string | undefined {
  const own = join(folder, `${version}-${process.version}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (!isOursAlone(folder)) return undefined;
    mkdirSync(own, { recursive: true, mode: 0o700 });
    accessSync(own, constants.W_OK);
    for (const other of readdirSync(folder).map((name) => join(folder, name)))
      if (other !== own && Date.now() - statSync(other).mtimeMs > UNUSED_MS_MAX) rmSync(other, { recursive: true });
    return own;
  } catch {
    return undefined;
  }
}

function isOursAlone(folder: string): boolean {
  const { uid, mode } = lstatSync(folder);
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
}
