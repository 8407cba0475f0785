import type { Checksum, Upload } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import type { S3Operation } from '../../request.ts';
import { encryptionOfPart, writtenEncryption } from '../../encryption/encryption.ts';
import { quoted } from '../replies.ts';
import { checkAccountQuota } from '../objects/account-quota.ts';
import { stageBody } from '../objects/stage-body.ts';
import { partNumberOf, uploadOf } from './upload.ts';

export const uploadPart: S3Operation = {
  name: 'UploadPart',
  class: 'put',
  subject: 'object',
  action: 's3:PutObject',
  changes: true,
  async run(request) {
    const { body, bucket, context, key, now } = request;
    const number = partNumberOf(request);
    const upload = uploadOf(request);
    const encryption = encryptionOfPart(request, upload);
    if (upload.checksumAlgorithm !== null) body.compute(upload.checksumAlgorithm);
    await checkAccountQuota(request, body.size ?? 0);
    const { content, size, etag, checksum, start } = await stageBody(
      request,
      encryption,
      upload.attributes.policy ?? bucket.policy,
    );
    demandSameAlgorithm(upload, checksum);
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
    return {
      status: 200,
      headers: {
        etag: quoted(part.etag),
        ...(checksum !== null && { [`x-amz-checksum-${checksum.algorithm.toLowerCase()}`]: checksum.value }),
        ...writtenEncryption(encryption),
      },
    };
  },
};

function demandSameAlgorithm({ checksumAlgorithm }: Upload, checksum: Checksum | null): void {
  if (checksumAlgorithm === null || checksum === null || checksum.algorithm === checksumAlgorithm) return;
  throw new S3Error(
    'InvalidRequest',
    `Checksum Type mismatch occurred, expected checksum Type: ${checksumAlgorithm.toLowerCase()}, actual checksum Type: ${checksum.algorithm.toLowerCase()}`,
  );
}
