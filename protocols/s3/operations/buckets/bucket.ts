import { findPolicyNamed, ObjectError, type BucketSettings, type ObjectStore } from '@granary/storage/object-store';
import { checkNewBucketName } from '../../address.ts';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Operation, S3Reply, S3Request } from '../../request.ts';
import { readXml } from '../../xml-reader.ts';
import { aclOfHeaders } from '../access/acl-headers.ts';
import { kept } from '../access/acl.ts';
import { checkOwnership, ownershipOfHeader } from './ownership.ts';
import { NO_CONTENT, xmlReply } from '../replies.ts';

/** The default region of clients; S3 treats it unlike all others. */
const FIRST_REGION = 'us-east-1';

export const createBucket: S3Operation = {
  name: 'CreateBucket',
  class: 'put',
  subject: 'bucket',
  action: 's3:CreateBucket',
  changes: true,
  creates: true,
  async run(request) {
    const { address, caller, context, now } = request;
    if (caller === null || address === null) throw new S3Error('AccessDenied', 'Only a signed request makes a bucket.');
    if (address.account !== undefined && address.account !== caller.account) {
      throw new S3Error('AccessDenied', 'Buckets are made in your own account.');
    }
    checkNewBucketName(address.name);
    const place = placeOf(request, await constraintOf(request));
    const list = kept((await aclOfHeaders(request, caller.account)) ?? {});
    const ownership = ownershipOfHeader(request);
    if (ownership !== undefined) checkOwnership(ownership, list, caller.account);
    const settings: BucketSettings = { owner: caller.user, ...list, ...(ownership !== undefined && { ownership }) };
    const lockable = request.header('x-amz-bucket-object-lock-enabled')?.toLowerCase() === 'true';
    const reply: S3Reply = { status: 200, headers: { location: `/${address.name}` } };
    try {
      const { account } = caller;
      await context.store.commit('createBucket', {
        account,
        name: address.name,
        policy: place,
        lockable,
        settings,
        at: now,
      });
    } catch (error) {
      const again = error instanceof ObjectError && error.code === 'bucket-exists';
      if (!again || request.settings.region !== FIRST_REGION) throw error;
    }
    return reply;
  },
};

export const headBucket: S3Operation = {
  name: 'HeadBucket',
  class: 'other',
  subject: 'bucket',
  action: 's3:ListBucket',
  changes: false,
  asksIfThere: true,
  run: ({ settings }) => ({
    status: 200,
    headers: { 'x-amz-bucket-region': settings.region, 'x-amz-access-point-alias': 'false' },
  }),
};

export const deleteBucket: S3Operation = {
  name: 'DeleteBucket',
  class: 'delete',
  subject: 'bucket',
  action: 's3:DeleteBucket',
  changes: true,
  async run({ context, bucket, now }) {
    // Unfinished uploads do not keep a bucket from being deleted, as with S3.
    await context.store.commit('deleteBucket', { bucket: bucket.id, force: true, at: now });
    return NO_CONTENT;
  },
};

export const getBucketLocation: S3Operation = {
  name: 'GetBucketLocation',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketLocation',
  changes: false,
  run: ({ settings }) => xmlReply('LocationConstraint', settings.region === FIRST_REGION ? '' : settings.region),
};

async function constraintOf({ body }: S3Request): Promise<string> {
  const text = await body.text();
  if (text.trim() === '') return '';
  return (readXml(text, 'CreateBucketConfiguration').text('LocationConstraint') ?? '').trim();
}

/** `<region>`, `<region>:<storage policy>` or `:<storage policy>`; Swift's header for the policy is taken, too. */
function placeOf(request: S3Request, constraint: string): number {
  const colon = constraint.indexOf(':');
  const region = colon < 0 ? constraint : constraint.slice(0, colon);
  if (region !== '' && region !== request.settings.region && region !== FIRST_REGION) {
    throw new S3Error('InvalidLocationConstraint', `This array is in the region ${request.settings.region}.`, {
      LocationConstraint: constraint.slice(0, 256),
    });
  }
  const named = colon < 0 ? undefined : constraint.slice(colon + 1);
  return policyOf(request.context.store, named ?? request.header('x-storage-policy'));
}

function policyOf({ policies, defaultPolicy }: ObjectStore, name: string | undefined): number {
  if (name === undefined || name === '') {
    if (defaultPolicy === null) throw new S3Error('ServiceUnavailable', 'The array has no storage policy yet.');
    return defaultPolicy;
  }
  const policy = findPolicyNamed(policies, name);
  if (policy === undefined) throw badArgument('x-storage-policy', name, 'There is no storage policy of that name.');
  return policy.index;
}
