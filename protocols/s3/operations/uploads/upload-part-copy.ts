import type { ByteRange, Upload } from '@granary/storage/object-store';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Operation, S3Request } from '../../request.ts';
import { field } from '../../xml.ts';
import { checkAccountQuota } from '../objects/account-quota.ts';
import { copyBytes } from '../objects/copy-bytes.ts';
import { copySource, MOST_COPIED_BYTES, type CopySource } from '../objects/copy-source.ts';
import { shown } from '../objects/object-content.ts';
import type { StagedBody } from '../objects/stage-body.ts';
import { copyRangeOf } from '../objects/range.ts';
import { isoDate } from '../dates.ts';
import { encryptionOfPart, isEncrypted, writtenEncryption } from '../../encryption/encryption.ts';
import { quoted, xmlReply } from '../replies.ts';
import { partNumberOf, uploadOf } from './upload.ts';

export const uploadPartCopy: S3Operation = {
  name: 'UploadPartCopy',
  class: 'put',
  subject: 'object',
  action: 's3:PutObject',
  changes: true,
  async run(request) {
    const { bucket, context, key, now } = request;
    const number = partNumberOf(request);
    const upload = uploadOf(request);
    const encryption = encryptionOfPart(request, upload);
    const source = await copySource(request);
    const range = rangeOfCopy(request, source);
    await checkAccountQuota(request, range.end - range.start);
    const copied =
      shareable(request, source, upload, range) ??
      (await copyBytes(request, source, range, {
        encryption,
        policy: upload.attributes.policy ?? bucket.policy,
        algorithm: upload.checksumAlgorithm,
      }));
    const { content, size, etag, checksum, start } = copied;
    const part = await context.store.commit('putPart', {
      upload: upload.id,
      bucket: bucket.id,
      key,
      number,
      content,
      size,
      etag,
      checksum,
      start,
      at: now,
    });
    return xmlReply(
      'CopyPartResult',
      field('LastModified', isoDate(part.modifiedAt)) +
        field('ETag', quoted(part.etag)) +
        (part.checksum === null ? '' : field(`Checksum${part.checksum.algorithm}`, part.checksum.value)),
      {
        ...(source.bucket.versioning !== 'off' && { 'x-amz-copy-source-version-id': source.version.versionId }),
        ...writtenEncryption(encryption),
      },
    );
  },
};

function rangeOfCopy(request: S3Request, { version }: CopySource): ByteRange {
  const { size } = shown(version);
  const header = request.header('x-amz-copy-source-range');
  const range = header === undefined ? { start: 0, end: size } : copyRangeOf(header, size);
  if (range === null) {
    throw badArgument(
      'x-amz-copy-source-range',
      header ?? '',
      `The range must be bytes=first-last within the source of ${size} bytes.`,
    );
  }
  if (range.end - range.start > MOST_COPIED_BYTES) {
    throw new S3Error('InvalidRequest', `A part can have at most ${MOST_COPIED_BYTES} bytes.`);
  }
  return range;
}

/** The whole of an object whose MD5 is known can be shared, if its checksum is known, too, where one is wanted. */
function shareable(
  { bucket: target, context }: S3Request,
  { bucket, version, key }: CopySource,
  upload: Upload,
  range: ByteRange,
): Omit<StagedBody, 'encryption'> | undefined {
  const { encryption, customerKey } = upload.attributes;
  if (key !== null || customerKey !== undefined) return undefined;
  if (encryption !== undefined && !isEncrypted(context.store, version)) return undefined;
  const whole = version.attributes.staticManifest === undefined && range.start === 0 && range.end === version.size;
  const { checksum } = version.attributes;
  const fits = checksum?.type === 'FULL_OBJECT' && checksum.algorithm === upload.checksumAlgorithm ? checksum : null;
  const from = version.attributes.policy ?? bucket.policy;
  const to = upload.attributes.policy ?? target.policy;
  if (!whole || from !== to || !/^[0-9a-f]{32}$/.test(version.etag)) return undefined;
  if (version.content.kind === 'empty' || (upload.checksumAlgorithm !== null && fits === null)) return undefined;
  const of = { bucket: version.bucket, key: version.key, sequence: version.sequence };
  return { content: { kind: 'copy', of }, size: version.size, etag: version.etag, checksum: fits, start: null };
}
