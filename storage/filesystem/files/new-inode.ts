import { FsError } from '../errors.ts';
import { ROOT_INODE } from '../store/layout.ts';
import { type Credentials, isMember, isSuperuser, requireGiving, SET_GID } from './access.ts';
import { type FileType, type Inode, refuseTooLarge, type Time } from './inode.ts';

const MODE_BITS = 0o7777;
const TARGET_BYTES_MAX = 4095;
const GROUP_EXECUTE = 0o010;

export interface NewNode {
  readonly type: FileType;
  readonly mode: number;
  readonly device?: { readonly major: number; readonly minor: number };
  /** Of a symbolic link. */
  readonly target?: Buffer;
  /** Of a regular file, which is a hole then. */
  readonly size?: number;
  /** As if set at once after creation: a caller without permission is refused, and nothing is created. */
  readonly uid?: number;
  readonly gid?: number;
  readonly accessed?: Time | 'now';
  readonly modified?: Time | 'now';
}

/** Refuses invalid requests, independent of directory and permissions. */
export function refuseNonsense({ type, target, size = 0 }: NewNode): void {
  if ((type === 'symlink') !== (target !== undefined)) {
    throw new FsError('EINVAL', 'A symbolic link, and nothing else, has a target.');
  }
  if (target?.length === 0) throw new FsError('ENOENT', 'The target of a symbolic link is empty.');
  if (target !== undefined && target.length > TARGET_BYTES_MAX) {
    throw new FsError('ENAMETOOLONG', `The target of a symbolic link has ${TARGET_BYTES_MAX} bytes at most.`);
  }
  if (size > 0 && type !== 'file') throw new FsError('EINVAL', 'Only a regular file is given a size.');
  refuseTooLarge(size);
}

/** In a set-group-id directory the group is the directory's; the project always is. */
export function newInode(
  identity: { readonly inode: number; readonly generation: number },
  credentials: Credentials,
  parent: Inode,
  node: NewNode,
  now: Time,
): Inode {
  const inheritsGroup = (parent.mode & SET_GID) !== 0;
  const gid = inheritsGroup ? parent.gid : credentials.gid;
  const given = { uid: node.uid ?? credentials.uid, gid: node.gid ?? gid };
  requireGiving(credentials, { uid: credentials.uid, gid }, given);
  return {
    ...blankInode(identity, node.type, now),
    ...given,
    mode: modeOf(node, credentials, inheritsGroup, given.gid),
    accessed: timeOf(node.accessed, now),
    modified: timeOf(node.modified, now),
    project: parent.project,
    size: node.target?.length ?? node.size ?? 0,
    parent: parent.inode,
    major: node.device?.major ?? 0,
    minor: node.device?.minor ?? 0,
  };
}

/** The root directory. */
export function newRoot(
  owner: { readonly mode: number; readonly uid: number; readonly gid: number },
  now: Time,
): Inode {
  const { mode, uid, gid } = owner;
  const identity = { inode: ROOT_INODE, generation: 1 };
  return { ...blankInode(identity, 'directory', now), mode: mode & MODE_BITS, uid, gid, parent: ROOT_INODE };
}

/** The set-group-id bit is kept only if the creator is a member of the group. */
function modeOf({ type, mode }: NewNode, credentials: Credentials, inheritsGroup: boolean, gid: number): number {
  const wanted = mode & MODE_BITS;
  if (type === 'directory') return wanted | (inheritsGroup ? SET_GID : 0);
  const runsAsGroup = (wanted & SET_GID) !== 0 && (wanted & GROUP_EXECUTE) !== 0;
  return runsAsGroup && !isSuperuser(credentials) && !isMember(credentials, gid) ? wanted & ~SET_GID : wanted;
}

function timeOf(wanted: Time | 'now' | undefined, now: Time): Time {
  return wanted === undefined || wanted === 'now' ? now : wanted;
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
    xattrBytes: 0,
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
