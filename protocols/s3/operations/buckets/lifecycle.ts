import { badArgument, S3Error } from '../../errors.ts';
import type { S3Operation, S3Request } from '../../request.ts';
import { readXmlWithin } from '../../xml-reader.ts';
import { changeSettings } from './change-bucket.ts';
import { lifecycleOfXml, lifecycleXml } from './lifecycle-xml.ts';
import { NO_CONTENT, xmlReply } from '../replies.ts';
import { policyOfClass } from '../storage-class.ts';

/** 1,000 rules with a filter and a few actions each. */
const DOCUMENT = { lengthMax: 2 ** 20, elementsMax: 20_000, depthMax: 8 };

/** Storage policies take objects of any size, so none are spared unless the caller wants that. */
const MINIMUM = 'x-amz-transition-default-minimum-object-size';
const SPARES_SMALL = 'all_storage_classes_128K';
const BY_CLASS = 'varies_by_storage_class';

function sparesSmallBy(request: S3Request): boolean {
  const value = request.header(MINIMUM);
  if (value === undefined || value === BY_CLASS) return false;
  if (value === SPARES_SMALL) return true;
  throw badArgument(MINIMUM, value, `${MINIMUM} is ${SPARES_SMALL} or ${BY_CLASS}.`);
}

function minimumHeader(sparesSmall: boolean): Record<string, string> {
  return { [MINIMUM]: sparesSmall ? SPARES_SMALL : BY_CLASS };
}

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
    const { transitionsSpareSmall: sparesSmall = false } = bucket.settings;
    return xmlReply('LifecycleConfiguration', lifecycleXml(lifecycle), minimumHeader(sparesSmall));
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
    const { bucket, context } = request;
    const lifecycle = lifecycleOfXml(root, (name) => policyOfClass(context.store, bucket, name));
    const sparesSmall = sparesSmallBy(request);
    await changeSettings(request, { lifecycle, transitionsSpareSmall: sparesSmall ? true : undefined });
    return { status: 200, headers: minimumHeader(sparesSmall) };
  },
};

export const deleteBucketLifecycle: S3Operation = {
  name: 'DeleteBucketLifecycle',
  class: 'delete',
  subject: 'bucket',
  action: 's3:PutLifecycleConfiguration',
  changes: true,
  async run(request) {
    await changeSettings(request, { lifecycle: undefined, transitionsSpareSmall: undefined });
    return NO_CONTENT;
  },
};
