import type { Dirent } from 'node:fs';
import { open, mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bytes } from '@granary/kernel';

const FILE = /^([0-9a-f-]{36})\.drive$/;

interface DriveOnNode {
  readonly uuid: string;
  readonly node: string;
  readonly capacity: Bytes;
}

export interface FoundFile {
  readonly node: string;
  readonly name: string;
  /** Absent when the name is not one a drive's file has. */
  readonly uuid: string | undefined;
  readonly path: string;
}

/**
 * What holds the bytes of drives, one folder a storage node: a sparse file as large as the drive, or a folder for the
 * drives of object storage.
 */
export class DriveFiles {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  pathOf({ node, uuid }: Omit<DriveOnNode, 'capacity'>): string {
    return join(this.#folder, node, `${uuid}.drive`);
  }

  /** Made afresh: nothing a crash left behind is ever handed to an array. On disk when it resolves. */
  async make(drives: readonly DriveOnNode[], form: 'file' | 'folder' = 'file'): Promise<void> {
    for (const drive of drives) {
      const path = this.pathOf(drive);
      await mkdir(join(this.#folder, drive.node), { recursive: true, mode: 0o700 });
      await rm(path, { recursive: true, force: true });
      if (form === 'folder') await mkdir(path, { mode: 0o700 });
      else await makeSparse(path, drive.capacity);
    }
    for (const node of new Set(drives.map(({ node }) => node))) await syncFolder(join(this.#folder, node));
  }

  async remove(drives: readonly Omit<DriveOnNode, 'capacity'>[]): Promise<void> {
    for (const drive of drives) await rm(this.pathOf(drive), { recursive: true, force: true });
  }

  /** What is wrong with the file or folder of a drive that should have one; undefined when nothing is. */
  async problemOf(drive: DriveOnNode): Promise<string | undefined> {
    const expected = drive.capacity;
    try {
      const found = await stat(this.pathOf(drive));
      const { size } = found;
      return found.isDirectory() || size === expected ? undefined : `its file has ${size} bytes, not ${expected}`;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return code === 'ENOENT' ? 'its file is missing' : `its file cannot be read (${code})`;
    }
  }

  /** Every file below the folder, known or not. */
  async list(): Promise<FoundFile[]> {
    const found: FoundFile[] = [];
    for (const entry of await entriesIn(this.#folder)) {
      const path = join(this.#folder, entry.name);
      const files = entry.isDirectory() ? await entriesIn(path) : [];
      if (!entry.isDirectory()) found.push({ node: '', name: entry.name, uuid: undefined, path });
      for (const { name } of files)
        found.push({ node: entry.name, name, uuid: FILE.exec(name)?.[1], path: join(path, name) });
    }
    return found;
  }

  async nodes(): Promise<string[]> {
    return (await entriesIn(this.#folder)).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  }
}

async function makeSparse(path: string, bytes: number): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.truncate(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function entriesIn(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** A new name is durable once its folder is. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
