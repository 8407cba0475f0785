export type ObjectErrorCode =
  | 'no-such-bucket'
  | 'bucket-exists'
  | 'bucket-not-empty'
  | 'no-such-key'
  | 'no-such-version'
  | 'no-such-upload'
  | 'invalid-part'
  | 'invalid-part-order'
  | 'part-too-small'
  /** A condition of the request (If-Match, If-None-Match, …) does not hold. */
  | 'precondition-failed'
  /** Retention or legal hold keeps the version. */
  | 'object-locked'
  | 'invalid-state'
  | 'no-such-policy'
  /** It was moved to another storage policy since it was read. */
  | 'moved'
  /** Encrypted, and the password was not given since the start. */
  | 'encryption-locked'
  /** Under a key that only its client has, and read without it. */
  | 'sealed'
  /** Too few drives answer to write safely. */
  | 'no-quorum'
  /** The drives, or the disk beneath, are full. */
  | 'no-space'
  /** Too many pieces are lost or damaged. */
  | 'unreadable'
  | 'account-gone'
  /** The body had fewer or more bytes than was said. */
  | 'incomplete-body'
  /** More bytes than one blob may have. */
  | 'too-large'
  | 'closed';

/** What the object store refuses. `code` is for programs; protocols turn it into their own errors. Crosses threads as plain data. */
export class ObjectError extends Error {
  readonly code: ObjectErrorCode;

  constructor(code: ObjectErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ObjectError';
    this.code = code;
  }
}
