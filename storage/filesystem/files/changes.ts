import type { Transaction } from '../store/transaction.ts';
import {
  type Credentials,
  isMember,
  isOwner,
  isSuperuser,
  MAY_WRITE,
  modeWithoutSetId,
  requireAccess,
  requireGiving,
  requireOwner,
  SET_GID,
} from './access.ts';
import { adaptAclToMode } from './acl.ts';
import type { Context } from './context.ts';
import {
  attributesOf,
  type Changed,
  changedOf,
  type Inode,
  loadInode,
  saveInode,
  stamp,
  type Time,
  usedBytesOf,
} from './inode.ts';
import { moveQuota, type QuotaOwner } from './quotas.ts';

const MODE_BITS = 0o7777;

/** The attributes that can be set. */
export interface AttributeChanges {
  readonly size?: number;
  readonly mode?: number;
  readonly uid?: number;
  readonly gid?: number;
  readonly accessed?: Time | 'now';
  readonly modified?: Time | 'now';
}

export function changeAttributes(
  transaction: Transaction,
  context: Context,
  credentials: Credentials,
  number: number,
  changes: AttributeChanges,
): Changed {
  const inode = loadInode(transaction, number);
  const before = attributesOf(inode);
  applyChanges(transaction, context, credentials, inode, changes);
  stamp(inode, context.now(), false);
  saveInode(transaction, inode);
  return changedOf(before, inode);
}

/** All but the size. The caller stamps and saves the inode. */
export function applyChanges(
  transaction: Transaction,
  context: Context,
  credentials: Credentials,
  inode: Inode,
  changes: AttributeChanges,
): void {
  if (changes.uid !== undefined || changes.gid !== undefined) changeOwner(transaction, credentials, inode, changes);
  if (changes.mode !== undefined) changeMode(transaction, credentials, inode, changes.mode);
  if (changes.accessed !== undefined || changes.modified !== undefined) {
    changeTimes(transaction, context, credentials, inode, changes);
  }
}

/** Moves a file to another quota project. Files in a directory are not moved with it; they are moved one by one. */
export function changeProject(transaction: Transaction, context: Context, number: number, project: number): void {
  const inode = loadInode(transaction, number);
  charge(transaction, inode, { uid: inode.uid, gid: inode.gid, project });
  inode.project = project;
  stamp(inode, context.now(), false);
  saveInode(transaction, inode);
}

function changeMode(transaction: Transaction, credentials: Credentials, inode: Inode, mode: number): void {
  requireOwner(credentials, inode);
  const keepsGroup = isSuperuser(credentials) || isMember(credentials, inode.gid);
  inode.mode = mode & MODE_BITS & (keepsGroup ? MODE_BITS : ~SET_GID);
  adaptAclToMode(transaction, inode);
}

function changeOwner(
  transaction: Transaction,
  credentials: Credentials,
  inode: Inode,
  { uid = inode.uid, gid = inode.gid }: AttributeChanges,
): void {
  requireOwner(credentials, inode);
  requireGiving(credentials, inode, { uid, gid });
  charge(transaction, inode, { uid, gid, project: inode.project });
  inode.uid = uid;
  inode.gid = gid;
  if (inode.type !== 'directory') inode.mode = modeWithoutSetId(inode);
}

function charge(transaction: Transaction, inode: Inode, to: QuotaOwner): void {
  moveQuota(transaction, inode, to, usedBytesOf(inode), 1);
}

/** The owner may set any time; a user with write permission may set the current time. */
function changeTimes(
  transaction: Transaction,
  context: Context,
  credentials: Credentials,
  inode: Inode,
  { accessed, modified }: AttributeChanges,
): void {
  const isNow = (accessed ?? 'now') === 'now' && (modified ?? 'now') === 'now';
  if (!isOwner(credentials, inode)) {
    if (!isNow) requireOwner(credentials, inode);
    requireAccess(transaction, credentials, inode, MAY_WRITE);
  }
  if (accessed !== undefined) inode.accessed = accessed === 'now' ? context.now() : accessed;
  if (modified !== undefined) inode.modified = modified === 'now' ? context.now() : modified;
}
