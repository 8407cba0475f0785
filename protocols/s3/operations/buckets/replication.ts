import { randomUUID } from 'node:crypto';
import type { ReplicationRule } from '@granary/storage/object-store';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Operation, S3Request } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { readXml, type XmlElement } from '../../xml-reader.ts';
import { changeSettings } from './change-bucket.ts';
import { NO_CONTENT, xmlReply } from '../replies.ts';

/**
 * S3 names a destination by the bucket alone, because there is one S3. Here the remote endpoint has to be said, too: it
 * stands where an ARN has the region, `arn:aws:s3:<endpoint>::<bucket>`, with the endpoint as the array's administrator
 * named it (`obsdst-00000001`). `Role`, `Account`, `Priority` and `StorageClass` mean nothing here and are ignored.
 */
const DESTINATION = /^arn:aws:s3:([a-z0-9-]{1,64}):[^:]*:([^:/]{1,255})$/;

export const getBucketReplication: S3Operation = {
  name: 'GetBucketReplication',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetReplicationConfiguration',
  changes: false,
  run({ bucket }) {
    const { replication } = bucket.settings;
    if (replication === undefined) throw new S3Error('ReplicationConfigurationNotFoundError');
    return xmlReply('ReplicationConfiguration', field('Role', '') + element('Rule', ruleXml(replication)));
  },
};

export const putBucketReplication: S3Operation = {
  name: 'PutBucketReplication',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutReplicationConfiguration',
  changes: true,
  async run(request) {
    const rules = readXml(await request.body.text(), 'ReplicationConfiguration').all('Rule');
    const [rule] = rules;
    if (rule === undefined) throw new S3Error('MalformedXML', '<ReplicationConfiguration> needs a rule.');
    if (rules.length > 1) throw new S3Error('NotImplemented', 'A bucket can be replicated to one destination.');
    const replication = ruleOf(rule);
    checkKnown(request, replication);
    await changeSettings(request, { replication });
    return { status: 200 };
  },
};

export const deleteBucketReplication: S3Operation = {
  name: 'DeleteBucketReplication',
  class: 'delete',
  subject: 'bucket',
  action: 's3:PutReplicationConfiguration',
  changes: true,
  async run(request) {
    await changeSettings(request, { replication: undefined });
    return NO_CONTENT;
  },
};

/** An endpoint that the account was not granted does not exist for it: it does not learn what others have. */
function checkKnown({ bucket, settings }: S3Request, { destination }: ReplicationRule): void {
  const { destinations = {} } = settings;
  if (Object.hasOwn(destinations, destination) && destinations[destination]?.includes(bucket.account) === true) return;
  throw badArgument(
    'Destination',
    destination,
    'There is no remote endpoint of that name for this account; ask the administrator of the array to grant it.',
  );
}

function ruleOf(rule: XmlElement): ReplicationRule {
  const filter = rule.child('Filter');
  if (filter?.child('Tag') !== undefined || filter?.child('And') !== undefined) {
    throw new S3Error('NotImplemented', 'Objects can be chosen for replication by prefix only.');
  }
  const status = rule.text('Status')?.trim();
  if (status !== 'Enabled' && status !== 'Disabled') {
    throw new S3Error('MalformedXML', '<Status> of a rule is Enabled or Disabled.');
  }
  const arn = (rule.child('Destination')?.need('Bucket') ?? '').trim();
  const [, destination, targetBucket] = DESTINATION.exec(arn) ?? [];
  if (destination === undefined || targetBucket === undefined) {
    throw badArgument('Destination', arn, 'The destination is arn:aws:s3:<remote endpoint>::<bucket>.');
  }
  const id = rule.text('ID')?.slice(0, 255);
  return {
    id: id === undefined || id === '' ? randomUUID() : id,
    enabled: status === 'Enabled',
    prefix: filter?.text('Prefix') ?? rule.text('Prefix') ?? '',
    destination,
    targetBucket,
    deletes: rule.child('DeleteMarkerReplication')?.text('Status')?.trim() === 'Enabled',
  };
}

function ruleXml(rule: ReplicationRule): string {
  return (
    field('ID', rule.id) +
    field('Priority', 1) +
    field('Status', rule.enabled ? 'Enabled' : 'Disabled') +
    element('Filter', field('Prefix', rule.prefix)) +
    element('Destination', field('Bucket', `arn:aws:s3:${rule.destination}::${rule.targetBucket}`)) +
    element('DeleteMarkerReplication', field('Status', rule.deletes ? 'Enabled' : 'Disabled'))
  );
}
