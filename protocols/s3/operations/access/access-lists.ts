import type { ObjectVersion } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import type { S3Operation, S3Request } from '../../request.ts';
import { readXml } from '../../xml-reader.ts';
import { aclOfXml, aclXml, type CannedAcl } from './acl.ts';
import { aclOfHeaders } from './acl-headers.ts';
import { changeSettings } from '../buckets/change-bucket.ts';
import { ownerFields, versionHeader, xmlReply } from '../replies.ts';
import { objectVersion, versionIdOf } from '../objects/versions.ts';

export const getBucketAcl: S3Operation = {
  name: 'GetBucketAcl',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketAcl',
  changes: false,
  run: async (request) => xmlReply('AccessControlPolicy', await listOf(request, request.bucket.settings.acl)),
};

export const putBucketAcl: S3Operation = {
  name: 'PutBucketAcl',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketAcl',
  changes: true,
  async run(request) {
    const acl = await newList(request);
    await changeSettings(request, { acl: acl === 'private' ? undefined : acl });
    return { status: 200 };
  },
};

export const getObjectAcl: S3Operation = {
  name: 'GetObjectAcl',
  class: 'get',
  subject: 'object',
  action: 's3:GetObjectAcl',
  versionAction: 's3:GetObjectVersionAcl',
  changes: false,
  async run(request) {
    const version = objectVersion(request);
    const list = await listOf(request, version.attributes.acl);
    return xmlReply('AccessControlPolicy', list, versionHeader(request.bucket, version));
  },
};

export const putObjectAcl: S3Operation = {
  name: 'PutObjectAcl',
  class: 'put',
  subject: 'object',
  action: 's3:PutObjectAcl',
  versionAction: 's3:PutObjectVersionAcl',
  changes: true,
  async run(request) {
    const { context, bucket, key, now } = request;
    const acl = await newList(request);
    const { acl: _former, ...others } = objectVersion(request).attributes;
    const attributes: ObjectVersion['attributes'] = acl === 'private' ? others : { ...others, acl };
    const changed = await context.store.commit('changeVersion', {
      bucket: bucket.id,
      key,
      ...versionIdOf(request),
      attributes,
      at: now,
    });
    return { status: 200, headers: versionHeader(bucket, changed) };
  },
};

async function listOf(request: S3Request, acl: string | undefined): Promise<string> {
  return aclXml(acl, await ownerFields(request, request.bucket.account));
}

/** By headers, or by a document; not by both. */
async function newList(request: S3Request): Promise<CannedAcl> {
  const { account } = request.bucket;
  const named = aclOfHeaders(request, account);
  const text = await request.body.text();
  if (named === undefined) {
    if (text.trim() === '') throw new S3Error('MissingSecurityHeader', 'Give x-amz-acl, x-amz-grant-* or a document.');
    return aclOfXml(readXml(text, 'AccessControlPolicy'), account);
  }
  if (text.trim() !== '')
    throw new S3Error('UnexpectedContent', 'Give the ACL by headers or in the body, not by both.');
  return named;
}
