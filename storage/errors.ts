/** An error of storage. `code` is for programs; the message is for people and says what to do next. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StorageError';
    this.code = code;
  }
}

/** Whether a write was refused because the disk is full, which is no failure of the drive. */
export function isNoSpace(error: unknown): error is StorageError {
  return error instanceof StorageError && error.code === 'no-space';
}

export type StorageErrorCode =
  /** The drive does not answer, or returned an error. */
  | 'drive-failed'
  /** The disk underneath is full. Nothing is damaged: with space the write succeeds. */
  | 'no-space'
  /** A group has lost more members than its redundancy allows. */
  | 'group-failed'
  /** The bytes are damaged and no good copy is left. */
  | 'unreadable'
  /** The pool has no free extent. */
  | 'pool-full'
  /** The volume, group or drive is in a state that does not allow this. */
  | 'conflict'
  /** The range, size or name is not valid here. */
  | 'invalid'
  /** It was closed, or cancelled by the caller. */
  | 'closed'
  | 'cancelled'
  /** A snapshot, or a volume made read-only. */
  | 'read-only'
  /** An encrypted volume without its key. */
  | 'locked'
  /** Nothing of that name exists. */
  | 'not-found';
