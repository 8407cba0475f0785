import { fileErrorCode } from '../filesystem.ts';
import { BadHandle } from '../namespace/file-handle.ts';

export const Status3 = {
  ok: 0,
  perm: 1,
  noEntry: 2,
  io: 5,
  access: 13,
  exists: 17,
  crossDevice: 18,
  notDirectory: 20,
  isDirectory: 21,
  invalid: 22,
  tooLarge: 27,
  noSpace: 28,
  readOnly: 30,
  tooManyLinks: 31,
  nameTooLong: 63,
  notEmpty: 66,
  quota: 69,
  stale: 70,
  badHandle: 10001,
  notSync: 10002,
  badCookie: 10003,
  notSupported: 10004,
  tooSmall: 10005,
  serverFault: 10006,
  badType: 10007,
  jukebox: 10008,
} as const;

const BY_CODE: Readonly<Record<string, number>> = {
  EPERM: Status3.perm,
  ENOENT: Status3.noEntry,
  EIO: Status3.io,
  EACCES: Status3.access,
  EEXIST: Status3.exists,
  EXDEV: Status3.crossDevice,
  ENOTDIR: Status3.notDirectory,
  EISDIR: Status3.isDirectory,
  EINVAL: Status3.invalid,
  EFBIG: Status3.tooLarge,
  ENOSPC: Status3.noSpace,
  EROFS: Status3.readOnly,
  EMLINK: Status3.tooManyLinks,
  ENAMETOOLONG: Status3.nameTooLong,
  ENOTEMPTY: Status3.notEmpty,
  EDQUOT: Status3.quota,
  ESTALE: Status3.stale,
  ENOTSUP: Status3.notSupported,
  ELOOP: Status3.invalid,
  EAGAIN: Status3.jukebox,
};

/** A status that no POSIX code stands for. */
export class Nfs3Error extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`NFS status ${status}`);
    this.status = status;
  }
}

/** Undefined for what is no file error: a mistake of ours. */
export function status3Of(error: unknown): number | undefined {
  if (error instanceof Nfs3Error) return error.status;
  if (error instanceof BadHandle) return Status3.badHandle;
  return BY_CODE[fileErrorCode(error) ?? ''];
}
