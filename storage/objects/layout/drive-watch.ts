import { mkdir, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readIdentity } from '../drives/identity.ts';
import { NEW_STAMP_FILE, STAMP_FILE } from './index-stamp.ts';

/**
 * What a look at a drive's folder found. `empty`: a folder with nothing in it; `missing`: no folder; `silent`: no answer
 * yet; `failing`: it is there but must not be used.
 */
export type Sight =
  | { readonly found: 'there'; readonly number: number }
  | { readonly found: 'empty' | 'missing' | 'silent' }
  | { readonly found: 'failing'; readonly reason: string };

const PROBE_FILE = 'probe';
const INSPECTION_MS_MAX = 5000;
/** Disks under load take seconds, and tens of them at worst. */
export const FIRST_INSPECTION_MS_MAX = 30_000;
const HARMLESS = new Set(['lost+found', 'drive.json.new', STAMP_FILE, NEW_STAMP_FILE, PROBE_FILE]);

/** Looks at the identities of drives, and does not wait for long for folders that do not answer. */
export class DriveWatch {
  /** A look that hangs holds one of the few threads that do such work: it is not begun a second time. */
  readonly #inspections = new Map<string, Promise<Sight>>();

  inspect(folder: string, uuid: string, longestMs = INSPECTION_MS_MAX): Promise<Sight> {
    const name = `${uuid} ${folder}`;
    let look = this.#inspections.get(name);
    if (!look) {
      look = identify(folder, uuid).finally(() => this.#inspections.delete(name));
      this.#inspections.set(name, look);
    }
    return inTime(look, longestMs);
  }
}

/** A drive that failed has to show that it takes bytes before it is used again. */
export async function probe(folder: string): Promise<Sight | undefined> {
  return inTime(writeProbe(folder), INSPECTION_MS_MAX);
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
    // A folder with files but no identity is not overwritten: an administrator has to look at it.
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

/** When this thread itself stood still, answers that came meanwhile are heard first. */
async function inTime<T>(work: Promise<T>, longestMs: number): Promise<T | Sight> {
  const { promise: late, resolve } = Promise.withResolvers<Sight>();
  const give = () => resolve({ found: 'silent' });
  const timer = setTimeout(() => setImmediate(() => setImmediate(give)), longestMs);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
