/** What storage can refuse. `code` is for programs, the message for people: it says what to do next. */
export class StorageError extends Error {
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'StorageError';
    this.code = code;
  }
}

/** Whether a write was refused for want of room, which is no failure of the drive. */
export function isNoSpace(error: unknown): error is StorageError {
  return error instanceof StorageError && error.code === 'no-space';
}

export type StorageErrorCode =
  /** The drive does not answer, or answered with an error. */
  | 'drive-failed'
  /** The disk beneath has no room for what was to be written. Nothing is broken: with room it goes on. */
  | 'no-space'
  /** A group has lost more drives than it can miss. */
  | 'group-failed'
  /** The bytes are damaged and no good copy is left. */
  | 'unreadable'
  /** The pool has no free extent. */
  | 'pool-full'
  /** The volume, group or drive is in a state that does not allow this. */
  | 'conflict'
  /** The range, size or name makes no sense here. */
  | 'invalid'
  /** It was closed, or cancelled by the caller. */
  | 'closed'
  | 'cancelled'
  /** A snapshot, or a volume made read-only. */
  | 'read-only'
  /** An encrypted volume whose key was not given. */
  | 'locked'
  /** Nothing of that name. */
  | 'not-found';
