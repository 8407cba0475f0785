import type { ObjectOwnership } from '@granary/storage/object-store';
import { type AccessList, grantsOf } from '../../access/grants.ts';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Operation, S3Request } from '../../request.ts';
import { element, field } from '../../xml.ts';
import { readXml } from '../../xml-reader.ts';
import { NO_CONTENT, xmlReply } from '../replies.ts';
import { changeSettings } from './change-bucket.ts';

const OWNERSHIPS: readonly ObjectOwnership[] = ['BucketOwnerEnforced', 'BucketOwnerPreferred', 'ObjectWriter'];

export const getBucketOwnershipControls: S3Operation = {
  name: 'GetBucketOwnershipControls',
  class: 'get',
  subject: 'bucket',
  action: 's3:GetBucketOwnershipControls',
  changes: false,
  run({ bucket }) {
    const { ownership } = bucket.settings;
    if (ownership === undefined) {
      throw new S3Error('OwnershipControlsNotFoundError', undefined, { BucketName: bucket.name });
    }
    return xmlReply('OwnershipControls', element('Rule', field('ObjectOwnership', ownership)));
  },
};

export const putBucketOwnershipControls: S3Operation = {
  name: 'PutBucketOwnershipControls',
  class: 'put',
  subject: 'bucket',
  action: 's3:PutBucketOwnershipControls',
  changes: true,
  async run(request) {
    const root = readXml(await request.body.text(), 'OwnershipControls');
    root.only('Rule');
    const rules = root.all('Rule');
    const [rule] = rules;
    const named = rule?.text('ObjectOwnership')?.trim();
    const ownership = OWNERSHIPS.find((known) => known === named);
    rule?.onlyOnce('ObjectOwnership');
    if (rules.length !== 1 || ownership === undefined) {
      throw new S3Error(
        'MalformedXML',
        `<OwnershipControls> has one <Rule> with <ObjectOwnership>: ${OWNERSHIPS.join(', ')}.`,
      );
    }
    checkOwnership(ownership, request.bucket.settings, request.bucket.account);
    await changeSettings(request, { ownership });
    return { status: 200 };
  },
};

export const deleteBucketOwnershipControls: S3Operation = {
  name: 'DeleteBucketOwnershipControls',
  class: 'delete',
  subject: 'bucket',
  action: 's3:PutBucketOwnershipControls',
  changes: true,
  async run(request) {
    await changeSettings(request, { ownership: undefined });
    return NO_CONTENT;
  },
};

/** Of a bucket that is being made. */
export function ownershipOfHeader(request: S3Request): ObjectOwnership | undefined {
  const value = request.header('x-amz-object-ownership');
  if (value === undefined) return undefined;
  const ownership = OWNERSHIPS.find((known) => known === value);
  if (ownership !== undefined) return ownership;
  throw badArgument(
    'x-amz-object-ownership',
    value,
    `Invalid x-amz-object-ownership header: ${OWNERSHIPS.join(', ')}.`,
  );
}

/** What an ACL grants to others would be of no effect any more once the owner is enforced: the reference refuses that. */
export function checkOwnership(ownership: ObjectOwnership, list: AccessList, owner: string): void {
  if (ownership !== 'BucketOwnerEnforced') return;
  if (grantsOf(list).some(({ to }) => to !== owner)) throw new S3Error('InvalidBucketAclWithObjectOwnership');
}
