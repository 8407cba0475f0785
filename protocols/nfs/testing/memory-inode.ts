import {
  Access,
  FileError,
  type Acl,
  type AclEntry,
  type Attributes,
  type Change,
  type Credentials,
  type Timestamp,
} from '../filesystem.ts';
import type { MemoryData } from './memory-data.ts';
import type { MemoryDirectory } from './memory-directory.ts';

const STICKY = 0o1000;
const DIRECTORY_BYTES = 4096;

export interface Inode {
  readonly inode: number;
  readonly generation: number;
  readonly type: Attributes['type'];
  readonly data: MemoryData;
  readonly entries: MemoryDirectory;
  readonly target: Buffer;
  readonly device: Attributes['device'];
  readonly created: Timestamp;
  parent: number;
  mode: number;
  links: number;
  uid: number;
  gid: number;
  accessed: Timestamp;
  modified: Timestamp;
  changed: Timestamp;
  change: bigint;
  holds: number;
  acl: Acl;
}

export function attributesOf(node: Inode): Attributes {
  const { inode, generation, type, mode, links, uid, gid, device, accessed, modified, changed, created, change } = node;
  const isFile = type === 'file';
  const sizeBytes = isFile ? node.data.size : type === 'symlink' ? node.target.length : DIRECTORY_BYTES;
  const allocatedBytes = isFile ? node.data.allocatedBytes : DIRECTORY_BYTES;
  const times = { accessed, modified, changed, created };
  return { inode, generation, type, mode, links, uid, gid, sizeBytes, allocatedBytes, device, ...times, change };
}

export function unchanged(node: Inode): Change {
  return { before: attributesOf(node), after: attributesOf(node) };
}

export function isMember({ gid, groups }: Credentials, group: number): boolean {
  return gid === group || groups.includes(group);
}

export function granted(as: Credentials, { mode, uid, gid, type, acl }: Inode): number {
  if (as.uid === 0) return type === 'directory' || (mode & 0o111) !== 0 ? 7 : 6;
  if (as.uid === uid) return (mode >> 6) & 7;
  if (acl.access.length > 0) return grantedByAcl(as, gid, acl.access);
  return isMember(as, gid) ? (mode >> 3) & 7 : mode & 7;
}

function grantedByAcl(as: Credentials, gid: number, entries: readonly AclEntry[]): number {
  const mask = entries.find(({ tag }) => tag === 'mask')?.permissions ?? 7;
  const user = entries.find(({ tag, id }) => tag === 'user' && id === as.uid);
  if (user !== undefined) return user.permissions & mask;
  const groups = entries.filter(
    ({ tag, id }) => (tag === 'owning-group' && isMember(as, gid)) || (tag === 'group' && isMember(as, id ?? -1)),
  );
  if (groups.length > 0) return groups.reduce((all, { permissions }) => all | permissions, 0) & mask;
  return entries.find(({ tag }) => tag === 'other')?.permissions ?? 0;
}

export function mustWrite(as: Credentials, node: Inode): void {
  if ((granted(as, node) & Access.write) === 0) throw new FileError('EACCES');
}

export function mustOwnIfSticky(as: Credentials, directory: Inode, node: Inode): void {
  const isFree = (directory.mode & STICKY) === 0 || as.uid === 0 || as.uid === node.uid || as.uid === directory.uid;
  if (!isFree) throw new FileError('EPERM');
}
