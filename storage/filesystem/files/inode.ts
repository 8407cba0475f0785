import { FsError } from '../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { KIND } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/transaction.ts';

export interface Time {
  /** Since 1970; negative before. */
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** Their order is their number on disk. */
const TYPES = ['file', 'directory', 'symlink', 'block', 'character', 'fifo', 'socket'] as const;
export type FileType = (typeof TYPES)[number];

/** What there is to know about a file. */
export interface Attributes {
  readonly inode: number;
  /** Tells a file from another one that had the number before a volume was reverted. */
  readonly generation: number;
  readonly type: FileType;
  /** Permissions with the set-id and sticky bits: 12 bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** The quota project, inherited from the directory it was created in; 0 for none. */
  readonly project: number;
  readonly links: number;
  readonly size: number;
  /** Space that it occupies. */
  readonly usedBytes: number;
  readonly accessed: Time;
  readonly modified: Time;
  readonly changed: Time;
  readonly born: Time;
  /** Grows with every change of contents or attributes. */
  readonly change: number;
  /** The directory it is in; of a file with several names, one of them. */
  readonly parent: number;
  /** The contents are elsewhere: see `archives`. */
  readonly isArchived: boolean;
  /** Of a device node. */
  readonly device: { readonly major: number; readonly minor: number };
}

/** What a file or directory is after an operation, and what it was just before: nothing else happened in between. */
export interface Changed extends Attributes {
  readonly before: Attributes;
}

/** What was made, and the directory that it was made in. */
export interface Created extends Attributes {
  readonly directory: Changed;
}

/** A decoded inode; whoever changes it saves it. */
export interface Inode {
  readonly inode: number;
  readonly generation: number;
  readonly type: FileType;
  mode: number;
  uid: number;
  gid: number;
  project: number;
  links: number;
  size: number;
  /** Blocks that it owns. */
  blocks: number;
  /** That its extended attributes and ACLs take. */
  xattrBytes: number;
  accessed: Time;
  modified: Time;
  changed: Time;
  born: Time;
  change: number;
  parent: number;
  /** Of its name in the parent, or of one of its names; 0 if it has none. */
  cookie: number;
  /** How many names are in the directory. */
  entries: number;
  major: number;
  minor: number;
  /** The contents are an item of the tree. */
  isInline: boolean;
  isArchived: boolean;
  hasAcl: boolean;
  hasDefaultAcl: boolean;
}

export const FILE_BYTES_MAX = 2 ** 44;
const INODE_BYTES = 132;
const DIRECTORY_BYTES = 4096;
const FLAG_INLINE = 1;
const FLAG_ACL = 2;
const FLAG_DEFAULT_ACL = 4;
const FLAG_ARCHIVED = 8;

export function loadInode(reader: Reader, inode: number): Inode {
  const bytes = reader.get(inode, KIND.attributes, 0);
  if (bytes === undefined) throw new FsError('ESTALE', `There is no inode ${inode} any more.`);
  return decode(inode, bytes);
}

export function loadDirectory(reader: Reader, inode: number): Inode {
  const directory = loadInode(reader, inode);
  if (directory.type !== 'directory') throw new FsError('ENOTDIR', `Inode ${inode} is no directory.`);
  return directory;
}

export function saveInode(transaction: Transaction, inode: Inode): void {
  transaction.put(inode.inode, KIND.attributes, 0, encode(inode));
}

/** The attributes changed, and the contents if `isModified`. */
export function stamp(inode: Inode, now: Time, isModified: boolean): void {
  inode.change += 1;
  inode.changed = now;
  if (isModified) inode.modified = now;
}

export function refuseTooLarge(size: number): void {
  if (size > FILE_BYTES_MAX) throw new FsError('EFBIG', `A file has ${FILE_BYTES_MAX} bytes at most.`);
}

/** What counts for quotas, and what `du` shows. */
export function usedBytesOf(inode: Inode): number {
  return inode.blocks * BLOCK_BYTES + (inode.isInline ? inode.size : 0) + inode.xattrBytes;
}

export function attributesOf(inode: Inode): Attributes {
  return {
    inode: inode.inode,
    generation: inode.generation,
    type: inode.type,
    mode: inode.mode,
    uid: inode.uid,
    gid: inode.gid,
    project: inode.project,
    links: inode.links,
    size: inode.type === 'directory' ? DIRECTORY_BYTES : inode.size,
    usedBytes: usedBytesOf(inode),
    accessed: inode.accessed,
    modified: inode.modified,
    changed: inode.changed,
    born: inode.born,
    change: inode.change,
    parent: inode.parent,
    isArchived: inode.isArchived,
    device: { major: inode.major, minor: inode.minor },
  };
}

export function changedOf(before: Attributes, inode: Inode): Changed {
  return Object.assign(attributesOf(inode), { before });
}

export function typeNumber(type: FileType): number {
  return TYPES.indexOf(type);
}

export function typeOf(number: number): FileType {
  const type = TYPES[number];
  if (type === undefined) throw new FsError('EIO', `There is no file type ${number}: the filesystem is damaged.`);
  return type;
}

export function decode(inode: number, bytes: Buffer): Inode {
  const flags = bytes[1] as number;
  return {
    inode,
    type: typeOf(bytes[0] as number),
    isInline: (flags & FLAG_INLINE) !== 0,
    isArchived: (flags & FLAG_ARCHIVED) !== 0,
    hasAcl: (flags & FLAG_ACL) !== 0,
    hasDefaultAcl: (flags & FLAG_DEFAULT_ACL) !== 0,
    mode: bytes.readUInt16LE(2),
    generation: bytes.readUInt32LE(4),
    uid: bytes.readUInt32LE(8),
    gid: bytes.readUInt32LE(12),
    project: bytes.readUInt32LE(16),
    links: bytes.readUInt32LE(20),
    major: bytes.readUInt32LE(24),
    minor: bytes.readUInt32LE(28),
    size: bytes.readDoubleLE(32),
    blocks: bytes.readDoubleLE(40),
    change: bytes.readDoubleLE(48),
    parent: bytes.readDoubleLE(56),
    entries: bytes.readDoubleLE(64),
    accessed: timeAt(bytes, 72),
    modified: timeAt(bytes, 84),
    changed: timeAt(bytes, 96),
    born: timeAt(bytes, 108),
    cookie: bytes.readDoubleLE(120),
    xattrBytes: bytes.readUInt32LE(128),
  };
}

function encode(inode: Inode): Buffer {
  const bytes = Buffer.alloc(INODE_BYTES);
  bytes[0] = typeNumber(inode.type);
  bytes[1] = flagsOf(inode);
  bytes.writeUInt16LE(inode.mode, 2);
  bytes.writeUInt32LE(inode.generation, 4);
  bytes.writeUInt32LE(inode.uid, 8);
  bytes.writeUInt32LE(inode.gid, 12);
  bytes.writeUInt32LE(inode.project, 16);
  bytes.writeUInt32LE(inode.links, 20);
  bytes.writeUInt32LE(inode.major, 24);
  bytes.writeUInt32LE(inode.minor, 28);
  bytes.writeDoubleLE(inode.size, 32);
  bytes.writeDoubleLE(inode.blocks, 40);
  bytes.writeDoubleLE(inode.change, 48);
  bytes.writeDoubleLE(inode.parent, 56);
  bytes.writeDoubleLE(inode.entries, 64);
  writeTime(bytes, 72, inode.accessed);
  writeTime(bytes, 84, inode.modified);
  writeTime(bytes, 96, inode.changed);
  writeTime(bytes, 108, inode.born);
  bytes.writeDoubleLE(inode.cookie, 120);
  bytes.writeUInt32LE(inode.xattrBytes, 128);
  return bytes;
}

function flagsOf({ isInline, isArchived, hasAcl, hasDefaultAcl }: Inode): number {
  const acls = (hasAcl ? FLAG_ACL : 0) | (hasDefaultAcl ? FLAG_DEFAULT_ACL : 0);
  return (isInline ? FLAG_INLINE : 0) | (isArchived ? FLAG_ARCHIVED : 0) | acls;
}

function timeAt(bytes: Buffer, at: number): Time {
  return { seconds: bytes.readDoubleLE(at), nanoseconds: bytes.readUInt32LE(at + 8) };
}

function writeTime(bytes: Buffer, at: number, time: Time): void {
  bytes.writeDoubleLE(time.seconds, at);
  bytes.writeUInt32LE(time.nanoseconds, at + 8);
}
