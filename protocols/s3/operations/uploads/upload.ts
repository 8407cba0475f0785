import type { Upload } from '@granary/storage/object-store';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Request } from '../../request.ts';

export const MOST_PARTS = 10_000;

/** The unfinished upload a request names: it has to be one of this bucket and key. */
export function uploadOf(request: S3Request): Upload {
  const id = request.query.get('uploadId') ?? '';
  const upload = request.context.store.upload(id);
  if (upload === undefined || upload.bucket !== request.bucket.id || upload.key !== request.key) {
    throw new S3Error('NoSuchUpload', undefined, { UploadId: id.slice(0, 128) });
  }
  return upload;
}

export function partNumberOf(request: S3Request): number {
  const text = request.query.get('partNumber') ?? '';
  const number = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= MOST_PARTS) return number;
  throw badArgument('partNumber', text, `Part number must be an integer between 1 and ${MOST_PARTS}, inclusive`);
}
