import type { BucketSettings } from '@granary/storage/object-store';
import { noKeyService } from '../../encryption/encryption.ts';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Operation } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { readXml, type XmlElement } from '../../xml-reader.ts';
import { NO_CONTENT, xmlReply } from '../replies.ts';
import { changeSettings } from './change-bucket.ts';

export const getBucketEncryption: S3Operation = {
  name: 'GetBucketEncryption',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetEncryptionConfiguration',
  changes: false,
  run({ bucket, context }) {
    const { encryption } = bucket.settings;
    if (encryption === undefined && !context.store.isEncrypting) {
      throw new S3Error('ServerSideEncryptionConfigurationNotFoundError', undefined, { BucketName: bucket.name });
    }
    const standard = element('ApplyServerSideEncryptionByDefault', field('SSEAlgorithm', 'AES256'));
    const bucketKey = field('BucketKeyEnabled', encryption?.bucketKey ?? false);
    return xmlReply('ServerSideEncryptionConfiguration', element('Rule', standard + bucketKey));
  },
};

export const putBucketEncryption: S3Operation = {
  name: 'PutBucketEncryption',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutEncryptionConfiguration',
  changes: true,
  async run(request) {
    const encryption = readConfiguration(readXml(await request.body.text(), 'ServerSideEncryptionConfiguration'));
    if (!request.context.store.canEncrypt) throw new S3Error('NotImplemented', 'This array cannot encrypt.');
    await changeSettings(request, { encryption });
    return { status: 200 };
  },
};

export const deleteBucketEncryption: S3Operation = {
  name: 'DeleteBucketEncryption',
  class: 'delete',
  subject: 'bucket',
  action: 's3:PutEncryptionConfiguration',
  changes: true,
  async run(request) {
    await changeSettings(request, { encryption: undefined });
    return NO_CONTENT;
  },
};

function readConfiguration(root: XmlElement): NonNullable<BucketSettings['encryption']> {
  root.only('Rule');
  const rules = root.all('Rule');
  const [rule] = rules;
  if (rules.length !== 1 || rule === undefined) throw malformed('A configuration has one <Rule>.');
  rule.onlyOnce('ApplyServerSideEncryptionByDefault', 'BucketKeyEnabled');
  const standard = rule.child('ApplyServerSideEncryptionByDefault');
  if (standard === undefined) throw malformed('<Rule> needs <ApplyServerSideEncryptionByDefault>.');
  standard.onlyOnce('SSEAlgorithm', 'KMSMasterKeyID');
  const algorithm = standard.need('SSEAlgorithm').trim();
  if (algorithm === 'aws:kms' || algorithm === 'aws:kms:dsse') throw noKeyService();
  if (algorithm !== 'AES256') throw malformed('<SSEAlgorithm> is AES256.');
  const key = standard.text('KMSMasterKeyID');
  if (key !== undefined) {
    throw badArgument(
      'ApplyServerSideEncryptionByDefault',
      key,
      'a KMSMasterKeyID is not applicable if the default sse algorithm is not aws:kms or aws:kms:dsse',
    );
  }
  const bucketKey = rule.text('BucketKeyEnabled')?.trim().toLowerCase() ?? 'false';
  if (bucketKey !== 'true' && bucketKey !== 'false') throw malformed('<BucketKeyEnabled> is true or false.');
  return { algorithm, ...(bucketKey === 'true' && { bucketKey: true }) };
}

function malformed(message: string): S3Error {
  return new S3Error('MalformedXML', message);
}
