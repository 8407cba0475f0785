/**
 * What NFS asks of a filesystem. Names are bytes, as NFS hands them over. Errors are `FileError`s with POSIX codes.
 *
 * Operations take effect in one step: what `Change` calls before and after is the moment just before and just after, with
 * nothing of another request in between; a filesystem that cannot tell leaves `before` out. Operations on names and attributes are durable when they return.
 *
 * Names and data are on loan: a filesystem copies what it keeps after it has returned.
 *
 * Operations on names check permissions for `as`. Reading, writing and changing the size do not: who may is decided by
 * `access`, when a file is opened (version 4, SMB) or request by request (version 3). There `as` says who it was.
 */
export type Awaitable<T> = T | Promise<T>;

export interface Credentials {
  /** 0 may do everything. */
  readonly uid: number;
  readonly gid: number;
  readonly groups: readonly number[];
  /** Where the request came from, for records of who did what. */
  readonly client?: string;
}

/** A file for as long as it exists: an inode number that is used again gets another generation. */
export interface FileId {
  readonly inode: number;
  readonly generation: number;
}

export interface Timestamp {
  readonly seconds: number;
  readonly nanoseconds: number;
}

export type FileType = 'file' | 'directory' | 'symlink' | 'block' | 'character' | 'fifo' | 'socket';

export interface Attributes extends FileId {
  readonly type: FileType;
  /** Permission bits, set-id bits and the sticky bit. */
  readonly mode: number;
  readonly links: number;
  readonly uid: number;
  readonly gid: number;
  readonly sizeBytes: number;
  readonly allocatedBytes: number;
  /** Of device nodes. */
  readonly device: { readonly major: number; readonly minor: number };
  readonly accessed: Timestamp;
  readonly modified: Timestamp;
  readonly changed: Timestamp;
  readonly created: Timestamp;
  /** Grows with every change of the file or of its attributes. */
  readonly change: bigint;
}

/** `now` is the filesystem's own clock. */
export type TimeChange = Timestamp | 'now';

export interface AttributeChanges {
  readonly mode?: number | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  readonly sizeBytes?: number | undefined;
  readonly accessed?: TimeChange | undefined;
  readonly modified?: TimeChange | undefined;
}

/** Without `before` where the filesystem cannot tell what was just before: then others may have changed it, too. */
export interface Change {
  readonly before?: Attributes | undefined;
  readonly after: Attributes;
}

export type NewFile =
  | { readonly type: 'file' | 'directory' | 'fifo' | 'socket' }
  | { readonly type: 'symlink'; readonly target: Buffer }
  | { readonly type: 'block' | 'character'; readonly device: Attributes['device'] };

export interface Created {
  readonly attributes: Attributes;
  readonly directory: Change;
}

export interface DirectoryEntry {
  readonly name: Buffer;
  /** Where the listing continues after this entry. At least 3, and the same for as long as the entry exists. */
  readonly cookie: bigint;
  readonly attributes: Attributes;
}

export interface DirectoryPage {
  readonly entries: readonly DirectoryEntry[];
  /** There is nothing after them. */
  readonly isEnd: boolean;
}

export interface SpaceUsage {
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly availableBytes: number;
  readonly totalFiles: number;
  readonly freeFiles: number;
}

export interface FilesystemLimits {
  readonly nameBytesMax: number;
  readonly fileBytesMax: number;
  readonly linksMax: number;
  readonly symlinkBytesMax: number;
}

export interface AclEntry {
  readonly tag: 'owner' | 'user' | 'owning-group' | 'group' | 'mask' | 'other';
  /** Of `user` and `group`. */
  readonly id?: number;
  /** 4 read, 2 write, 1 execute. */
  readonly permissions: number;
}

/** POSIX access control lists. `default` is what new entries of a directory inherit; empty means none. */
export interface Acl {
  readonly access: readonly AclEntry[];
  readonly default: readonly AclEntry[];
}

export interface QuotaState {
  readonly usedBytes: number;
  /** Left before the soft and the hard limit. */
  readonly softBytes: number;
  readonly hardBytes: number;
}

/** `any`: whatever it was, the client may not use the filesystem. */
export type RefusedUse = 'read' | 'write' | 'any';

export const Access = { execute: 1, write: 2, read: 4 } as const;

export interface Filesystem {
  /** 64 bits, part of every file handle. Stays the same for as long as the filesystem exists. */
  readonly id: bigint;
  readonly root: FileId;
  readonly limits: FilesystemLimits;
  /** Changes whenever writes that were not made durable may have been lost. */
  readonly writeVerifier: bigint;

  attributes(file: FileId): Awaitable<Attributes>;
  /** What of `Access` the mode or the ACL grants. */
  access(as: Credentials, file: FileId): Awaitable<number>;
  setAttributes(as: Credentials, file: FileId, changes: AttributeChanges): Awaitable<Change>;

  /** `..` is the directory above, and the root above the root. */
  lookup(as: Credentials, directory: FileId, name: Buffer): Awaitable<Attributes>;
  /** Fails with EEXIST if there is an entry of the name, whatever it is. */
  create(
    as: Credentials,
    directory: FileId,
    name: Buffer,
    file: NewFile,
    attributes: AttributeChanges,
  ): Awaitable<Created>;
  link(as: Credentials, file: FileId, directory: FileId, name: Buffer): Awaitable<Created>;
  /** Removes a name that is not a directory (`what` 'file'), an empty directory, or either. */
  remove(as: Credentials, directory: FileId, name: Buffer, what: 'file' | 'directory' | 'either'): Awaitable<Change>;
  rename(
    as: Credentials,
    from: FileId,
    oldName: Buffer,
    to: FileId,
    newName: Buffer,
  ): Awaitable<{ readonly from: Change; readonly to: Change }>;
  /** At most `count` entries after the cookie (0 begins), in the order of their cookies, without `.` and `..`. */
  readDirectory(as: Credentials, directory: FileId, after: bigint, count: number): Awaitable<DirectoryPage>;
  readSymlink(file: FileId): Awaitable<Buffer>;

  /** Fills `into` and returns how many bytes there were: fewer only at the end of the file. */
  read(as: Credentials, file: FileId, offset: number, into: Buffer): Awaitable<number>;
  /** Durable when it returns if `durable` is set. `as` decides whether set-id bits are cleared. */
  write(as: Credentials, file: FileId, offset: number, data: Buffer, durable: boolean): Awaitable<Change>;
  /** Makes everything durable that was written to the file. */
  commit(file: FileId): Awaitable<void>;

  /**
   * A held file keeps its contents when its last name is removed, until it was released as often as it was held. Versions
   * with opens hold a file from its opening, for what `access` says, to its closing.
   */
  hold(as: Credentials, file: FileId, access: number): Awaitable<void>;
  release(as: Credentials, file: FileId): Awaitable<void>;
  /** Called for operations that were refused before they reached the filesystem. */
  refused?(as: Credentials, file: FileId, wanted: RefusedUse, code: FileErrorCode): void;

  space(): Awaitable<SpaceUsage>;
  /** Undefined where no quota applies. */
  quota(as: Credentials, file: FileId): Awaitable<QuotaState | undefined>;
  acl(file: FileId): Awaitable<Acl>;
  setAcl(as: Credentials, file: FileId, acl: Partial<Acl>): Awaitable<Change>;
}

export type FileErrorCode =
  | 'EPERM'
  | 'ENOENT'
  | 'EIO'
  | 'EACCES'
  | 'EEXIST'
  | 'EXDEV'
  | 'ENOTDIR'
  | 'EISDIR'
  | 'EINVAL'
  | 'EFBIG'
  | 'ENOSPC'
  | 'EROFS'
  | 'EMLINK'
  | 'ENAMETOOLONG'
  | 'ENOTEMPTY'
  | 'EDQUOT'
  | 'ESTALE'
  | 'ENOTSUP'
  | 'ELOOP'
  | 'EAGAIN';

export class FileError extends Error {
  readonly code: FileErrorCode;

  constructor(code: FileErrorCode, message: string = code) {
    super(message);
    this.code = code;
  }
}

/** Filesystems throw errors of their own class; what counts is the code. */
export function fileErrorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return undefined;
  return error.code;
}
