import type { ByteRange } from '@granary/storage/object-store';
import type { S3Request } from '../../request.ts';
import type { CopySource } from './copy-source.ts';
import { readObject } from './object-content.ts';
import { stageBytes, type StagedBody, type StagedAs } from './stage-body.ts';

/** Reads bytes of an object and writes them anew, under the policy where the copy belongs. */
export async function copyBytes(
  request: S3Request,
  { version, key }: Pick<CopySource, 'version' | 'key'>,
  range: ByteRange,
  as: StagedAs,
): Promise<StagedBody> {
  const bytes = await readObject(request, version, range, key);
  return stageBytes(request, as, { bytes, size: range.end - range.start });
}
