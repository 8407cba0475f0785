import type { PublicAccessBlock } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import type { S3Operation } from '../../request.ts';
import { field } from '../../xml.ts';
import { readXml, type XmlElement } from '../../xml-reader.ts';
import { NO_CONTENT, xmlReply } from '../replies.ts';
import { changeSettings } from './change-bucket.ts';

const ELEMENTS = {
  BlockPublicAcls: 'blockPublicAcls',
  IgnorePublicAcls: 'ignorePublicAcls',
  BlockPublicPolicy: 'blockPublicPolicy',
  RestrictPublicBuckets: 'restrictPublicBuckets',
} as const satisfies Record<string, keyof PublicAccessBlock>;

export const getPublicAccessBlock: S3Operation = {
  name: 'GetBucketPublicAccessBlock',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketPublicAccessBlock',
  changes: false,
  run({ bucket }) {
    const { publicAccessBlock: block } = bucket.settings;
    if (block === undefined) {
      throw new S3Error('NoSuchPublicAccessBlockConfiguration', undefined, { BucketName: bucket.name });
    }
    const fields = Object.entries(ELEMENTS).map(([name, part]) => field(name, block[part]));
    return xmlReply('PublicAccessBlockConfiguration', fields.join(''));
  },
};

export const putPublicAccessBlock: S3Operation = {
  name: 'PutBucketPublicAccessBlock',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketPublicAccessBlock',
  changes: true,
  async run(request) {
    const root = readXml(await request.body.text(), 'PublicAccessBlockConfiguration');
    root.onlyOnce(...Object.keys(ELEMENTS));
    const publicAccessBlock: PublicAccessBlock = {
      blockPublicAcls: isTrue(root, 'BlockPublicAcls'),
      ignorePublicAcls: isTrue(root, 'IgnorePublicAcls'),
      blockPublicPolicy: isTrue(root, 'BlockPublicPolicy'),
      restrictPublicBuckets: isTrue(root, 'RestrictPublicBuckets'),
    };
    await changeSettings(request, { publicAccessBlock });
    return { status: 200 };
  },
};

export const deletePublicAccessBlock: S3Operation = {
  name: 'DeleteBucketPublicAccessBlock',
  class: 'delete',
  subject: 'bucket',
  action: 's3:PutBucketPublicAccessBlock',
  changes: true,
  async run(request) {
    await changeSettings(request, { publicAccessBlock: undefined });
    return NO_CONTENT;
  },
};

/** What is not given is false. */
function isTrue(root: XmlElement, name: keyof typeof ELEMENTS): boolean {
  const text = root.text(name)?.trim().toLowerCase() ?? 'false';
  if (text !== 'true' && text !== 'false') throw new S3Error('MalformedXML', `<${name}> is true or false.`);
  return text === 'true';
}
