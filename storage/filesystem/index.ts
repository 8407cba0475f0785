export { checkFilesystem, type FilesystemReport } from './check/check.ts';
export { FsError, type FsErrorCode } from './errors.ts';
export { isFormatted } from './formatted.ts';
export {
  type DirectoryPage,
  Filesystem,
  type FilesystemStatistics,
  type MountOptions,
  type NewFilesystem,
} from './filesystem.ts';
export type { FilesystemArchives } from './filesystem-archives.ts';
export type { FilesystemQuotas, QuotaLimits } from './filesystem-quotas.ts';
export type { FilesystemXattrs } from './filesystem-xattrs.ts';
export { type Credentials, MAY_EXECUTE, MAY_READ, MAY_WRITE } from './files/access.ts';
export { type Acl, ACL_NAMES, type AclEntry, encodeAcl, parseAcl } from './files/acl.ts';
export type { AttributeChanges } from './files/changes.ts';
export { type ArchiveRecord, ArchivedError } from './files/archive-record.ts';
export type { FileId, FileVersion } from './contents/archives.ts';
export type { ContentOptions } from './contents/content-changes.ts';
export type { ReadResult } from './contents/content-reader.ts';
export type { ListedInode } from './files/inode-list.ts';
export type { Entry } from './files/entries.ts';
export type { Attributes, FileType, Time } from './files/inode.ts';
export type { NewNode } from './files/new-inode.ts';
export type { Quota, QuotaScope, QuotaState } from './files/quotas.ts';
export type { XattrMode } from './files/xattr-operations.ts';
