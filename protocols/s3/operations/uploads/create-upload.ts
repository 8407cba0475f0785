import type { Checksum } from '@granary/storage/object-store';
import { algorithmOf } from '../../checksums/checksums.ts';
import { S3Error } from '../../errors.ts';
import type { S3Operation, S3Request } from '../../request.ts';
import { field } from '../../xml.ts';
import { combines } from './checksum-combine.ts';
import { lockOfHeaders } from '../objects/lock.ts';
import { attributesOf } from '../objects/object-attributes.ts';
import { attributesOfEncryption, encryptionOf, writtenEncryption } from '../../encryption/encryption.ts';
import { xmlReply } from '../replies.ts';

export const createMultipartUpload: S3Operation = {
  name: 'CreateMultipartUpload',
  class: 'put',
  subject: 'object',
  action: 's3:PutObject',
  changes: true,
  async run(request) {
    const { bucket, caller, context, key, now } = request;
    const encryption = encryptionOf(request);
    const checksum = checksumOf(request);
    const { retention = null, legalHold = false } = lockOfHeaders(request);
    const upload = await context.store.commit('createUpload', {
      bucket: bucket.id,
      key,
      owner: caller?.user ?? bucket.settings.owner ?? bucket.account,
      attributes: { ...(await attributesOf(request)), ...attributesOfEncryption(encryption, []) },
      retention,
      legalHold,
      checksumAlgorithm: checksum?.algorithm ?? null,
      checksumType: checksum?.type ?? null,
      at: now,
    });
    return xmlReply(
      'InitiateMultipartUploadResult',
      field('Bucket', bucket.name) + field('Key', key) + field('UploadId', upload.id),
      {
        ...writtenEncryption(encryption),
        ...(checksum !== null && {
          'x-amz-checksum-algorithm': checksum.algorithm,
          'x-amz-checksum-type': checksum.type,
        }),
      },
    );
  },
};

type Kind = Pick<Checksum, 'algorithm' | 'type'>;

/** CRCs of parts combine to that of the whole; hashes do not. CRC64NVME is always of the whole, as S3 has it. */
function checksumOf(request: S3Request): Kind | null {
  const name = request.header('x-amz-checksum-algorithm');
  const type = request.header('x-amz-checksum-type')?.toUpperCase();
  if (name === undefined) {
    if (type === undefined) return null;
    throw new S3Error(
      'InvalidRequest',
      'The x-amz-checksum-type header can only be used with the x-amz-checksum-algorithm header.',
    );
  }
  const algorithm = algorithmOf(name);
  if (algorithm === undefined) {
    throw new S3Error(
      'InvalidRequest',
      'Checksum algorithm provided is unsupported. Please try again with any of the valid types: [CRC32, CRC32C, CRC64NVME, SHA1, SHA256]',
    );
  }
  const standard = algorithm === 'CRC64NVME' ? 'FULL_OBJECT' : 'COMPOSITE';
  const wanted = type ?? standard;
  const whole = wanted === 'FULL_OBJECT' && combines(algorithm);
  if (whole || (wanted === 'COMPOSITE' && algorithm !== 'CRC64NVME'))
    return { algorithm, type: whole ? 'FULL_OBJECT' : 'COMPOSITE' };
  throw new S3Error(
    'InvalidRequest',
    `The ${wanted.slice(0, 32)} checksum type cannot be used with the ${algorithm.toLowerCase()} checksum algorithm.`,
  );
}
