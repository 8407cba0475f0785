import type { Bucket, Retention } from '@granary/storage/object-store';
import { badArgument, S3Error } from '../../errors.ts';
import type { AccessFacts, S3Operation, S3Request } from '../../request.ts';
import { field } from '../../xml.ts';
import { readXml } from '../../xml-reader.ts';
import { xmlReply } from '../replies.ts';
import { objectVersion, versionIdOf } from './versions.ts';

export const getObjectRetention: S3Operation = {
  name: 'GetObjectRetention',
  class: 'get',
  subject: 'object',
  action: 's3:GetObjectRetention',
  versionAction: 's3:GetObjectRetention',
  changes: false,
  run(request) {
    demandLockable(request.bucket);
    const { retention } = objectVersion(request);
    if (retention === null) throw new S3Error('NoSuchObjectLockConfiguration');
    return xmlReply(
      'Retention',
      field('Mode', retention.mode) + field('RetainUntilDate', new Date(retention.until).toISOString()),
    );
  },
};

export const putObjectRetention: S3Operation = {
  name: 'PutObjectRetention',
  class: 'put',
  subject: 'object',
  action: 's3:PutObjectRetention',
  versionAction: 's3:PutObjectRetention',
  changes: true,
  async run(request) {
    const { body, bucket, context, key, now } = request;
    demandLockable(bucket);
    const root = readXml(await body.text(), 'Retention');
    root.only('Mode', 'RetainUntilDate');
    const retention =
      root.children.length === 0 ? null : retentionOf(root.text('Mode')?.trim(), root.text('RetainUntilDate'), now);
    objectVersion(request);
    const version = { bucket: bucket.id, key, ...versionIdOf(request) };
    await context.store.commit('changeVersion', {
      ...version,
      retention,
      bypassGovernance: bypasses(request),
      at: now,
    });
    return { status: 200 };
  },
};

export const getObjectLegalHold: S3Operation = {
  name: 'GetObjectLegalHold',
  class: 'get',
  subject: 'object',
  action: 's3:GetObjectLegalHold',
  versionAction: 's3:GetObjectLegalHold',
  changes: false,
  run(request) {
    demandLockable(request.bucket);
    return xmlReply('LegalHold', field('Status', objectVersion(request).legalHold ? 'ON' : 'OFF'));
  },
};

export const putObjectLegalHold: S3Operation = {
  name: 'PutObjectLegalHold',
  class: 'put',
  subject: 'object',
  action: 's3:PutObjectLegalHold',
  versionAction: 's3:PutObjectLegalHold',
  changes: true,
  async run(request) {
    const { body, bucket, context, key, now } = request;
    demandLockable(bucket);
    const root = readXml(await body.text(), 'LegalHold');
    root.only('Status');
    const status = root.text('Status')?.trim();
    if (status !== 'ON' && status !== 'OFF') throw new S3Error('MalformedXML', '<Status> must be ON or OFF.');
    objectVersion(request);
    const version = { bucket: bucket.id, key, ...versionIdOf(request) };
    await context.store.commit('changeVersion', { ...version, legalHold: status === 'ON', at: now });
    return { status: 200 };
  },
};

/** What the headers of a put say of locks. */
export function lockOfHeaders(request: S3Request): { readonly retention?: Retention; readonly legalHold?: boolean } {
  const mode = request.header('x-amz-object-lock-mode');
  const until = request.header('x-amz-object-lock-retain-until-date');
  const hold = request.header('x-amz-object-lock-legal-hold');
  if (mode === undefined && until === undefined && hold === undefined) return {};
  demandLockable(request.bucket);
  if ((mode === undefined) !== (until === undefined)) {
    throw badArgument(
      mode === undefined ? 'x-amz-object-lock-mode' : 'x-amz-object-lock-retain-until-date',
      '',
      'x-amz-object-lock-mode and x-amz-object-lock-retain-until-date are given together.',
    );
  }
  if (hold !== undefined && hold !== 'ON' && hold !== 'OFF') {
    throw badArgument('x-amz-object-lock-legal-hold', hold, 'A legal hold is ON or OFF.');
  }
  if (mode !== undefined && !isMode(mode)) {
    throw badArgument('x-amz-object-lock-mode', mode, 'The mode of a retention is GOVERNANCE or COMPLIANCE.');
  }
  if (mode !== undefined) request.demand('s3:PutObjectRetention');
  if (hold !== undefined) request.demand('s3:PutObjectLegalHold');
  return {
    ...(mode !== undefined && { retention: retentionOf(mode, until, request.now) }),
    ...(hold !== undefined && { legalHold: hold === 'ON' }),
  };
}

/** Whether the caller says, and may say, that retention in governance mode shall not hold. */
export function bypasses(request: S3Request, key?: string, facts?: AccessFacts): boolean {
  if (request.header('x-amz-bypass-governance-retention')?.toLowerCase() !== 'true') return false;
  return request.may('s3:BypassGovernanceRetention', key, facts);
}

function retentionOf(mode: string | undefined, date: string | undefined, now: number): Retention {
  if (!isMode(mode)) {
    throw new S3Error('MalformedXML', 'The mode of a retention is GOVERNANCE or COMPLIANCE.');
  }
  const until = /^\s*\d{4}-\d{2}-\d{2}T/.test(date ?? '') ? Date.parse(date ?? '') : Number.NaN;
  if (Number.isNaN(until)) throw badArgument('RetainUntilDate', date ?? '', 'The date must be given in ISO 8601.');
  if (until <= now) throw badArgument('RetainUntilDate', date ?? '', 'The retain until date must be in the future!');
  return { mode, until };
}

function isMode(text: string | undefined): text is Retention['mode'] {
  return text === 'GOVERNANCE' || text === 'COMPLIANCE';
}

function demandLockable(bucket: Bucket): void {
  if (!bucket.lockable) throw new S3Error('InvalidRequest', 'Bucket is missing Object Lock Configuration');
}
