import type { Bucket, ObjectVersion } from '@granary/storage/object-store';
import { bucketAddress, decodePercent } from '../../address.ts';
import { type CustomerKey, OF_SOURCE } from '../../encryption/customer-key.ts';
import { keyToRead } from '../../encryption/encryption.ts';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Request } from '../../request.ts';
import { evaluate } from './conditions.ts';
import { shown } from './object-content.ts';
import { findVersion } from './versions.ts';

export const MOST_COPIED_BYTES = 5 * 2 ** 30;

export interface CopySource {
  readonly bucket: Bucket;
  readonly version: ObjectVersion;
  /** That it is encrypted with, if it is one of the client's. */
  readonly key: CustomerKey | null;
  /** Whether the client named the version. */
  readonly named: boolean;
  /** Asks for another action on the same version: AccessDenied. */
  readonly demand: (action: string) => void;
}

/** Finds what `x-amz-copy-source` names, opens it to the caller and holds it against the conditions. */
export async function copySource(request: S3Request): Promise<CopySource> {
  const header = request.header('x-amz-copy-source') ?? '';
  const { bucketName, key, versionId } = readSource(header);
  const action = versionId === undefined ? 's3:GetObject' : 's3:GetObjectVersion';
  const { bucket, demand, mayList } = await request.open(bucketAddress(bucketName), action, key, { versionId });
  const version = sourceVersion(request, bucket, key, versionId, mayList);
  const customerKey = keyToRead(request, version, OF_SOURCE);
  const outcome = evaluate(
    {
      ifMatch: request.header('x-amz-copy-source-if-match'),
      ifNoneMatch: request.header('x-amz-copy-source-if-none-match'),
      ifModifiedSince: request.header('x-amz-copy-source-if-modified-since'),
      ifUnmodifiedSince: request.header('x-amz-copy-source-if-unmodified-since'),
    },
    { etag: shown(version).etag, modifiedAt: version.modifiedAt },
  );
  if (outcome !== 'met') throw new S3Error('PreconditionFailed');
  return { bucket, version, key: customerKey, named: versionId !== undefined, demand };
}

function sourceVersion(
  request: S3Request,
  bucket: Bucket,
  key: string,
  versionId: string | undefined,
  mayList: () => boolean,
): ObjectVersion {
  try {
    return findVersion(request, bucket, key, versionId);
  } catch (error) {
    if (!(error instanceof S3Error)) throw error;
    // Who may not list the source does not learn which keys are in it, either.
    if (error.code === 'NoSuchKey' && !mayList()) throw new S3Error('AccessDenied');
    if (error.code !== 'MethodNotAllowed') throw error;
    throw new S3Error(
      'InvalidRequest',
      'The source of a copy request may not specifically refer to a delete marker by version id.',
    );
  }
}

/** `/bucket/key` or `bucket/key`, percent-encoded, with `?versionId=` behind it where a version is meant. */
function readSource(header: string): {
  readonly bucketName: string;
  readonly key: string;
  readonly versionId?: string;
} {
  const mark = header.indexOf('?versionId=');
  const path = decodePercent(mark < 0 ? header : header.slice(0, mark), 'x-amz-copy-source').replace(/^\//, '');
  const slash = path.indexOf('/');
  if (slash < 1 || slash === path.length - 1) {
    throw badArgument(
      'x-amz-copy-source',
      header,
      'Copy Source must mention the source bucket and key: sourcebucket/sourcekey',
    );
  }
  return {
    bucketName: path.slice(0, slash),
    key: path.slice(slash + 1),
    ...(mark >= 0 && { versionId: decodePercent(header.slice(mark + '?versionId='.length), 'x-amz-copy-source') }),
  };
}
