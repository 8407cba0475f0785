import { createHash } from 'node:crypto';
import type { ByteRange, Checksum, NewContent, ObjectVersion } from '@granary/storage/object-store';
import { summer } from '../../checksums/checksums.ts';
import type { S3Request } from '../../request.ts';
import { readObject } from './object-content.ts';

export interface CopiedBytes {
  readonly content: NewContent;
  readonly size: number;
  readonly etag: string;
  readonly checksum: Checksum | null;
}

/** Reads bytes of an object and writes them anew where the request's bucket keeps its own. */
export async function copyBytes(
  request: S3Request,
  version: ObjectVersion,
  range: ByteRange,
  algorithm: Checksum['algorithm'] | null,
): Promise<CopiedBytes> {
  const md5 = createHash('md5');
  const sum = algorithm === null ? null : summer(algorithm);
  async function* bytes(): AsyncGenerator<Uint8Array, void> {
    for await (const piece of await readObject(request, version, range)) {
      md5.update(piece);
      sum?.update(piece);
      yield piece;
    }
  }
  const size = range.end - range.start;
  const { store } = request.context;
  const content: NewContent = size === 0 ? { kind: 'empty' } : await store.stage(request.bucket.policy, bytes(), size);
  return {
    content,
    size,
    etag: md5.digest('hex'),
    checksum: algorithm === null || sum === null ? null : { algorithm, value: sum.digest(), type: 'FULL_OBJECT' },
  };
}
