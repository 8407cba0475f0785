import assert from 'node:assert/strict';
import type { Filesystem } from '../filesystem.ts';
import type { FilesystemModel, ModelNode } from './filesystem-model.ts';
import { contentsOf, SUPERUSER } from './operations.ts';

/** The properties of a file to compare. */
export interface Described {
  readonly type: string;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly links: number;
  readonly size: number;
  readonly content: Buffer;
  readonly isArchived: boolean;
  readonly target: string;
  readonly xattrs: readonly (readonly [string, string])[];
  /** The same for all names of one file. */
  readonly identity: string;
}

export type Description = Map<string, Described>;

export function describeModel(model: FilesystemModel, below = ''): Description {
  const found: Description = new Map();
  const first = new Map<ModelNode, string>();
  for (const [path, node] of [...model.paths()].sort(byPath)) {
    if (!path.startsWith(below)) continue;
    if (!first.has(node)) first.set(node, path);
    found.set(path, {
      type: node.type,
      mode: node.mode,
      uid: node.uid,
      gid: node.gid,
      links: node.links,
      size: node.type === 'symlink' ? node.target.length : node.type === 'directory' ? 4096 : node.content.length,
      content: node.content,
      isArchived: node.isArchived,
      target: node.target,
      xattrs: [...node.xattrs].sort(),
      identity: first.get(node) as string,
    });
  }
  return found;
}

/** Reads everything from a directory on. */
export async function describeFilesystem(filesystem: Filesystem, below = ''): Promise<Description> {
  const inodes = new Map<string, number>();
  const start = below === '' ? filesystem.root : (await filesystem.resolve(SUPERUSER, Buffer.from(below))).inode;
  await collect(filesystem, below, start, inodes);
  const found: Description = new Map();
  const first = new Map<number, string>();
  for (const [path, inode] of [...inodes].sort(byPath)) {
    if (!first.has(inode)) first.set(inode, path);
    const known = (await filesystem.pathOf(inode)).toString();
    assert.equal(inodes.get(known === '/' ? '' : known), inode, `${path} has another path on record: ${known}`);
    found.set(path, await describe(filesystem, inode, first.get(inode) as string));
  }
  return found;
}

async function collect(filesystem: Filesystem, path: string, inode: number, into: Map<string, number>): Promise<void> {
  into.set(path, inode);
  const { type } = await filesystem.attributes(inode);
  if (type !== 'directory') return;
  for (let cookie = 0, isEnd = false; !isEnd;) {
    const page = await filesystem.readDirectory(SUPERUSER, inode, cookie, 3);
    isEnd = page.isEnd;
    for (const entry of page.entries) {
      cookie = entry.cookie;
      await collect(filesystem, `${path}/${entry.name.toString()}`, entry.inode, into);
    }
  }
}

async function describe(filesystem: Filesystem, inode: number, identity: string): Promise<Described> {
  const { type, mode, uid, gid, links, size, isArchived } = await filesystem.attributes(inode);
  const content = type === 'file' ? await contentsOf(filesystem, inode) : Buffer.alloc(0);
  const target = type === 'symlink' ? (await filesystem.readLink(inode)).toString() : '';
  const names = await filesystem.xattrs.list(SUPERUSER, inode);
  const xattrs: [string, string][] = [];
  for (const name of names) {
    xattrs.push([name.toString(), (await filesystem.xattrs.get(SUPERUSER, inode, name)).toString()]);
  }
  return { type, mode, uid, gid, links, size, content, isArchived, target, xattrs: xattrs.sort(), identity };
}

function byPath([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}
