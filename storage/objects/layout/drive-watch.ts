import { mkdir, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readIdentity } from '../drives/identity.ts';

/**
 * What a look at a drive's folder found. `empty`: a folder with nothing in it; `missing`: no folder; `failing`: it is
 * there but must not be used.
 */
export type Sight =
  | { readonly found: 'there'; readonly number: number }
  | { readonly found: 'empty' | 'missing' }
  | { readonly found: 'failing'; readonly reason: string };

const PROBE_FILE = 'probe';
const LONGEST_LOOK_MS = 5000;
const HARMLESS = new Set(['lost+found', 'drive.json.new', PROBE_FILE]);

/** Looks at the identity of a drive, and gives up on folders that do not answer. */
export async function lookAt(folder: string, uuid: string): Promise<Sight> {
  return inTime(identify(folder, uuid));
}

/** A drive that failed has to show that it takes bytes before it is used again. */
export async function probe(folder: string): Promise<Sight | undefined> {
  return inTime(writeProbe(folder));
}

/** Whether a missing folder could be made: its parent is there and takes it. */
export async function makeFolder(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch {
    return false;
  }
}

async function identify(folder: string, uuid: string): Promise<Sight> {
  try {
    const identity = await readIdentity(folder);
    if (!identity) return await withoutIdentity(folder);
    if (identity.uuid === uuid) return { found: 'there', number: identity.number };
    return { found: 'failing', reason: `the folder belongs to drive ${identity.uuid}` };
  } catch (error) {
    return { found: 'failing', reason: error instanceof Error ? error.message : String(error) };
  }
}

async function withoutIdentity(folder: string): Promise<Sight> {
  const info = await stat(folder).catch((error: unknown) => error as NodeJS.ErrnoException);
  if (info instanceof Error) {
    return info.code === 'ENOENT' ? { found: 'missing' } : { found: 'failing', reason: info.message };
  }
  if (!info.isDirectory()) return { found: 'failing', reason: 'it is not a folder' };
  for (const name of await readdir(folder)) {
    if (HARMLESS.has(name)) continue;
    // Bytes without a name are not ours to write over: somebody has to look at them.
    if (name !== 'segments') return { found: 'failing', reason: `it has no identity, but there is ${name} in it` };
    if ((await readdir(join(folder, name))).length > 0) {
      return { found: 'failing', reason: 'its identity is gone, but there are segments in it' };
    }
  }
  return { found: 'empty' };
}

async function writeProbe(folder: string): Promise<Sight | undefined> {
  const name = join(folder, PROBE_FILE);
  try {
    const file = await open(name, 'w', 0o600);
    try {
      await file.writeFile('probe');
      await file.sync();
    } finally {
      await file.close();
    }
    await unlink(name);
    return undefined;
  } catch (error) {
    return { found: 'failing', reason: error instanceof Error ? error.message : String(error) };
  }
}

async function inTime<T>(work: Promise<T>): Promise<T | Sight> {
  const { promise: late, resolve } = Promise.withResolvers<Sight>();
  const timer = setTimeout(() => resolve({ found: 'failing', reason: 'it does not answer' }), LONGEST_LOOK_MS);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
