import { ROOT_INODE } from '../store/layout.ts';
import { type Credentials, SET_GID } from './access.ts';
import type { FileType, Inode, Time } from './inode.ts';

const MODE_BITS = 0o7777;

export interface NewNode {
  readonly type: FileType;
  readonly mode: number;
  readonly device?: { readonly major: number; readonly minor: number };
  /** Of a symbolic link. */
  readonly target?: Buffer;
}

/** In a set-group-id directory the group is the directory's; the project always is. */
export function newInode(
  identity: { readonly inode: number; readonly generation: number },
  credentials: Credentials,
  parent: Inode,
  node: NewNode,
  now: Time,
): Inode {
  const isDirectory = node.type === 'directory';
  const inheritsGroup = (parent.mode & SET_GID) !== 0;
  return {
    ...blankInode(identity, node.type, now),
    mode: (node.mode & MODE_BITS) | (isDirectory && inheritsGroup ? SET_GID : 0),
    uid: credentials.uid,
    gid: inheritsGroup ? parent.gid : credentials.gid,
    project: parent.project,
    size: node.target?.length ?? 0,
    parent: parent.inode,
    major: node.device?.major ?? 0,
    minor: node.device?.minor ?? 0,
  };
}

/** The directory that everything is in. */
export function newRoot(
  owner: { readonly mode: number; readonly uid: number; readonly gid: number },
  now: Time,
): Inode {
  const { mode, uid, gid } = owner;
  const identity = { inode: ROOT_INODE, generation: 1 };
  return { ...blankInode(identity, 'directory', now), mode: mode & MODE_BITS, uid, gid, parent: ROOT_INODE };
}

function blankInode(
  identity: { readonly inode: number; readonly generation: number },
  type: FileType,
  now: Time,
): Inode {
  return {
    ...identity,
    type,
    mode: 0,
    uid: 0,
    gid: 0,
    project: 0,
    links: type === 'directory' ? 2 : 1,
    size: 0,
    blocks: 0,
    accessed: now,
    modified: now,
    changed: now,
    born: now,
    change: 1,
    parent: 0,
    cookie: 0,
    entries: 0,
    major: 0,
    minor: 0,
    isInline: false,
    isArchived: false,
    hasAcl: false,
    hasDefaultAcl: false,
  };
}
