/** What becomes of an operation of S3 here. */
export interface ConformanceRow {
  /** As the reference of S3 names it. */
  readonly operation: string;
  /** `partly`: served, and `about` says what of it is refused. */
  readonly served: 'yes' | 'partly' | 'no';
  readonly about: string;
  /** Names of tests of ours that show it. */
  readonly tests: readonly string[];
}

function yes(operation: string, about: string, ...tests: string[]): ConformanceRow {
  return { operation, served: 'yes', about, tests };
}

function partly(operation: string, about: string, ...tests: string[]): ConformanceRow {
  return { operation, served: 'partly', about, tests };
}

function no(operation: string, about: string, ...tests: string[]): ConformanceRow {
  return { operation, served: 'no', about, tests };
}

const NOT_OFFERED = 'what is not offered says so, and never turns into another operation';
const NEVER_SET = 'what is never set answers so, and cannot be set';
const OBJECTS = 'an object comes back as it was put, with what was said of it';
const RANGES = 'large and empty objects come back, whole and in ranges';
const VERSIONS = 'versions: each put has its id, a delete leaves a marker, and versions are deleted by id';
const LOCK = 'object lock: retention and legal hold keep a version';
const OBJECT_TAGS = 'tags and ACLs of objects are set, shown and removed';
const BUCKETS = 'buckets are made, found, listed in pages and deleted';
const LISTINGS = 'listings go by prefix, delimiter and pages, in both forms';
const BUCKET_ACL = 'the ACL of a bucket is given by header, grants or document';
const GRANTS = 'grants go to accounts by id and by mail address, and open what they name';
const ENCRYPTION = 'AES256 encrypts what asks for it, and all of a bucket that has it as its default';
const SSE_C = 'an object under a key of the client is read with that key alone';
const SSE_C_RANGES = 'any range of an object under a key is the range of what was put, whole or in parts';
const SSE_C_COPY = 'a copy reads its source with one key and is written with another, or with none';
const BUCKET_TAGS = 'tags, replication and default retention of a bucket are kept';
const CORS = 'CORS rules answer browsers';
const POLICY = 'a bucket policy opens the bucket to others';
const CLASSES = 'a storage class is a storage policy: objects, copies and uploads are put under it and show it';
const LIFECYCLE = 'lifecycle rules are kept, and objects tell when they go';
const PARTS = 'an object comes of its parts, and each part can be read by its number';
const UPLOADS = 'unfinished uploads are listed in pages and by folders, and do not keep a bucket';
const BLOCK = 'a public access block is put, shown and removed';
const LOGGING = 'logging of a bucket is kept as it was given, and taken away';
const NOTIFICATIONS = 'rules for notifications are kept as they were given, test the address, and are taken away';
const OWNERSHIP = 'ownership controls are put, shown and removed, and kept when set at creation';

/** Every operation of S3 on general purpose buckets, in the order of their names. */
export const CONFORMANCE: readonly ConformanceRow[] = [
  yes('AbortMultipartUpload', '', PARTS),
  yes('CompleteMultipartUpload', 'Asked for again within an hour, it gives the same answer.', PARTS),
  partly(
    'CopyObject',
    'Within a storage policy bytes are shared, not copied. A key service is refused.',
    'a copy takes over or replaces metadata and tags, within a policy and across policies',
    CLASSES,
    SSE_C_COPY,
  ),
  partly(
    'CreateBucket',
    'Names are unique within an account. The location may name a storage policy: `:policy`.',
    BUCKETS,
    OWNERSHIP,
  ),
  no('CreateBucketMetadataTableConfiguration', 'There are no metadata tables.', NOT_OFFERED),
  yes('CreateMultipartUpload', '', PARTS, 'checksums that parts cannot make are refused at the start'),
  no('CreateSession', 'For directory buckets, which do not exist here.', NOT_OFFERED),
  yes('DeleteBucket', 'Unfinished uploads do not keep a bucket.', BUCKETS, UPLOADS),
  yes('DeleteBucketCors', '', CORS),
  yes('DeleteBucketEncryption', '', ENCRYPTION),
  yes('DeleteBucketLifecycle', '', LIFECYCLE),
  yes('DeleteBucketOwnershipControls', '', OWNERSHIP),
  yes('DeleteBucketPolicy', '', POLICY),
  yes('DeleteBucketPublicAccessBlock', 'The reference calls it DeletePublicAccessBlock.', BLOCK),
  yes('DeleteBucketReplication', '', BUCKET_TAGS),
  yes('DeleteBucketTagging', '', BUCKET_TAGS),
  yes('DeleteBucketWebsite', 'There is no website to take away: always 204.', NEVER_SET),
  yes('DeleteObject', '', VERSIONS),
  yes('DeleteObjectTagging', '', OBJECT_TAGS),
  yes('DeleteObjects', '', 'many keys are deleted at once, each with an answer of its own'),
  yes(
    'GetAccelerateConfiguration',
    'Always unset. The reference calls it GetBucketAccelerateConfiguration.',
    NEVER_SET,
  ),
  yes('GetBucketAcl', '', BUCKET_ACL),
  no('GetBucketAnalyticsConfiguration', 'There are no analytics.', NOT_OFFERED),
  yes('GetBucketCors', '', CORS),
  yes('GetBucketEncryption', '', ENCRYPTION, 'an array that encrypts says so'),
  no('GetBucketIntelligentTieringConfiguration', 'There are no access tiers.', NOT_OFFERED),
  no('GetBucketInventoryConfiguration', 'There is no inventory.', NOT_OFFERED),
  yes('GetBucketLifecycleConfiguration', '', LIFECYCLE),
  yes('GetBucketLocation', '', BUCKETS),
  yes('GetBucketLogging', '', LOGGING),
  no('GetBucketMetricsConfiguration', 'Metering is the array’s.', NOT_OFFERED),
  yes('GetBucketNotification', 'The reference calls it GetBucketNotificationConfiguration.', NOTIFICATIONS),
  yes('GetBucketOwnershipControls', '', OWNERSHIP),
  yes('GetBucketPolicy', '', POLICY),
  yes('GetBucketPolicyStatus', '', 'a policy is public when a caller of any account could meet it'),
  yes('GetBucketPublicAccessBlock', 'The reference calls it GetPublicAccessBlock.', BLOCK),
  yes('GetBucketReplication', '', BUCKET_TAGS),
  yes('GetBucketRequestPayment', 'Always `BucketOwner`.', NEVER_SET),
  yes('GetBucketTagging', '', BUCKET_TAGS),
  yes('GetBucketVersioning', '', VERSIONS),
  yes('GetBucketWebsite', 'Always 404: there are no websites.', NEVER_SET),
  yes('GetObject', '', OBJECTS, RANGES, 'conditions of reads answer 304 and 412', SSE_C, SSE_C_RANGES),
  yes('GetObjectAcl', '', OBJECT_TAGS),
  yes('GetObjectAttributes', '', PARTS),
  yes('GetObjectLegalHold', '', LOCK),
  yes('GetObjectLockConfiguration', '', BUCKET_TAGS),
  yes('GetObjectRetention', '', LOCK),
  yes('GetObjectTagging', '', OBJECT_TAGS),
  no('GetObjectTorrent', 'There are no torrents.', NOT_OFFERED),
  yes('HeadBucket', '', BUCKETS),
  yes('HeadObject', '', OBJECTS),
  yes('ListBuckets', '', BUCKETS),
  yes('ListMultipartUploads', '', UPLOADS),
  yes('ListObjectVersions', '', VERSIONS),
  yes('ListObjects', '', LISTINGS),
  yes('ListObjectsV2', '', LISTINGS),
  yes('ListParts', '', PARTS),
  yes('PostObject', 'A form of a browser.', 'a form of a browser puts an object'),
  no('PutBucketAccelerateConfiguration', 'There is one site and nothing to accelerate.', NEVER_SET),
  yes('PutBucketAcl', 'The group of log delivery does not exist.', BUCKET_ACL, GRANTS),
  yes('PutBucketCors', '', CORS),
  partly('PutBucketEncryption', '`AES256`; a key service (`aws:kms`) is refused.', ENCRYPTION),
  yes(
    'PutBucketLifecycleConfiguration',
    'Transitions name a storage policy as the class; small objects are spared only where that is asked for.',
    LIFECYCLE,
    'a rule moves objects of all kinds, and they are what they were',
    'versions under a lock move, and stay locked',
    'rules are shown as they were given, and unknown classes are refused',
    'a filter is shown in the form it was given in',
    'an element that does not belong, comes twice or holds no number is malformed',
    'numbers, sizes, names and prefixes keep to their limits',
    'a rule that cannot be kept is refused by name',
  ),
  yes(
    'PutBucketLogging',
    'Delivered once a minute. The target is a bucket of the same account that the caller may put objects into.',
    LOGGING,
    'a target of logging that is not there, not the account’s own or locked is refused',
    'each request to a bucket that logs leaves a line with the fields of S3',
    'requests that are refused are in the log, too',
    'a copy is in the log of its source, and each key of a deletion of many in that of its bucket',
    'lines become one object of the target, in their order, with the name of the simple form',
    'the partitioned form names account, region, bucket and day, by delivery or by event',
    'what was written down is delivered after a restart, and what was delivered is not delivered again',
  ),
  partly(
    'PutBucketNotification',
    'The reference calls it PutBucketNotificationConfiguration. A `Topic` is the address of a webhook, at a host that the operator allows. Queues, functions and the event bridge are refused, and so are events of what is not here.',
    NOTIFICATIONS,
    'no host may be posted to before an operator allows it',
    'each change of an object is posted once, with what became of it',
    'versions, uploads in parts, forms of Swift and filters are reported as what they are',
    'a receiver that fails gets the event again, also after a restart, under the same name',
    'what cannot be reported, and what is ambiguous, is refused',
  ),
  yes('PutBucketOwnershipControls', '', OWNERSHIP, 'a bucket whose owner is enforced takes no ACLs and obeys none'),
  yes('PutBucketPolicy', '', POLICY),
  yes(
    'PutBucketPublicAccessBlock',
    'The reference calls it PutPublicAccessBlock.',
    BLOCK,
    'a public access block refuses public ACLs and policies, or takes their effect',
  ),
  partly('PutBucketReplication', 'One destination; no filter by tag.', BUCKET_TAGS),
  no('PutBucketRequestPayment', 'The account of the bucket is charged.', NEVER_SET),
  yes('PutBucketTagging', '', BUCKET_TAGS),
  partly('PutBucketVersioning', 'MFA delete is refused.', VERSIONS),
  no('PutBucketWebsite', 'There are no websites.', NEVER_SET),
  partly(
    'PutObject',
    'Encryption with a key service is refused; SSE-C needs TLS, but on loopback.',
    OBJECTS,
    CLASSES,
    'what cannot be stored as asked is refused and changes nothing',
    ENCRYPTION,
    SSE_C,
    'a key that is incomplete, wrong or beside another kind of encryption is refused by its part',
    'a key of a client comes over TLS, or from within the machine',
  ),
  yes('PutObjectAcl', '', OBJECT_TAGS, GRANTS),
  yes('PutObjectLegalHold', '', LOCK),
  yes('PutObjectLockConfiguration', '', BUCKET_TAGS),
  yes('PutObjectRetention', '', LOCK),
  yes('PutObjectTagging', '', OBJECT_TAGS),
  no('RenameObject', 'For directory buckets, which do not exist here.', NOT_OFFERED),
  no('RestoreObject', 'Always `InvalidObjectState`: nothing is archived.', NOT_OFFERED),
  no('SelectObjectContent', 'No queries inside objects.', NOT_OFFERED),
  yes('UploadPart', '', PARTS, SSE_C_RANGES),
  yes(
    'UploadPartCopy',
    '',
    'parts are copied whole or in ranges, within a policy and across',
    SSE_C_COPY,
    'files of forms, parts of uploads and copies find no room in an account that is full',
  ),
];

/** `docs/s3-conformance.md`. */
export function conformancePage(rows: readonly ConformanceRow[] = CONFORMANCE): string {
  const lines = rows.map(({ operation, served, about, tests }) => {
    const shown = tests.map((name) => `“${name.replaceAll('|', '\\|')}”`).join('<br>');
    return `| ${operation} | ${served} | ${about} | ${shown} |`;
  });
  return `${HEAD}\n| Operation | Served | | Tests |\n|---|---|---|---|\n${lines.join('\n')}\n`;
}

const HEAD = `# S3 conformance

Operation by operation what is served, what is refused and why. Generated from \`protocols/s3/conformance/table.ts\` by
\`npm run docs:api\`; a test holds the table against the operations that are routed and against the names of the tests.

- **yes**: served with all parameters of the reference. **partly**: served; what is refused of it is named. **no**: refused with
  501 \`NotImplemented\` unless the row says otherwise, before anything is stored.
- How to use it: [for application owners](object-storage-applications.md). What the protocol leaves open:
  [decisions](decisions/object-array-behaviour.md).
`;
