import { isExpired, type Bucket, type ObjectVersion } from '@granary/storage/object-store';
import { badArgument, S3Error } from '../../errors.ts';
import type { S3Request } from '../../request.ts';
import { httpDate } from '../dates.ts';

/** The version a request names, as commits want it. */
export function versionIdOf({ query }: S3Request): { readonly versionId?: string } {
  const versionId = query.get('versionId');
  if (versionId === undefined) return {};
  checkVersionId(versionId);
  return { versionId };
}

function checkVersionId(versionId: string): void {
  if (versionId === '' || versionId.length > 1024) {
    throw badArgument('versionId', versionId, 'The version id is not valid.');
  }
}

/** The object a request is about: its current version, or the one it names. */
export function objectVersion(request: S3Request): ObjectVersion {
  return findVersion(request, request.bucket, request.key, versionIdOf(request).versionId);
}

export function findVersion(
  request: S3Request,
  bucket: Bucket,
  key: string,
  versionId: string | undefined,
): ObjectVersion {
  if (versionId !== undefined) checkVersionId(versionId);
  const version = request.context.store.version(bucket.id, key, versionId);
  const asked = { bucket, now: request.now, isNamed: versionId !== undefined };
  if (version === undefined || isExpired(version, asked)) throw missing(request, bucket, key, versionId);
  if (version.isDeleteMarker) {
    const headers = {
      'x-amz-delete-marker': 'true',
      'x-amz-version-id': version.versionId,
      'last-modified': httpDate(version.modifiedAt),
      allow: 'DELETE',
    };
    throw new S3Error(
      'MethodNotAllowed',
      'That version is a delete marker.',
      { ResourceType: 'DeleteMarker' },
      headers,
    );
  }
  return version;
}

function missing(request: S3Request, bucket: Bucket, key: string, versionId: string | undefined): S3Error {
  if (versionId !== undefined) return new S3Error('NoSuchVersion', undefined, { Key: key, VersionId: versionId });
  const latest = request.context.store.latest(bucket.id, key);
  const headers: Record<string, string> =
    latest?.isDeleteMarker === true ? { 'x-amz-delete-marker': 'true', 'x-amz-version-id': latest.versionId } : {};
  return new S3Error('NoSuchKey', undefined, { Key: key }, headers);
}
