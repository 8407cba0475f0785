import { FsError } from '../errors.ts';
import type { Reader, Transaction } from '../store/transaction.ts';
import { type Credentials, isSuperuser, MAY_READ, MAY_WRITE, requireAccess, requireOwner } from './access.ts';
import { ACL_NAMES, type AclKind, applyAcl, encodeAcl, parseAcl, readAcl } from './acl.ts';
import { type Context, requireSpace } from './context.ts';
import { type Inode, loadInode, saveInode, stamp } from './inode.ts';
import { checkXattr, getXattr, listXattrs, putXattr, removeXattr } from './xattrs.ts';

/** Whether an attribute must not exist, or must exist. */
export type XattrMode = 'create' | 'replace' | 'set';

/**
 * Extended attributes as programs see them: `user.` for callers that may read or write the file, `trusted.` and
 * `security.` set by the superuser, and the ACLs, set by the owner.
 */
export function readXattr(reader: Reader, credentials: Credentials, number: number, name: Buffer): Buffer {
  const inode = loadInode(reader, number);
  const kind = aclKindOf(name);
  const value = kind === undefined ? readPlain(reader, credentials, inode, name) : readAclOf(reader, inode, kind);
  if (value === undefined) throw new FsError('ENODATA', 'The file has no such attribute.');
  return Buffer.from(value);
}

export function setXattr(
  transaction: Transaction,
  context: Context,
  credentials: Credentials,
  number: number,
  attribute: { readonly name: Buffer; readonly value: Buffer; readonly mode: XattrMode },
): void {
  const { name, value, mode } = attribute;
  const inode = loadInode(transaction, number);
  checkXattr(name, value);
  requireChange(transaction, credentials, inode, name);
  requireSpace(context);
  const isThere = getXattr(transaction, number, name) !== undefined;
  if (mode === 'create' && isThere) throw new FsError('EEXIST', 'The file has this attribute already.');
  if (mode === 'replace' && !isThere) throw new FsError('ENODATA', 'The file has no such attribute.');
  const kind = aclKindOf(name);
  if (kind === undefined) putXattr(transaction, inode, name, value);
  else applyAcl(transaction, inode, kind, parseAcl(value));
  stamp(inode, context.now(), false);
  saveInode(transaction, inode);
}

export function dropXattr(
  transaction: Transaction,
  context: Context,
  credentials: Credentials,
  number: number,
  name: Buffer,
): void {
  const inode = loadInode(transaction, number);
  requireChange(transaction, credentials, inode, name);
  const kind = aclKindOf(name);
  if (kind !== undefined) applyAcl(transaction, inode, kind, undefined);
  else if (!removeXattr(transaction, inode, name)) throw new FsError('ENODATA', 'The file has no such attribute.');
  stamp(inode, context.now(), false);
  saveInode(transaction, inode);
}

export function xattrNames(reader: Reader, credentials: Credentials, number: number): Buffer[] {
  loadInode(reader, number);
  const names = listXattrs(reader, number);
  return isSuperuser(credentials) ? names : names.filter((name) => spaceOf(name) !== 'trusted');
}

function readPlain(reader: Reader, credentials: Credentials, inode: Inode, name: Buffer): Buffer | undefined {
  const space = spaceOf(name);
  if (space === 'user') requireAccess(reader, credentials, inode, MAY_READ);
  if (space === 'trusted' && !isSuperuser(credentials)) return undefined;
  return getXattr(reader, inode.inode, name);
}

function readAclOf(reader: Reader, inode: Inode, kind: AclKind): Buffer | undefined {
  const acl = readAcl(reader, inode.inode, kind);
  return acl && encodeAcl(acl);
}

function requireChange(reader: Reader, credentials: Credentials, inode: Inode, name: Buffer): void {
  const space = spaceOf(name);
  if (aclKindOf(name) !== undefined) {
    requireOwner(credentials, inode);
  } else if (space === 'user') {
    if (inode.type !== 'file' && inode.type !== 'directory') {
      throw new FsError('EPERM', 'Only files and directories have attributes of users.');
    }
    requireAccess(reader, credentials, inode, MAY_WRITE);
  } else if (space === 'trusted' || space === 'security') {
    if (!isSuperuser(credentials)) throw new FsError('EPERM', `Only the superuser sets ${space} attributes.`);
  } else {
    throw new FsError('EINVAL', 'Names of attributes begin with user, trusted or security and a dot.');
  }
}

function aclKindOf(name: Buffer): AclKind | undefined {
  if (name.equals(ACL_NAMES.access)) return 'access';
  return name.equals(ACL_NAMES.default) ? 'default' : undefined;
}

function spaceOf(name: Buffer): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '' : name.toString('latin1', 0, dot);
}
