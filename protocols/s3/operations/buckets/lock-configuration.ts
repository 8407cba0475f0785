import type { BucketSettings } from '@granary/storage/object-store';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Operation } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { readXml, type XmlElement } from '../../xml-reader.ts';
import { xmlReply } from '../replies.ts';

const MOST_DAYS = 36_500;

export const getObjectLockConfiguration: S3Operation = {
  name: 'GetObjectLockConfiguration',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketObjectLockConfiguration',
  changes: false,
  run({ bucket }) {
    if (!bucket.lockable) {
      throw new S3Error('ObjectLockConfigurationNotFoundError', undefined, { BucketName: bucket.name });
    }
    const standard = bucket.settings.lockDefault;
    const rule =
      standard === undefined
        ? ''
        : element('Rule', element('DefaultRetention', field('Mode', standard.mode) + field('Days', standard.days)));
    return xmlReply('ObjectLockConfiguration', field('ObjectLockEnabled', 'Enabled') + rule);
  },
};

export const putObjectLockConfiguration: S3Operation = {
  name: 'PutObjectLockConfiguration',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketObjectLockConfiguration',
  changes: true,
  async run({ body, bucket, context, now }) {
    const root = readXml(await body.text(), 'ObjectLockConfiguration');
    root.only('ObjectLockEnabled', 'Rule');
    if (root.text('ObjectLockEnabled')?.trim() !== 'Enabled') {
      throw new S3Error('MalformedXML', '<ObjectLockEnabled> must be Enabled: object lock cannot be switched off.');
    }
    if (bucket.versioning !== 'enabled') {
      throw new S3Error('InvalidBucketState', 'Switch versioning on first: object lock keeps versions.');
    }
    const settings = { lockDefault: defaultOf(root.child('Rule')) };
    await context.store.commit('changeBucket', { bucket: bucket.id, lockable: true, settings, at: now });
    return { status: 200 };
  },
};

function defaultOf(rule: XmlElement | undefined): BucketSettings['lockDefault'] {
  if (rule === undefined) return undefined;
  rule.only('DefaultRetention');
  const standard = rule.child('DefaultRetention');
  standard?.only('Mode', 'Days', 'Years');
  const mode = standard?.text('Mode')?.trim();
  if (standard === undefined || (mode !== 'GOVERNANCE' && mode !== 'COMPLIANCE')) {
    throw new S3Error('MalformedXML', '<DefaultRetention> needs <Mode>: GOVERNANCE or COMPLIANCE.');
  }
  const [days, years] = [standard.text('Days'), standard.text('Years')];
  if ((days === undefined) === (years === undefined)) {
    throw new S3Error('MalformedXML', '<DefaultRetention> needs <Days> or <Years>.');
  }
  const count = /^\s*\d{1,6}\s*$/.test(days ?? years ?? '')
    ? Number(days ?? years) * (days === undefined ? 365 : 1)
    : 0;
  if (count < 1 || count > MOST_DAYS) {
    throw badArgument(
      days === undefined ? 'Years' : 'Days',
      days ?? years ?? '',
      'Retention lasts 1 day to 100 years.',
    );
  }
  return { mode, days: count };
}
