import { S3Error } from '../../errors.ts';
import type { S3Operation } from '../../request.ts';
import { field } from '../../xml.ts';
import { readXml } from '../../xml-reader.ts';
import { xmlReply } from '../replies.ts';

export const getBucketVersioning: S3Operation = {
  name: 'GetBucketVersioning',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketVersioning',
  changes: false,
  run({ bucket: { versioning } }) {
    const status = { off: null, enabled: 'Enabled', suspended: 'Suspended' }[versioning];
    return xmlReply('VersioningConfiguration', field('Status', status));
  },
};

export const putBucketVersioning: S3Operation = {
  name: 'PutBucketVersioning',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketVersioning',
  changes: true,
  async run({ body, bucket, context, now }) {
    const root = readXml(await body.text(), 'VersioningConfiguration');
    root.only('Status', 'MfaDelete');
    if (root.text('MfaDelete')?.trim() === 'Enabled') {
      throw new S3Error('NotImplemented', 'Deleting with a second factor is not offered here.');
    }
    const status = root.text('Status')?.trim();
    if (status !== 'Enabled' && status !== 'Suspended') {
      throw new S3Error('IllegalVersioningConfigurationException', 'Status must be Enabled or Suspended.');
    }
    if (status === 'Suspended' && bucket.lockable) {
      throw new S3Error('InvalidBucketState', 'Versioning stays on in a bucket with object lock.');
    }
    const versioning = status === 'Enabled' ? 'enabled' : 'suspended';
    await context.store.commit('changeBucket', { bucket: bucket.id, versioning, at: now });
    return { status: 200 };
  },
};
