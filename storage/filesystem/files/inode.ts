import { FsError } from '../errors.ts';
import { BLOCK_BYTES } from '../../units.ts';
import { KIND } from '../store/layout.ts';
import type { Reader, Transaction } from '../store/transaction.ts';

export interface Time {
  /** Since 1970; negative before. */
  readonly seconds: number;
  readonly nanoseconds: number;
}

/** The index is the number on disk. */
const TYPES = ['file', 'directory', 'symlink', 'block', 'character', 'fifo', 'socket'] as const;
export type FileType = (typeof TYPES)[number];

/** The attributes of a file. */
export interface Attributes {
  readonly inode: number;
  /** Distinguishes a file from another one that had the number before a volume was reverted. */
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
  /** Incremented by every change of contents or attributes. */
  readonly change: number;
  /** The directory that contains it; of a file with several names, one of them. */
  readonly parent: number;
  /** The contents are archived: see `archives`. */
  readonly isArchived: boolean;
  /** Of a device node. */
  readonly device: { readonly major: number; readonly minor: number };
}

/** The attributes after an operation, and those just before it: no other change happened in between. */
export interface Changed extends Attributes {
  readonly before: Attributes;
}

/** The new inode, and the directory that contains it. */
export interface Created extends Attributes {
  readonly directory: Changed;
}

/** A decoded inode; the caller that changes it saves it. */
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
  /** Bytes of its extended attributes and ACLs. */
  xattrBytes: number;
  accessed: Time;
  modified: Time;
  changed: Time;
  born: Time;
  change: number;
  parent: number;
  /** Of its name in the parent, or of one of its names; 0 if it has none. */
  cookie: number;
  /** The number of names in the directory. */
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

/** The bytes that quotas count, and that `du` shows. */
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
  const view = viewOf(bytes);
  const flags = bytes[1] as number;
  return {
    inode,
    type: typeOf(bytes[0] as number),
    isInline: (flags & FLAG_INLINE) !== 0,
    isArchived: (flags & FLAG_ARCHIVED) !== 0,
    hasAcl: (flags & FLAG_ACL) !== 0,
    hasDefaultAcl: (flags & FLAG_DEFAULT_ACL) !== 0,
    mode: view.getUint16(2, true),
    generation: view.getUint32(4, true),
    uid: view.getUint32(8, true),
    gid: view.getUint32(12, true),
    project: view.getUint32(16, true),
    links: view.getUint32(20, true),
    major: view.getUint32(24, true),
    minor: view.getUint32(28, true),
    size: view.getFloat64(32, true),
    blocks: view.getFloat64(40, true),
    change: view.getFloat64(48, true),
    parent: view.getFloat64(56, true),
    entries: view.getFloat64(64, true),
    accessed: timeAt(view, 72),
    modified: timeAt(view, 84),
    changed: timeAt(view, 96),
    born: timeAt(view, 108),
    cookie: view.getFloat64(120, true),
    xattrBytes: view.getUint32(128, true),
  };
}

function encode(inode: Inode): Buffer {
  const bytes = Buffer.alloc(INODE_BYTES);
  const view = viewOf(bytes);
  bytes[0] = typeNumber(inode.type);
  bytes[1] = flagsOf(inode);
  view.setUint16(2, inode.mode, true);
  view.setUint32(4, inode.generation, true);
  view.setUint32(8, inode.uid, true);
  view.setUint32(12, inode.gid, true);
  view.setUint32(16, inode.project, true);
  view.setUint32(20, inode.links, true);
  view.setUint32(24, inode.major, true);
  view.setUint32(28, inode.minor, true);
  view.setFloat64(32, inode.size, true);
  view.setFloat64(40, inode.blocks, true);
  view.setFloat64(48, inode.change, true);
  view.setFloat64(56, inode.parent, true);
  view.setFloat64(64, inode.entries, true);
  writeTime(view, 72, inode.accessed);
  writeTime(view, 84, inode.modified);
  writeTime(view, 96, inode.changed);
  writeTime(view, 108, inode.born);
  view.setFloat64(120, inode.cookie, true);
  view.setUint32(128, inode.xattrBytes, true);
  return bytes;
}

function flagsOf({ isInline, isArchived, hasAcl, hasDefaultAcl }: Inode): number {
  const acls = (hasAcl ? FLAG_ACL : 0) | (hasDefaultAcl ? FLAG_DEFAULT_ACL : 0);
  return (isInline ? FLAG_INLINE : 0) | (isArchived ? FLAG_ARCHIVED : 0) | acls;
}

function timeAt(view: DataView, at: number): Time {
  return { seconds: view.getFloat64(at, true), nanoseconds: view.getUint32(at + 8, true) };
}

function writeTime(view: DataView, at: number, time: Time): void {
  view.setFloat64(at, time.seconds, true);
  view.setUint32(at + 8, time.nanoseconds, true);
}

/** Reads and writes numbers in one step each: an inode is decoded for every entry of a listing. */
function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
