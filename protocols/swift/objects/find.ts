import { isExpired, type Bucket, type ObjectStore, type ObjectVersion } from '@granary/storage/object-store';
import { SwiftRefusal } from '../request/refusal.ts';

/** An object is gone at the moment it expires, whenever its bytes go. */
export function findVersion(
  store: ObjectStore,
  bucket: Bucket,
  name: string,
  now: number,
  versionId?: string,
): ObjectVersion | undefined {
  const version = store.version(bucket.id, name, versionId);
  if (version === undefined || version.isDeleteMarker) return undefined;
  return isExpired(version, { bucket, now, isNamed: versionId !== undefined }) ? undefined : version;
}

function checkVersionId({ versioning }: Bucket, versionId: string): void {
  if (versionId === 'null') return;
  if (!/^[0-9a-f]{1,32}$/.test(versionId)) throw new SwiftRefusal(400, 'Invalid version parameter');
  if (versioning === 'off') {
    throw new SwiftRefusal(400, 'version-aware operations require that the container is versioned');
  }
}

export function demandVersion(
  store: ObjectStore,
  bucket: Bucket,
  name: string,
  now: number,
  versionId?: string,
): ObjectVersion {
  if (versionId !== undefined) checkVersionId(bucket, versionId);
  const version = findVersion(store, bucket, name, now, versionId);
  if (version === undefined) throw new SwiftRefusal(404, 'The object could not be found.');
  return version;
}
