import type { OutgoingHttpHeaders } from 'node:http';
import type { WrittenVersion } from '@granary/storage/object-store';
import { causeOf, type S3Operation, type S3Request } from '../../request.ts';
import { checkAccountQuota } from './account-quota.ts';
import { attributesOf, checkQuota } from './object-attributes.ts';
import { type Encryption, encryptionOf, writtenEncryption } from '../../encryption/encryption.ts';
import { checksumHeaders, quoted, versionHeader } from '../replies.ts';
import { expirationHeader } from './expiration-header.ts';
import { lockOfHeaders } from './lock.ts';
import { stageBody } from './stage-body.ts';
import { checkEarly, writeConditions } from './write-conditions.ts';

export const putObject: S3Operation = {
  name: 'PutObject',
  class: 'put',
  subject: 'object',
  action: 's3:PutObject',
  changes: true,
  async run(request) {
    const { body, bucket, caller, context, key, now } = request;
    const encryption = encryptionOf(request);
    const attributes = await attributesOf(request);
    const lock = lockOfHeaders(request);
    const condition = writeConditions(request);
    checkEarly(request, condition.conditions);
    await demandRoom(request, body.size ?? 0);
    const {
      content,
      size,
      etag,
      checksum,
      encryption: kept,
    } = await stageBody(request, encryption, attributes.policy ?? bucket.policy);
    if (body.size === undefined) await demandRoom(request, size);
    const version = await context.store.commit('putObject', {
      bucket: bucket.id,
      key,
      content,
      size,
      etag,
      // What an anonymous caller puts belongs to whom the bucket belongs to.
      owner: caller?.user ?? bucket.settings.owner ?? bucket.account,
      attributes: { ...attributes, ...kept, ...(checksum !== null && { checksum }) },
      ...lock,
      ...condition,
      cause: causeOf(request, request.method === 'POST' ? 'ObjectCreated:Post' : 'ObjectCreated:Put'),
      at: now,
    });
    return { status: 200, headers: writtenHeaders(request, version, encryption) };
  },
};

/** Of forms the size is known when the file is there: it is asked for again then. */
async function demandRoom(request: S3Request, size: number): Promise<void> {
  checkQuota(request.bucket, size);
  await checkAccountQuota(request, size);
}

/** What the reply says of an object that was written. */
function writtenHeaders({ bucket }: S3Request, version: WrittenVersion, encryption: Encryption): OutgoingHttpHeaders {
  return {
    etag: quoted(version.etag),
    ...checksumHeaders(version.attributes.checksum),
    ...versionHeader(bucket, version),
    ...writtenEncryption(encryption),
    ...expirationHeader(bucket, version),
  };
}
