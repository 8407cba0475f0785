import { FsError } from '../errors.ts';
import { ROOT_INODE } from '../store/layout.ts';
import type { Reader } from '../store/transaction.ts';
import type { Credentials } from './access.ts';
import { nameAt } from './entries.ts';
import { type Inode, loadDirectory, loadInode } from './inode.ts';
import type { FilesystemNamespace } from './filesystem-namespace.ts';

const PATH_BYTES_MAX = 4096;
const LINKS_FOLLOWED_MAX = 40;
const SLASH = 0x2f;
const SEPARATOR = Buffer.from('/');

/**
 * Resolves a path from a directory on, through symbolic links; absolute ones start at the root of the filesystem. The
 * last name is followed as well, unless the link itself is wanted.
 */
export function resolvePath(
  reader: Reader,
  namespace: FilesystemNamespace,
  credentials: Credentials,
  path: Buffer,
  options: { readonly from?: number; readonly followsLast?: boolean } = {},
): Inode {
  refuseLong(path);
  let current = loadDirectory(reader, path[0] === SLASH ? ROOT_INODE : (options.from ?? ROOT_INODE));
  let rest = split(path);
  let followed = 0;
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    const next = namespace.lookup(reader, credentials, current.inode, name);
    const isFollowed = rest.length > 0 || options.followsLast !== false || path.at(-1) === SLASH;
    if (next.type !== 'symlink' || !isFollowed) {
      current = next;
      continue;
    }
    if (++followed > LINKS_FOLLOWED_MAX) throw new FsError('ELOOP', 'The path leads through too many symbolic links.');
    const target = namespace.readTarget(reader, next.inode);
    if (target[0] === SLASH) current = loadDirectory(reader, ROOT_INODE);
    rest = [...split(target), ...rest];
  }
  if (path.at(-1) === SLASH && current.type !== 'directory') throw new FsError('ENOTDIR', 'This is no directory.');
  return current;
}

/** The path of an inode; of a file with several names, one of them. */
export function pathOf(reader: Reader, number: number): Buffer {
  const names: Buffer[] = [];
  for (let inode = loadInode(reader, number); inode.inode !== ROOT_INODE; inode = loadInode(reader, inode.parent)) {
    if (inode.cookie === 0) throw new FsError('ENOENT', 'The file has no name any more.');
    names.push(nameAt(reader, inode.parent, inode.cookie), SEPARATOR);
  }
  return names.length === 0 ? Buffer.from(SEPARATOR) : Buffer.concat(names.reverse());
}

function refuseLong(path: Buffer): void {
  if (path.length === 0) throw new FsError('ENOENT', 'The path is empty.');
  if (path.length >= PATH_BYTES_MAX) throw new FsError('ENAMETOOLONG', `A path has less than ${PATH_BYTES_MAX} bytes.`);
}

function split(path: Buffer): Buffer[] {
  const names: Buffer[] = [];
  for (let at = 0; at < path.length;) {
    const slash = path.indexOf(SLASH, at);
    const end = slash < 0 ? path.length : slash;
    if (end > at) names.push(path.subarray(at, end));
    at = end + 1;
  }
  return names;
}
