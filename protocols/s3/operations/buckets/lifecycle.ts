import { S3Error } from '../../errors.ts';
import type { S3Operation } from '../../request.ts';
import { readXmlWithin } from '../../xml-reader.ts';
import { changeSettings } from './change-bucket.ts';
import { lifecycleOfXml, lifecycleXml } from './lifecycle-xml.ts';
import { NO_CONTENT, xmlReply } from '../replies.ts';

/** 1,000 rules with a filter and a few actions each. */
const DOCUMENT = { lengthMax: 2 ** 20, elementsMax: 20_000, depthMax: 8 };

export const getBucketLifecycle: S3Operation = {
  name: 'GetBucketLifecycleConfiguration',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetLifecycleConfiguration',
  changes: false,
  run({ bucket }) {
    const { lifecycle } = bucket.settings;
    if (lifecycle === undefined) {
      throw new S3Error('NoSuchLifecycleConfiguration', undefined, { BucketName: bucket.name });
    }
    return xmlReply('LifecycleConfiguration', lifecycleXml(lifecycle));
  },
};

export const putBucketLifecycle: S3Operation = {
  name: 'PutBucketLifecycleConfiguration',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutLifecycleConfiguration',
  changes: true,
  async run(request) {
    const root = readXmlWithin(
      DOCUMENT,
      await request.body.text(DOCUMENT.lengthMax),
      'LifecycleConfiguration',
      'BucketLifecycleConfiguration',
    );
    await changeSettings(request, { lifecycle: lifecycleOfXml(root) });
    return { status: 200 };
  },
};

export const deleteBucketLifecycle: S3Operation = {
  name: 'DeleteBucketLifecycle',
  class: 'delete',
  subject: 'bucket',
  action: 's3:PutLifecycleConfiguration',
  changes: true,
  async run(request) {
    await changeSettings(request, { lifecycle: undefined });
    return NO_CONTENT;
  },
};
