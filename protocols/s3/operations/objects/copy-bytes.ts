import type { ByteRange, Checksum } from '@granary/storage/object-store';
import type { Encryption } from '../../encryption/encryption.ts';
import type { S3Request } from '../../request.ts';
import type { CopySource } from './copy-source.ts';
import { readObject } from './object-content.ts';
import { stageBytes, type StagedBody } from './stage-body.ts';

/** Reads bytes of an object and writes them anew where the request's bucket keeps its own. */
export async function copyBytes(
  request: S3Request,
  { version, key }: Pick<CopySource, 'version' | 'key'>,
  range: ByteRange,
  encryption: Encryption,
  algorithm: Checksum['algorithm'] | null,
): Promise<StagedBody> {
  const bytes = await readObject(request, version, range, key);
  return stageBytes(request, encryption, { bytes, size: range.end - range.start }, algorithm);
}
