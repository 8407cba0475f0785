import type { Route, S3Operation } from '../request.ts';
import { getBucketAcl, getObjectAcl, putBucketAcl, putObjectAcl } from './access/access-lists.ts';
import { deleteBucketEncryption, getBucketEncryption, putBucketEncryption } from './buckets/bucket-encryption.ts';
import { createBucket, deleteBucket, getBucketLocation, headBucket } from './buckets/bucket.ts';
import {
  deleteBucketOwnershipControls,
  getBucketOwnershipControls,
  putBucketOwnershipControls,
} from './buckets/ownership.ts';
import { deletePublicAccessBlock, getPublicAccessBlock, putPublicAccessBlock } from './buckets/public-access-block.ts';
import { abortMultipartUpload, completeMultipartUpload } from './uploads/complete-upload.ts';
import { copyObject } from './objects/copy-object.ts';
import { deleteBucketCors, getBucketCors, putBucketCors } from './buckets/cors.ts';
import { createMultipartUpload } from './uploads/create-upload.ts';
import { deleteObject } from './objects/delete-object.ts';
import { deleteObjects } from './objects/delete-objects.ts';
import { getObject, headObject } from './objects/get-object.ts';
import { deleteBucketLifecycle, getBucketLifecycle, putBucketLifecycle } from './buckets/lifecycle.ts';
import { listBuckets } from './buckets/list-buckets.ts';
import { listObjects, listObjectsV2 } from './listings/list-objects.ts';
import { listMultipartUploads, listParts } from './uploads/list-uploads.ts';
import { listObjectVersions } from './listings/list-versions.ts';
import { getObjectLockConfiguration, putObjectLockConfiguration } from './buckets/lock-configuration.ts';
import { getObjectLegalHold, getObjectRetention, putObjectLegalHold, putObjectRetention } from './objects/lock.ts';
import { getBucketLogging, putBucketLogging } from './buckets/logging.ts';
import { getBucketNotification, putBucketNotification } from './buckets/notifications.ts';
import { unsetRoutes } from './buckets/unset.ts';
import { getObjectAttributes } from './objects/object-attributes-view.ts';
import { deleteBucketPolicy, getBucketPolicy, getBucketPolicyStatus, putBucketPolicy } from './access/policy.ts';
import { putObject } from './objects/put-object.ts';
import { deleteBucketReplication, getBucketReplication, putBucketReplication } from './buckets/replication.ts';
import {
  deleteBucketTagging,
  deleteObjectTagging,
  getBucketTagging,
  getObjectTagging,
  putBucketTagging,
  putObjectTagging,
} from './buckets/tagging.ts';
import { uploadPartCopy } from './uploads/upload-part-copy.ts';
import { uploadPart } from './uploads/upload-part.ts';
import { getBucketVersioning, putBucketVersioning } from './buckets/versioning.ts';

/** A query parameter of a bucket and what each method does with it. */
function bucketRoutes(name: string, get: S3Operation, put?: S3Operation, remove?: S3Operation): Route[] {
  return routesOf('bucket', name, get, put, remove);
}

function objectRoutes(name: string, get: S3Operation, put?: S3Operation, remove?: S3Operation): Route[] {
  return routesOf('object', name, get, put, remove);
}

function routesOf(
  level: 'bucket' | 'object',
  name: string,
  get: S3Operation,
  put: S3Operation | undefined,
  remove: S3Operation | undefined,
): Route[] {
  const query = [name];
  return [
    { method: 'GET', level, query, operation: get },
    ...(put === undefined ? [] : [{ method: 'PUT', level, query, operation: put } as const]),
    ...(remove === undefined ? [] : [{ method: 'DELETE', level, query, operation: remove } as const]),
  ];
}

/** Every operation of S3 there is here. The first row that fits a request is it. */
export const operations: readonly Route[] = [
  { method: 'GET', level: 'service', operation: listBuckets },

  ...bucketRoutes('location', getBucketLocation),
  ...bucketRoutes('versioning', getBucketVersioning, putBucketVersioning),
  ...bucketRoutes('acl', getBucketAcl, putBucketAcl),
  ...bucketRoutes('policy', getBucketPolicy, putBucketPolicy, deleteBucketPolicy),
  ...bucketRoutes('policyStatus', getBucketPolicyStatus),
  ...bucketRoutes('publicAccessBlock', getPublicAccessBlock, putPublicAccessBlock, deletePublicAccessBlock),
  ...bucketRoutes(
    'ownershipControls',
    getBucketOwnershipControls,
    putBucketOwnershipControls,
    deleteBucketOwnershipControls,
  ),
  ...bucketRoutes('encryption', getBucketEncryption, putBucketEncryption, deleteBucketEncryption),
  ...bucketRoutes('cors', getBucketCors, putBucketCors, deleteBucketCors),
  ...bucketRoutes('lifecycle', getBucketLifecycle, putBucketLifecycle, deleteBucketLifecycle),
  ...bucketRoutes('tagging', getBucketTagging, putBucketTagging, deleteBucketTagging),
  ...bucketRoutes('object-lock', getObjectLockConfiguration, putObjectLockConfiguration),
  ...bucketRoutes('replication', getBucketReplication, putBucketReplication, deleteBucketReplication),
  ...bucketRoutes('logging', getBucketLogging, putBucketLogging),
  ...bucketRoutes('notification', getBucketNotification, putBucketNotification),
  ...bucketRoutes('versions', listObjectVersions),
  ...bucketRoutes('uploads', listMultipartUploads),
  { method: 'POST', level: 'bucket', query: ['delete'], operation: deleteObjects },

  ...objectRoutes('acl', getObjectAcl, putObjectAcl),
  ...objectRoutes('tagging', getObjectTagging, putObjectTagging, deleteObjectTagging),
  ...objectRoutes('retention', getObjectRetention, putObjectRetention),
  ...objectRoutes('legal-hold', getObjectLegalHold, putObjectLegalHold),
  ...objectRoutes('attributes', getObjectAttributes),
  { method: 'POST', level: 'object', query: ['uploads'], operation: createMultipartUpload },
  {
    method: 'PUT',
    level: 'object',
    query: ['partNumber', 'uploadId'],
    header: 'x-amz-copy-source',
    operation: uploadPartCopy,
  },
  { method: 'PUT', level: 'object', query: ['partNumber', 'uploadId'], operation: uploadPart },
  { method: 'POST', level: 'object', query: ['uploadId'], operation: completeMultipartUpload },
  { method: 'GET', level: 'object', query: ['uploadId'], operation: listParts },
  { method: 'DELETE', level: 'object', query: ['uploadId'], operation: abortMultipartUpload },

  ...unsetRoutes,

  { method: 'GET', level: 'bucket', queryValue: { 'list-type': '2' }, operation: listObjectsV2 },
  { method: 'GET', level: 'bucket', operation: listObjects },
  { method: 'HEAD', level: 'bucket', operation: headBucket },
  { method: 'PUT', level: 'bucket', operation: createBucket },
  { method: 'DELETE', level: 'bucket', operation: deleteBucket },
  { method: 'GET', level: 'object', operation: getObject },
  { method: 'HEAD', level: 'object', operation: headObject },
  { method: 'PUT', level: 'object', header: 'x-amz-copy-source', operation: copyObject },
  { method: 'PUT', level: 'object', operation: putObject },
  { method: 'DELETE', level: 'object', operation: deleteObject },
];
