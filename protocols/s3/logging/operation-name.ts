/** What a log calls operations whose resource does not follow from their name. */
const RESOURCES: Readonly<Record<string, string>> = {
  ListBuckets: 'SERVICE',
  HeadBucket: 'BUCKET',
  CreateBucket: 'BUCKET',
  DeleteBucket: 'BUCKET',
  ListObjects: 'BUCKET',
  ListObjectsV2: 'BUCKET',
  ListObjectVersions: 'BUCKETVERSIONS',
  ListMultipartUploads: 'UPLOADS',
  CreateMultipartUpload: 'UPLOADS',
  CompleteMultipartUpload: 'UPLOAD',
  AbortMultipartUpload: 'UPLOAD',
  ListParts: 'UPLOAD',
  UploadPart: 'PART',
  UploadPartCopy: 'PART',
  CopyObject: 'OBJECT',
  DeleteObjects: 'MULTI_OBJECT_DELETE',
  PostObject: 'OBJECT',
  RestoreObject: 'RESTORE',
  PreflightRequest: 'PREFLIGHT',
  GetBucketLogging: 'LOGGING_STATUS',
  PutBucketLogging: 'LOGGING_STATUS',
  GetBucketLifecycleConfiguration: 'LIFECYCLE',
  PutBucketLifecycleConfiguration: 'LIFECYCLE',
  DeleteBucketLifecycle: 'LIFECYCLE',
  GetBucketPolicyStatus: 'BUCKETPOLICYSTATUS',
  GetBucketPolicy: 'BUCKETPOLICY',
  PutBucketPolicy: 'BUCKETPOLICY',
  DeleteBucketPolicy: 'BUCKETPOLICY',
  GetBucketTagging: 'TAGGING',
  PutBucketTagging: 'TAGGING',
  DeleteBucketTagging: 'TAGGING',
  GetBucketPublicAccessBlock: 'PUBLIC_ACCESS_BLOCK',
  PutBucketPublicAccessBlock: 'PUBLIC_ACCESS_BLOCK',
  DeleteBucketPublicAccessBlock: 'PUBLIC_ACCESS_BLOCK',
};

/** `REST.GET.OBJECT`: what a request did, as server access logs say it. */
export function loggedOperation(operation: string, method: string): string {
  const verb = operation === 'CopyObject' || operation === 'UploadPartCopy' ? 'COPY' : method;
  return `REST.${verb}.${resourceOf(operation)}`;
}

function resourceOf(operation: string): string {
  const known = Object.hasOwn(RESOURCES, operation) ? RESOURCES[operation] : undefined;
  if (known !== undefined) return known;
  const noun = operation.replace(/^(Get|Put|Delete|Head|List|Create)/, '').replace(/^Bucket(?=.)/, '');
  return noun.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
}
