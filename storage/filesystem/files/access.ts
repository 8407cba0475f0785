import { FsError } from '../errors.ts';
import type { Reader } from '../store/transaction.ts';
import { type Acl, type AclEntry, readAcl } from './acl.ts';
import type { Inode } from './inode.ts';

/** The identity of the caller. */
export interface Credentials {
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
}

export const MAY_READ = 4;
export const MAY_WRITE = 2;
export const MAY_EXECUTE = 1;

const STICKY = 0o1000;
export const SET_GID = 0o2000;
const SET_UID = 0o4000;
const ANY_EXECUTE = 0o111;

/** All permission checks are in this file. */
export function isSuperuser({ uid }: Credentials): boolean {
  return uid === 0;
}

export function isOwner(credentials: Credentials, inode: Inode): boolean {
  return isSuperuser(credentials) || credentials.uid === inode.uid;
}

export function isMember({ gid, groups }: Credentials, group: number): boolean {
  return gid === group || groups.includes(group);
}

/** The requested permissions that the caller has. */
export function permitted(reader: Reader, credentials: Credentials, inode: Inode, wanted: number): number {
  if (isSuperuser(credentials)) {
    const executes = inode.type === 'directory' || (inode.mode & ANY_EXECUTE) !== 0;
    return executes ? wanted : wanted & ~MAY_EXECUTE;
  }
  if (inode.hasAcl) {
    const acl = readAcl(reader, inode.inode, 'access');
    if (acl !== undefined) return permittedByAcl(acl, credentials, inode, wanted);
  }
  if (credentials.uid === inode.uid) return (inode.mode >> 6) & wanted;
  if (isMember(credentials, inode.gid)) return (inode.mode >> 3) & wanted;
  return inode.mode & wanted;
}

export function requireAccess(reader: Reader, credentials: Credentials, inode: Inode, wanted: number): void {
  if (permitted(reader, credentials, inode, wanted) === wanted) return;
  throw new FsError('EACCES', `User ${credentials.uid} may not do this with inode ${inode.inode}.`);
}

/** For contents: the owner may continue to use a file whose permissions do not allow it, because it may be open. */
export function requireContents(reader: Reader, credentials: Credentials, inode: Inode, wanted: number): void {
  if (credentials.uid !== inode.uid) requireAccess(reader, credentials, inode, wanted);
}

export function requireOwner(credentials: Credentials, inode: Inode): void {
  if (isOwner(credentials, inode)) return;
  throw new FsError('EPERM', `Only the owner and the superuser may do this with inode ${inode.inode}.`);
}

/** Only the superuser changes owners; owners choose among their own groups. */
export function requireGiving(
  credentials: Credentials,
  from: { readonly uid: number; readonly gid: number },
  to: { readonly uid: number; readonly gid: number },
): void {
  if (isSuperuser(credentials)) return;
  if (to.uid === from.uid && (to.gid === from.gid || isMember(credentials, to.gid))) return;
  throw new FsError('EPERM', 'Only the superuser gives files away; owners choose among their own groups.');
}

/** In a sticky directory only the owner of the file or of the directory removes names. */
export function requireRemoval(credentials: Credentials, directory: Inode, victim: Inode): void {
  if ((directory.mode & STICKY) === 0 || isOwner(credentials, directory) || credentials.uid === victim.uid) return;
  throw new FsError('EPERM', 'The directory is sticky; only the owner may remove or rename the file.');
}

/** The mode after a write by a user other than the superuser. */
export function modeAfterWrite(credentials: Credentials, inode: Inode): number {
  return isSuperuser(credentials) ? inode.mode : modeWithoutSetId(inode);
}

/** A set-group-id bit without the group's execute bit has another meaning and stays. */
export function modeWithoutSetId({ mode }: Inode): number {
  return mode & ~SET_UID & ~((mode & 0o010) !== 0 ? SET_GID : 0);
}

/** The algorithm of POSIX 1003.1e: the first class that the caller belongs to decides; of groups any that suffices. */
function permittedByAcl(acl: Acl, credentials: Credentials, inode: Inode, wanted: number): number {
  const mask = acl.find(({ tag }) => tag === 'mask')?.permissions ?? 7;
  if (credentials.uid === inode.uid) return of(acl, 'owner') & wanted;
  const named = acl.find(({ tag, id }) => tag === 'user' && id === credentials.uid);
  if (named !== undefined) return named.permissions & mask & wanted;
  const groups = acl.filter((entry) => belongs(entry, credentials, inode));
  if (groups.length === 0) return of(acl, 'other') & wanted;
  const sufficient = groups.find(({ permissions }) => (permissions & mask & wanted) === wanted);
  return (sufficient?.permissions ?? groups.reduce((all, { permissions }) => all | permissions, 0)) & mask & wanted;
}

function of(acl: Acl, wanted: AclEntry['tag']): number {
  return acl.find(({ tag }) => tag === wanted)?.permissions ?? 0;
}

function belongs({ tag, id }: AclEntry, credentials: Credentials, inode: Inode): boolean {
  if (tag === 'owning-group') return isMember(credentials, inode.gid);
  return tag === 'group' && isMember(credentials, id);
}
