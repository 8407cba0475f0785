import { checkNewPolicy, readPolicy } from '../../access/policy-document.ts';
import { isPublicPolicy } from '../../access/public-policy.ts';
import { S3Error } from '../../errors.ts';
import type { S3Operation, S3Request } from '../../request.ts';
import { field } from '../../xml.ts';
import { changeSettings } from '../buckets/change-bucket.ts';
import { NO_CONTENT, xmlReply } from '../replies.ts';

export const getBucketPolicy: S3Operation = {
  name: 'GetBucketPolicy',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketPolicy',
  changes: false,
  run: (request) => ({ status: 200, headers: { 'content-type': 'application/json' }, body: policyOf(request) }),
};

export const putBucketPolicy: S3Operation = {
  name: 'PutBucketPolicy',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketPolicy',
  changes: true,
  async run(request) {
    const policy = await request.body.text();
    checkNewPolicy(policy, request.bucket.name);
    const { blockPublicPolicy = false } = request.bucket.settings.publicAccessBlock ?? {};
    if (blockPublicPolicy && isPublicPolicy(readPolicy(policy, request.bucket.name))) {
      throw new S3Error('AccessDenied', 'Public policies are blocked by the public access block of the bucket.');
    }
    await changeSettings(request, { policy });
    return NO_CONTENT;
  },
};

export const deleteBucketPolicy: S3Operation = {
  name: 'DeleteBucketPolicy',
  class: 'delete',
  subject: 'bucket',
  action: 's3:DeleteBucketPolicy',
  changes: true,
  async run(request) {
    await changeSettings(request, { policy: undefined });
    return NO_CONTENT;
  },
};

export const getBucketPolicyStatus: S3Operation = {
  name: 'GetBucketPolicyStatus',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketPolicyStatus',
  changes: false,
  run: (request) =>
    xmlReply('PolicyStatus', field('IsPublic', isPublicPolicy(readPolicy(policyOf(request), request.bucket.name)))),
};

function policyOf({ bucket }: S3Request): string {
  const { policy } = bucket.settings;
  if (policy === undefined) throw new S3Error('NoSuchBucketPolicy', undefined, { BucketName: bucket.name });
  return policy;
}
