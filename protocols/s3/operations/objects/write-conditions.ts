import type { Conditions } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import type { S3Request } from '../../request.ts';
import { bareTag } from './conditions.ts';

/** `If-Match` and `If-None-Match` of a put: one ETag, or for the latter `*` alone, as S3 has it. */
export function writeConditions(request: S3Request): { readonly conditions?: Conditions } {
  const match = request.header('if-match');
  const none = request.header('if-none-match');
  if (match === undefined && none === undefined) return {};
  if (none !== undefined && bareTag(none) !== '*') {
    throw new S3Error('NotImplemented', 'If-None-Match of a write can only be *.', { Header: 'If-None-Match' });
  }
  if (match !== undefined && none !== undefined) {
    throw new S3Error('NotImplemented', 'Give If-Match or If-None-Match, not both.', { Header: 'If-Match' });
  }
  return { conditions: match === undefined ? { ifNoneMatch: '*' } : { ifMatch: bareTag(match) } };
}

/**
 * Fails at once what would fail at the end, before bytes are taken in. The commit looks again. A demand on the ETag of
 * what is not there is answered like a read of it.
 */
export function checkEarly(request: S3Request, conditions: Conditions | undefined): void {
  if (conditions === undefined) return;
  const current = request.context.store.version(request.bucket.id, request.key);
  if (conditions.ifNoneMatch !== undefined && current !== undefined) {
    throw new S3Error('PreconditionFailed', undefined, { Condition: 'If-None-Match' });
  }
  if (conditions.ifMatch === undefined) return;
  if (current === undefined) throw new S3Error('NoSuchKey', undefined, { Key: request.key });
  if (conditions.ifMatch !== '*' && conditions.ifMatch !== current.etag) {
    throw new S3Error('PreconditionFailed', undefined, { Condition: 'If-Match' });
  }
}
