import { S3Error } from '../../errors.ts';
import { causeOf, type S3Operation, type S3Reply, type S3Request } from '../../request.ts';
import { readXml } from '../../xml-reader.ts';
import { changeSettings } from './change-bucket.ts';
import { NO_CONTENT, versionHeader, xmlReply } from '../replies.ts';
import { MOST_BUCKET_TAGS, MOST_OBJECT_TAGS, tagSetXml, tagsOfXml, type Tags } from '../objects/tags.ts';
import { objectVersion, versionIdOf } from '../objects/versions.ts';

export const getBucketTagging: S3Operation = {
  name: 'GetBucketTagging',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketTagging',
  changes: false,
  run({ bucket }) {
    const { tags } = bucket.settings;
    if (tags === undefined) throw new S3Error('NoSuchTagSet', undefined, { BucketName: bucket.name });
    return xmlReply('Tagging', tagSetXml(tags));
  },
};

export const putBucketTagging: S3Operation = {
  name: 'PutBucketTagging',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketTagging',
  changes: true,
  async run(request) {
    const tags = tagsOfXml(readXml(await request.body.text(), 'Tagging'), MOST_BUCKET_TAGS);
    await changeSettings(request, { tags });
    return NO_CONTENT;
  },
};

export const deleteBucketTagging: S3Operation = {
  name: 'DeleteBucketTagging',
  class: 'delete',
  subject: 'bucket',
  action: 's3:PutBucketTagging',
  changes: true,
  async run(request) {
    await changeSettings(request, { tags: undefined });
    return NO_CONTENT;
  },
};

export const getObjectTagging: S3Operation = {
  name: 'GetObjectTagging',
  class: 'get',
  subject: 'object',
  action: 's3:GetObjectTagging',
  versionAction: 's3:GetObjectVersionTagging',
  changes: false,
  run(request) {
    const version = objectVersion(request);
    return xmlReply('Tagging', tagSetXml(version.attributes.tags ?? {}), versionHeader(request.bucket, version));
  },
};

export const putObjectTagging: S3Operation = {
  name: 'PutObjectTagging',
  class: 'put',
  subject: 'object',
  action: 's3:PutObjectTagging',
  versionAction: 's3:PutObjectVersionTagging',
  changes: true,
  async run(request) {
    return setTags(request, tagsOfXml(readXml(await request.body.text(), 'Tagging'), MOST_OBJECT_TAGS), 200);
  },
};

export const deleteObjectTagging: S3Operation = {
  name: 'DeleteObjectTagging',
  class: 'delete',
  subject: 'object',
  action: 's3:DeleteObjectTagging',
  versionAction: 's3:DeleteObjectVersionTagging',
  changes: true,
  run: (request) => setTags(request, {}, 204),
};

async function setTags(request: S3Request, tags: Tags, status: number): Promise<S3Reply> {
  const { context, bucket, key, now } = request;
  objectVersion(request);
  const isEmpty = Object.keys(tags).length === 0;
  const changed = await context.store.commit('changeVersion', {
    bucket: bucket.id,
    key,
    ...versionIdOf(request),
    attributes: { tags: isEmpty ? undefined : tags },
    cause: causeOf(request, status === 204 ? 'ObjectTagging:Delete' : 'ObjectTagging:Put'),
    at: now,
  });
  return { status, headers: versionHeader(bucket, changed) };
}
