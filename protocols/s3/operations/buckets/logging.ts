import type { AccessLogging } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import type { S3Operation, S3Request } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { readXml, type XmlElement } from '../../xml-reader.ts';
import { grantsXml, listOfGrants, namedGrant } from '../access/acl.ts';
import { xmlReply } from '../replies.ts';
import { changeSettings } from './change-bucket.ts';

const PREFIX_BYTES_MAX = 512;
const PERMISSIONS: readonly string[] = ['FULL_CONTROL', 'READ', 'WRITE'];

/** Requests to the bucket are written down in objects of another bucket of the same account. */
export const putBucketLogging: S3Operation = {
  name: 'PutBucketLogging',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketLogging',
  changes: true,
  async run(request) {
    const root = readXml(await request.body.text(), 'BucketLoggingStatus');
    root.onlyOnce('LoggingEnabled');
    const enabled = root.child('LoggingEnabled');
    const logging = enabled && (await loggingOf(request, enabled));
    await changeSettings(request, { logging });
    return { status: 200 };
  },
};

export const getBucketLogging: S3Operation = {
  name: 'GetBucketLogging',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketLogging',
  changes: false,
  async run(request) {
    const { logging } = request.bucket.settings;
    if (logging === undefined) return xmlReply('BucketLoggingStatus', '');
    const { targetBucket, targetPrefix, grants } = logging;
    const inner =
      field('TargetBucket', targetBucket) +
      (grants === undefined ? '' : element('TargetGrants', await grantsXml(request, grants))) +
      field('TargetPrefix', targetPrefix) +
      formatXml(logging);
    return xmlReply('BucketLoggingStatus', element('LoggingEnabled', inner));
  },
};

async function loggingOf(request: S3Request, enabled: XmlElement): Promise<AccessLogging> {
  enabled.onlyOnce('TargetBucket', 'TargetPrefix', 'TargetGrants', 'TargetObjectKeyFormat');
  const targetBucket = enabled.need('TargetBucket').trim();
  const targetPrefix = enabled.need('TargetPrefix');
  if (Buffer.byteLength(targetPrefix) > PREFIX_BYTES_MAX) {
    throw new S3Error('InvalidArgument', `A TargetPrefix has at most ${PREFIX_BYTES_MAX} bytes.`, {
      ArgumentName: 'TargetPrefix',
    });
  }
  const keyFormat = formatOf(enabled.child('TargetObjectKeyFormat'));
  const named = grantsOf(enabled.child('TargetGrants'));
  const target = await demandTarget(request, targetBucket, targetPrefix);
  if (named.length > 0 && target.settings.ownership === 'BucketOwnerEnforced') {
    throw new S3Error(
      'AccessControlListNotSupported',
      'The target bucket does not allow ACLs: leave TargetGrants out.',
    );
  }
  const { grants } = named.length === 0 ? { grants: undefined } : await wholeList(request, named);
  return {
    targetBucket,
    targetPrefix,
    ...(grants && { grants }),
    ...(keyFormat && { keyFormat }),
  };
}

/** As they were given, whatever canned list says the same. */
async function wholeList(request: S3Request, named: ReturnType<typeof grantsOf>) {
  // The owner of a grant is none of the grantees: no list is then taken for a canned one.
  const { grants } = await listOfGrants(request, named, '');
  return { grants };
}

/** It has to be there, of the same account, and the caller has to be able to put objects there. */
async function demandTarget(request: S3Request, name: string, prefix: string) {
  const { context, bucket } = request;
  const target = context.store.bucket(bucket.account, name);
  if (target === undefined) {
    throw new S3Error('InvalidTargetBucketForLogging', undefined, { TargetBucket: name });
  }
  if (target.settings.lockDefault !== undefined) {
    const message = 'The target bucket for logging must not have a default retention.';
    throw new S3Error('InvalidTargetBucketForLogging', message, { TargetBucket: name });
  }
  await request.open({ account: bucket.account, name }, 's3:PutObject', prefix);
  return target;
}

function grantsOf(list: XmlElement | undefined) {
  list?.only('Grant');
  const grants = list?.all('Grant').map(namedGrant) ?? [];
  if (grants.every(({ permission }) => PERMISSIONS.includes(permission))) return grants;
  throw new S3Error('MalformedXML', `<Permission> of a target grant is ${PERMISSIONS.join(', ')}.`);
}

function formatOf(format: XmlElement | undefined): AccessLogging['keyFormat'] {
  if (format === undefined) return undefined;
  format.onlyOnce('SimplePrefix', 'PartitionedPrefix');
  const [simple, partitioned] = [format.child('SimplePrefix'), format.child('PartitionedPrefix')];
  if ((simple === undefined) === (partitioned === undefined)) {
    throw new S3Error('MalformedXML', '<TargetObjectKeyFormat> holds <SimplePrefix> or <PartitionedPrefix>.');
  }
  simple?.only();
  if (partitioned === undefined) return 'simple';
  partitioned.onlyOnce('PartitionDateSource');
  const source = partitioned.text('PartitionDateSource')?.trim() ?? 'DeliveryTime';
  if (source === 'EventTime') return 'event-time';
  if (source === 'DeliveryTime') return 'delivery-time';
  throw new S3Error('MalformedXML', '<PartitionDateSource> is EventTime or DeliveryTime.');
}

function formatXml({ keyFormat }: AccessLogging): string {
  if (keyFormat === undefined) return '';
  const source = keyFormat === 'event-time' ? 'EventTime' : 'DeliveryTime';
  const inner =
    keyFormat === 'simple'
      ? element('SimplePrefix', '')
      : element('PartitionedPrefix', field('PartitionDateSource', source));
  return element('TargetObjectKeyFormat', inner);
}
