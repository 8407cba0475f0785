import type { Bucket, ObjectVersion } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import { causeOf, type S3Operation, type S3Request } from '../../request.ts';
import { readXml } from '../../xml-reader.ts';
import type { AccessList } from '../../access/grants.ts';
import { aclXml, checkAcceptable, kept, listOfXml } from './acl.ts';
import { aclOfHeaders } from './acl-headers.ts';
import { changeSettings } from '../buckets/change-bucket.ts';
import { versionHeader, xmlReply } from '../replies.ts';
import { objectVersion, versionIdOf } from '../objects/versions.ts';

export const getBucketAcl: S3Operation = {
  name: 'GetBucketAcl',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketAcl',
  changes: false,
  async run(request) {
    const { bucket } = request;
    return xmlReply('AccessControlPolicy', await aclXml(request, inEffect(bucket, bucket.settings), bucket.account));
  },
};

export const putBucketAcl: S3Operation = {
  name: 'PutBucketAcl',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketAcl',
  changes: true,
  async run(request) {
    const { acl, grants } = await newList(request, request.bucket.account);
    await changeSettings(request, { acl, grants });
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
    const { bucket } = request;
    const list = await aclXml(request, inEffect(bucket, version.attributes), ownerOf(request, version));
    return xmlReply('AccessControlPolicy', list, versionHeader(bucket, version));
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
    const list = await newList(request, ownerOf(request, objectVersion(request)));
    const changed = await context.store.commit('changeVersion', {
      bucket: bucket.id,
      key,
      ...versionIdOf(request),
      attributes: { acl: undefined, grants: undefined, ...list },
      cause: causeOf(request, 'ObjectAcl:Put'),
      at: now,
    });
    return { status: 200, headers: versionHeader(bucket, changed) };
  },
};

function ownerOf(request: S3Request, { attributes }: ObjectVersion): string {
  return attributes.writer ?? request.bucket.account;
}

/** While the owner of a bucket is enforced, there is no list but that the owner may do everything. */
function inEffect({ settings }: Bucket, list: AccessList): AccessList {
  return settings.ownership === 'BucketOwnerEnforced' ? {} : list;
}

/** By headers, or by a document; not by both. */
async function newList(request: S3Request, owner: string): Promise<AccessList> {
  const named = await aclOfHeaders(request, owner);
  const text = await request.body.text();
  if (named !== undefined && text.trim() !== '') {
    throw new S3Error('UnexpectedContent', 'Give the ACL by headers or in the body, not by both.');
  }
  if (named === undefined && text.trim() === '') {
    throw new S3Error('MissingSecurityHeader', 'Give x-amz-acl, x-amz-grant-* or a document.');
  }
  const list = named ?? (await listOfXml(request, readXml(text, 'AccessControlPolicy'), owner));
  checkAcceptable(request.bucket, list);
  return kept(list);
}
