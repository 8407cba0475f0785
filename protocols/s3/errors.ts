import { ObjectError, type ObjectErrorCode } from '@granary/storage/object-store';

/** HTTP status and what is said unless the thrower knows better. */
const CATALOGUE = {
  AccessControlListNotSupported: [400, 'The bucket does not allow ACLs: its owner is enforced.'],
  AccessDenied: [403, 'Access denied.'],
  AccessForbidden: [403, 'No CORS rule allows this.'],
  AmbiguousGrantByEmailAddress: [400, 'Users of more than one account have that mail address: use the id.'],
  AuthorizationHeaderMalformed: [400, 'The Authorization header is malformed.'],
  AuthorizationQueryParametersError: [400, 'The authorization parameters of the query are wrong.'],
  BadDigest: [400, 'The digest you gave is not that of the bytes received.'],
  BadRequest: [400, 'The request is malformed.'],
  BucketAlreadyOwnedByYou: [409, 'Your account has a bucket of that name already.'],
  BucketNotEmpty: [409, 'The bucket is not empty: delete all its versions and unfinished uploads first.'],
  EntityTooLarge: [400, 'The body is larger than allowed.'],
  EntityTooSmall: [400, 'The body, or a part, is smaller than allowed.'],
  ExpectationFailed: [417, 'The only expectation that is met here is 100-continue.'],
  IllegalVersioningConfigurationException: [400, 'The versioning configuration is not valid.'],
  IncompleteBody: [400, 'The body ended before the announced number of bytes.'],
  InsufficientStorage: [507, 'There is no space left. Delete something, or ask the operator for more.'],
  InternalError: [500, 'Something went wrong on our side. Please try again.'],
  InvalidAccessKeyId: [403, 'There is no such access key, or it is not enabled.'],
  InvalidArgument: [400, 'An argument is not valid.'],
  InvalidBucketAclWithObjectOwnership: [
    400,
    'The ACL of the bucket grants something to others: make it private before its owner is enforced.',
  ],
  InvalidBucketName: [400, 'The bucket name is not valid.'],
  InvalidBucketState: [409, 'The state of the bucket does not allow this.'],
  InvalidChunkSizeError: [400, 'The size of a chunk is not valid.'],
  InvalidDigest: [400, 'The Content-MD5 given is not valid.'],
  InvalidEncryptionAlgorithmError: [
    400,
    'The encryption request you specified is not valid. The valid value is AES256.',
  ],
  InvalidLocationConstraint: [400, 'The location is not that of this array.'],
  InvalidObjectState: [403, 'The state of the object does not allow this.'],
  InvalidPart: [400, 'A part is not there, or its ETag is another.'],
  InvalidPartNumber: [416, 'There is no part of that number.'],
  InvalidPartOrder: [400, 'Parts must be named in ascending order.'],
  InvalidPolicyDocument: [400, 'The policy document of the form is not valid.'],
  InvalidRange: [416, 'The range does not lie in the object.'],
  InvalidRequest: [400, 'The request is not valid.'],
  InvalidStorageClass: [400, 'The storage class is not known.'],
  InvalidTag: [400, 'A tag is not valid.'],
  InvalidTargetBucketForLogging: [400, 'The target bucket for logging does not exist or is not owned by you.'],
  InvalidToken: [400, 'Security tokens are not used here.'],
  InvalidURI: [400, 'The address cannot be read.'],
  KeyTooLongError: [400, 'The key is longer than 1024 bytes.'],
  MalformedACLError: [400, 'The access control list is not valid.'],
  MalformedPOSTRequest: [400, 'The body is not well-formed multipart/form-data.'],
  MalformedPolicy: [400, 'The bucket policy is not valid.'],
  MalformedTrailerError: [400, 'The trailer is not valid.'],
  MalformedXML: [400, 'The XML is not well-formed or not what is expected here.'],
  MaxMessageLengthExceeded: [400, 'The request is too large.'],
  MaxPostPreDataLengthExceeded: [400, 'The fields before the file are too large.'],
  MetadataTooLarge: [400, 'The metadata is larger than allowed.'],
  MethodNotAllowed: [405, 'The method is not allowed here.'],
  MissingContentLength: [411, 'Content-Length is needed.'],
  MissingSecurityHeader: [400, 'A header is missing that is needed here.'],
  NoSuchBucket: [404, 'There is no such bucket.'],
  NoSuchBucketPolicy: [404, 'The bucket has no policy.'],
  NoSuchCORSConfiguration: [404, 'The bucket has no CORS configuration.'],
  NoSuchKey: [404, 'There is no such key.'],
  NoSuchLifecycleConfiguration: [404, 'The bucket has no lifecycle configuration.'],
  NoSuchObjectLockConfiguration: [404, 'The object has no retention or legal hold.'],
  NoSuchTagSet: [404, 'There are no tags.'],
  NoSuchUpload: [404, 'There is no such multipart upload: it may have been completed or aborted.'],
  NoSuchVersion: [404, 'There is no such version.'],
  NoSuchWebsiteConfiguration: [404, 'The bucket has no website configuration.'],
  NoSuchPublicAccessBlockConfiguration: [404, 'The bucket has no public access block.'],
  NotImplemented: [501, 'This is not offered here.'],
  ObjectLockConfigurationNotFoundError: [404, 'The bucket has no object lock configuration.'],
  OwnershipControlsNotFoundError: [404, 'The bucket has no ownership controls.'],
  PreconditionFailed: [412, 'A condition of the request does not hold.'],
  ReplicationConfigurationNotFoundError: [404, 'The bucket has no replication configuration.'],
  RequestTimeout: [400, 'No byte of the body came for too long.'],
  RequestTimeTooSkewed: [403, 'The time of the request and that of the array differ too much.'],
  ServerSideEncryptionConfigurationNotFoundError: [404, 'The bucket has no encryption configuration.'],
  ServiceUnavailable: [503, 'The array cannot serve this now. Please try again.'],
  SignatureDoesNotMatch: [403, 'The signature is not the one computed here. Check the secret key and how you sign.'],
  SlowDown: [503, 'Please send fewer requests.'],
  UnexpectedContent: [400, 'There must be no body here.'],
  UnresolvableGrantByEmailAddress: [400, 'No user of an account has that mail address.'],
  XAmzContentSHA256Mismatch: [400, 'x-amz-content-sha256 is not that of the bytes received.'],
} as const satisfies Record<string, readonly [status: number, message: string]>;

export type S3ErrorCode = keyof typeof CATALOGUE;

/** What S3 refuses. `details` become elements of the answer beside Code and Message. */
export class S3Error extends Error {
  readonly code: S3ErrorCode;
  readonly status: number;
  readonly details: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: S3ErrorCode,
    message?: string,
    details: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message ?? CATALOGUE[code][1]);
    this.name = 'S3Error';
    this.code = code;
    this.status = CATALOGUE[code][0];
    this.details = details;
    this.headers = headers;
  }
}

/** InvalidArgument that names the argument. */
export function badArgument(name: string, value: string, message: string): S3Error {
  return new S3Error('InvalidArgument', message, { ArgumentName: name, ArgumentValue: value.slice(0, 256) });
}

/** What the store refuses, in the words of S3; its own message is kept where it says more. */
const FROM_STORE: Readonly<Record<ObjectErrorCode, readonly [code: S3ErrorCode, message?: string]>> = {
  'no-such-bucket': ['NoSuchBucket'],
  'bucket-exists': ['BucketAlreadyOwnedByYou'],
  'bucket-not-empty': ['BucketNotEmpty'],
  'no-such-key': ['NoSuchKey'],
  'no-such-version': ['NoSuchVersion'],
  'no-such-upload': ['NoSuchUpload'],
  'invalid-part': ['InvalidPart'],
  'invalid-part-order': ['InvalidPartOrder'],
  'part-too-small': ['EntityTooSmall'],
  'precondition-failed': ['PreconditionFailed'],
  'object-locked': ['AccessDenied', 'Retention or a legal hold keeps this version.'],
  'invalid-state': ['InvalidBucketState'],
  'no-such-policy': ['InvalidRequest', 'There is no such storage policy.'],
  moved: ['ServiceUnavailable', 'The source was moved to another storage policy meanwhile. Please try again.'],
  'encryption-locked': [
    'ServiceUnavailable',
    'The array is encrypted and locked. Its administrator has to give the encryption password first.',
  ],
  sealed: [
    'InvalidRequest',
    'The object was stored using a form of Server Side Encryption. The correct parameters must be provided to retrieve the object.',
  ],
  'no-quorum': ['ServiceUnavailable', 'Too few drives answer to do this safely. Please try again.'],
  'no-space': ['InsufficientStorage'],
  unreadable: ['InternalError', 'Too many pieces of the object are damaged or away to read it now.'],
  'incomplete-body': ['IncompleteBody'],
  'too-large': ['EntityTooLarge'],
  'account-gone': ['AccessDenied', 'The account is being deleted.'],
  closed: ['ServiceUnavailable'],
};

/** Any failure as one S3 can tell; undefined for what is no fault of the caller's and not foreseen. */
export function toS3Error(error: unknown): S3Error | undefined {
  if (error instanceof S3Error) return error;
  if (!(error instanceof ObjectError)) return undefined;
  const [code, message] = FROM_STORE[error.code];
  return new S3Error(code, message);
}
