import { withoutSeal, type ByteRange, type ListedVersion, type ObjectVersion } from '@granary/storage/object-store';
import { BrokenManifestError, openStaticLargeObject } from '../../../objects/static-large-object.ts';
import type { CustomerKey } from '../../encryption/customer-key.ts';
import { unsealed } from '../../encryption/sealing.ts';
import { S3Error } from '../../errors.ts';
import type { S3Request } from '../../request.ts';

/** ETag and size as readers see them: a static large object of Swift's is what its segments hold, not its manifest. */
export function shown(version: Pick<ListedVersion, 'attributes' | 'etag' | 'size'>): {
  readonly etag: string;
  readonly size: number;
} {
  return version.attributes.staticManifest ?? version;
}

/** The bytes a reader gets of an object, from the store's own stream or from segments. */
export function readObject(
  request: S3Request,
  version: ObjectVersion,
  range: ByteRange,
  key: CustomerKey | null,
): AsyncIterable<Uint8Array> | Promise<AsyncIterable<Uint8Array>> {
  const { store } = request.context;
  if (key !== null) return unsealed(store.read(withoutSeal(version), range), version, range, key);
  return version.attributes.staticManifest === undefined
    ? store.read(version, range)
    : readSegments(request, version, range);
}

async function readSegments(
  request: S3Request,
  version: ObjectVersion,
  range: ByteRange,
): Promise<AsyncIterable<Uint8Array>> {
  const { caller, context, now } = request;
  try {
    return await openStaticLargeObject(context.store, version, range, {
      now,
      // What opens this bucket to others says nothing of the one the segments are in.
      mayRead: (bucket) => bucket.id === version.bucket || bucket.account === caller?.account,
    });
  } catch (error) {
    if (!(error instanceof BrokenManifestError)) throw error;
    throw new S3Error('InvalidObjectState', `The large object cannot be put together: ${error.message}.`);
  }
}
