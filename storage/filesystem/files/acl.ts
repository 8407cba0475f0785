import { FsError } from '../errors.ts';
import type { Reader, Transaction } from '../store/transaction.ts';
import type { Inode } from './inode.ts';
import { getXattr, putXattr, removeXattr } from './xattrs.ts';

/** POSIX ACLs, stored as extended attributes in the format of Linux. */
const TAGS = { 1: 'owner', 2: 'user', 4: 'owning-group', 8: 'group', 16: 'mask', 32: 'other' } as const;
const TAG_NUMBERS = { owner: 1, user: 2, 'owning-group': 4, group: 8, mask: 16, other: 32 } as const;
const VERSION = 2;
const HEADER_BYTES = 4;
const ENTRY_BYTES = 8;
const ENTRIES_MAX = 1024;
const NO_ID = 0xffffffff;

export interface AclEntry {
  readonly tag: keyof typeof TAG_NUMBERS;
  /** Of a named user or group. */
  readonly id: number;
  readonly permissions: number;
}

export type Acl = readonly AclEntry[];

export type AclKind = 'access' | 'default';

export const ACL_NAMES = {
  access: Buffer.from('system.posix_acl_access'),
  default: Buffer.from('system.posix_acl_default'),
} as const;

export function readAcl(reader: Reader, inode: number, kind: AclKind): Acl | undefined {
  const bytes = getXattr(reader, inode, ACL_NAMES[kind]);
  return bytes && parseAcl(bytes);
}

/** Throws for an invalid ACL. */
export function parseAcl(bytes: Buffer): Acl {
  const count = (bytes.length - HEADER_BYTES) / ENTRY_BYTES;
  if (bytes.length < HEADER_BYTES || bytes.readUInt32LE(0) !== VERSION || !Number.isInteger(count)) throw invalid();
  if (count > ENTRIES_MAX) throw invalid();
  const acl = Array.from({ length: count }, (_, index) => entryAt(bytes, HEADER_BYTES + index * ENTRY_BYTES));
  for (const tag of ['owner', 'owning-group', 'other'] as const) if (countOf(acl, tag) !== 1) throw invalid();
  const isExtended = countOf(acl, 'user') + countOf(acl, 'group') > 0;
  if (countOf(acl, 'mask') > 1 || (isExtended && countOf(acl, 'mask') === 0)) throw invalid();
  const names = acl.filter(({ tag }) => tag === 'user' || tag === 'group').map(({ tag, id }) => `${tag} ${id}`);
  if (new Set(names).size < names.length) throw invalid();
  return acl;
}

export function encodeAcl(acl: Acl): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES + acl.length * ENTRY_BYTES);
  bytes.writeUInt32LE(VERSION, 0);
  acl.forEach(({ tag, id, permissions }, index) => {
    const at = HEADER_BYTES + index * ENTRY_BYTES;
    bytes.writeUInt16LE(TAG_NUMBERS[tag], at);
    bytes.writeUInt16LE(permissions, at + 2);
    bytes.writeUInt32LE(tag === 'user' || tag === 'group' ? id : NO_ID, at + 4);
  });
  return bytes;
}

/** Sets or, without one, removes an ACL. The caller saves the inode. */
export function applyAcl(transaction: Transaction, inode: Inode, kind: AclKind, acl: Acl | undefined): void {
  const isDefault = kind === 'default';
  if (isDefault && acl !== undefined && inode.type !== 'directory') {
    throw new FsError('EACCES', 'Only a directory has a default ACL.');
  }
  if (kind === 'access' && acl !== undefined) inode.mode = modeOf(acl, inode.mode);
  // An ACL without named entries and mask is equivalent to the mode.
  const isKept = acl !== undefined && (isDefault || acl.length > 3);
  if (isKept) putXattr(transaction, inode, ACL_NAMES[kind], encodeAcl(acl));
  else removeXattr(transaction, inode, ACL_NAMES[kind]);
  if (isDefault) inode.hasDefaultAcl = isKept;
  else inode.hasAcl = isKept;
}

/** After chmod: the mode's group bits become the mask. */
export function adaptAclToMode(transaction: Transaction, inode: Inode): void {
  if (!inode.hasAcl) return;
  const acl = readAcl(transaction, inode.inode, 'access');
  if (acl === undefined) return;
  applyAcl(transaction, inode, 'access', withMode(acl, inode.mode));
}

/** A new file or directory inherits the directory's default ACL: it limits the mode instead of a umask. */
export function inheritAcl(transaction: Transaction, directory: Inode, inode: Inode): void {
  if (!directory.hasDefaultAcl || inode.type === 'symlink') return;
  const acl = readAcl(transaction, directory.inode, 'default');
  if (acl === undefined) return;
  if (inode.type === 'directory') applyAcl(transaction, inode, 'default', acl);
  const mode = inode.mode & (modeOf(acl, inode.mode) | ~0o777);
  applyAcl(transaction, inode, 'access', withMode(acl, mode));
}

function withMode(acl: Acl, mode: number): Acl {
  const hasMask = countOf(acl, 'mask') > 0;
  return acl.map((entry) => {
    if (entry.tag === 'owner') return { ...entry, permissions: (mode >> 6) & 7 };
    if (entry.tag === (hasMask ? 'mask' : 'owning-group')) return { ...entry, permissions: (mode >> 3) & 7 };
    return entry.tag === 'other' ? { ...entry, permissions: mode & 7 } : entry;
  });
}

function modeOf(acl: Acl, mode: number): number {
  const of = (tag: AclEntry['tag']): number | undefined => acl.find((entry) => entry.tag === tag)?.permissions;
  const group = of('mask') ?? of('owning-group') ?? 0;
  return (mode & ~0o777) | ((of('owner') ?? 0) << 6) | (group << 3) | (of('other') ?? 0);
}

function entryAt(bytes: Buffer, at: number): AclEntry {
  const tag = (TAGS as Record<number, AclEntry['tag'] | undefined>)[bytes.readUInt16LE(at)];
  const permissions = bytes.readUInt16LE(at + 2);
  if (tag === undefined || permissions > 7) throw invalid();
  return { tag, id: bytes.readUInt32LE(at + 4), permissions };
}

function countOf(acl: Acl, tag: AclEntry['tag']): number {
  return acl.filter((entry) => entry.tag === tag).length;
}

function invalid(): FsError {
  return new FsError('EINVAL', 'This is no valid POSIX ACL.');
}
