import type { FilesystemStore } from '../store/filesystem-store.ts';
import { nameAt } from './entries.ts';
import { type Attributes, attributesOf, decode, type Inode, typeNumber } from './inode.ts';
import { pathOf } from './paths.ts';

const FILE = typeNumber('file');
const SLASH = Buffer.from('/');
const DIRECTORIES_MAX = 10_000;

export interface ListedInode {
  readonly attributes: Attributes;
  /** One of them if it has several names. */
  readonly path: Buffer;
}

/**
 * Regular files that have a name, by inode number. Paths are resolved one by one, so that a miss restarts one of them
 * only.
 */
export async function listInodes(store: FilesystemStore, after: number, max: number): Promise<ListedInode[]> {
  const inodes = await store.read(() => filesAfter(store, after, max));
  const listed: ListedInode[] = [];
  const directories = new Map<number, Buffer>();
  for (const inode of inodes) {
    const found = store.read(() => pathBelow(store, inode, directories));
    const path = found instanceof Promise ? await found : found;
    listed.push({ attributes: attributesOf(inode), path });
  }
  return listed;
}

function filesAfter({ tree }: FilesystemStore, after: number, max: number): Inode[] {
  const inodes: Inode[] = [];
  if (max <= 0) return inodes;
  tree.scanInodes(after + 1, (number, value) => {
    if (value[0] !== FILE) return true;
    const inode = decode(number, value);
    return inode.links === 0 || inodes.push(inode) < max;
  });
  return inodes;
}

/** Files created together are often in the same directory. */
function pathBelow({ tree }: FilesystemStore, { parent, cookie }: Inode, directories: Map<number, Buffer>): Buffer {
  let directory = directories.get(parent);
  if (directory === undefined) {
    const path = pathOf(tree, parent);
    directory = path.length === 1 ? path : Buffer.concat([path, SLASH]);
    if (directories.size >= DIRECTORIES_MAX) directories.clear();
    directories.set(parent, directory);
  }
  return Buffer.concat([directory, nameAt(tree, parent, cookie)]);
}
