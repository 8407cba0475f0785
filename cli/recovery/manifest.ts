import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Verifier } from '@granary/kernel';
import { CommandFailure, exitCodes } from '../exit.ts';

export interface BackedUpFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Wrapped with a key that the passphrase of the backup gives. */
  readonly wrapped?: true;
}

export interface BackedUpArray {
  readonly name: string;
  readonly displayName: string;
  /** Paths of its drives in the backup; none when they are not included. */
  readonly drives: readonly string[];
  /** Why its drives, or its databases as they are now, are not included. */
  readonly missing: readonly string[];
}

export interface Manifest {
  readonly version: number;
  readonly granary: string;
  readonly madeAt: string;
  readonly source: string;
  readonly wrapping?: Verifier;
  readonly files: readonly BackedUpFile[];
  readonly arrays: readonly BackedUpArray[];
}

export const MANIFEST_VERSION = 1;
export const MANIFEST = 'manifest.json';
export const PREFIX = 'granary-';
export const UNFINISHED = '.unfinished';

/** A backup, or the newest one of a folder that holds several. */
export function findBackup(folder: string): { folder: string; manifest: Manifest } {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  if (names.includes(MANIFEST)) return { folder, manifest: readManifest(join(folder, MANIFEST)) };
  const newest = names
    .filter((name) => name.startsWith(PREFIX) && !name.endsWith(UNFINISHED))
    .sort()
    .at(-1);
  if (newest === undefined)
    throw new CommandFailure(exitCodes.notFound, `${folder} holds no finished backup; make one with granary backup.`);
  return findBackup(join(folder, newest));
}

function readManifest(file: string): Manifest {
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Manifest;
  if (manifest.version === MANIFEST_VERSION) {
    refuseOutside(manifest, file);
    return manifest;
  }
  const problem = `${file} is of version ${manifest.version}; this release knows ${MANIFEST_VERSION}.`;
  throw new CommandFailure(exitCodes.failed, problem);
}

/** A backup from an unknown source must not write outside the folder it is restored to. */
function refuseOutside({ files, arrays }: Manifest, file: string): void {
  const paths = [...files.map(({ path }) => path), ...arrays.flatMap(({ drives }) => drives)];
  const outside = paths.find((path) => isAbsolute(path) || path.split(/[\\/]/).includes('..'));
  if (outside !== undefined)
    throw new CommandFailure(exitCodes.failed, `${file} names ${outside}, which is outside the backup.`);
}
