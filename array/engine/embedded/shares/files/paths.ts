import { type Attributes, type Filesystem, FsError } from '@granary/storage/filesystem';

export const SUPERUSER = { uid: 0, gid: 0, groups: [] };

interface NamedPlace {
  readonly directory: Attributes;
  readonly name: Buffer;
}

/**
 * What is at a path. What is done here is done as the superuser, so symbolic links are not followed: a user who can make one
 * could lead it anywhere.
 */
export async function findPath(filesystem: Filesystem, path: string): Promise<Attributes> {
  let found = await filesystem.attributes(filesystem.root);
  for (const name of namesOf(path)) found = await filesystem.lookup(SUPERUSER, found.inode, name);
  return found;
}

/** The directory that a path ends in, and the last name of it. Directories that are missing are made. */
export async function makePlace(
  filesystem: Filesystem,
  path: string,
  make: (directory: Attributes, name: Buffer, depth: number) => Promise<Attributes>,
): Promise<NamedPlace> {
  const names = namesOf(path);
  const name = names.pop();
  if (name === undefined) throw new FsError('EINVAL', 'The path names no file.');
  let directory = await filesystem.attributes(filesystem.root);
  for (const [depth, one] of names.entries()) {
    const parent = directory;
    directory = (await lookup(filesystem, parent, one)) ?? (await make(parent, one, depth));
    if (directory.type !== 'directory')
      throw new FsError('ENOTDIR', `${path} leads through something that is no directory.`);
  }
  return { directory, name };
}

/** Undefined if there is no such name. */
export async function lookup(
  filesystem: Filesystem,
  directory: Attributes,
  name: Buffer,
): Promise<Attributes | undefined> {
  try {
    return await filesystem.lookup(SUPERUSER, directory.inode, name);
  } catch (error) {
    if (isFsError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

export function namesOf(path: string): Buffer[] {
  const names = path.split('/').filter((name) => name !== '');
  if (names.includes('.') || names.includes('..')) throw new FsError('EINVAL', `${path} must not hold . or ..`);
  return names.map((name) => Buffer.from(name));
}

export function isFsError(error: unknown, ...codes: FsError['code'][]): boolean {
  return error instanceof FsError && codes.includes(error.code);
}
