import { fileErrorCode } from '../filesystem.ts';
import { BadHandle } from '../namespace/file-handle.ts';
import type { XdrWriter } from '../xdr/writer.ts';

export const Status4 = {
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
  badCookie: 10003,
  notSupported: 10004,
  tooSmall: 10005,
  serverFault: 10006,
  badType: 10007,
  delay: 10008,
  same: 10009,
  denied: 10010,
  expired: 10011,
  locked: 10012,
  grace: 10013,
  shareDenied: 10015,
  clientIdInUse: 10017,
  resource: 10018,
  noFileHandle: 10020,
  minorVersionMismatch: 10021,
  staleClientId: 10022,
  staleStateId: 10023,
  oldStateId: 10024,
  badStateId: 10025,
  badSequenceId: 10026,
  notSame: 10027,
  symlink: 10029,
  noSavedFileHandle: 10030,
  attributeNotSupported: 10032,
  noGrace: 10033,
  reclaimBad: 10034,
  reclaimConflict: 10035,
  badXdr: 10036,
  locksHeld: 10037,
  openMode: 10038,
  badOwner: 10039,
  badName: 10041,
  illegalOperation: 10044,
  badSession: 10052,
  badSlot: 10053,
  completeAlready: 10054,
  sequenceMisordered: 10063,
  sequencePosition: 10064,
  requestTooBig: 10065,
  replyTooBig: 10066,
  replyTooBigToCache: 10067,
  retryUncachedReply: 10068,
  tooManyOperations: 10070,
  operationNotInSession: 10071,
  clientIdBusy: 10074,
  badHighSlot: 10077,
  notOnlyOperation: 10081,
  wrongType: 10083,
} as const;

const BY_CODE: Readonly<Record<string, number>> = {
  EPERM: Status4.perm,
  ENOENT: Status4.noEntry,
  EIO: Status4.io,
  EACCES: Status4.access,
  EEXIST: Status4.exists,
  EXDEV: Status4.crossDevice,
  ENOTDIR: Status4.notDirectory,
  EISDIR: Status4.isDirectory,
  EINVAL: Status4.invalid,
  EFBIG: Status4.tooLarge,
  ENOSPC: Status4.noSpace,
  EROFS: Status4.readOnly,
  EMLINK: Status4.tooManyLinks,
  ENAMETOOLONG: Status4.nameTooLong,
  ENOTEMPTY: Status4.notEmpty,
  EDQUOT: Status4.quota,
  ESTALE: Status4.stale,
  ENOTSUP: Status4.notSupported,
  ELOOP: Status4.invalid,
  EAGAIN: Status4.delay,
};

/** An operation failed, with what its result holds beside the status. */
export class Nfs4Error extends Error {
  readonly status: number;
  readonly body: ((reply: XdrWriter) => void) | undefined;

  constructor(status: number, body?: (reply: XdrWriter) => void) {
    super(`NFS status ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** Undefined for what is no file error: a mistake of ours. */
export function status4Of(error: unknown): number | undefined {
  if (error instanceof Nfs4Error) return error.status;
  if (error instanceof BadHandle) return Status4.badHandle;
  return BY_CODE[fileErrorCode(error) ?? ''];
}
