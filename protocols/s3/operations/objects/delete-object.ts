import type { Conditions, Result } from '@granary/storage/object-store';
import { S3Error } from '../../errors.ts';
import { causeOf, type S3Operation } from '../../request.ts';
import { bareTag } from './conditions.ts';
import { bypasses } from './lock.ts';
import { isReplica } from './replica.ts';
import { versionIdOf } from './versions.ts';

export const deleteObject: S3Operation = {
  name: 'DeleteObject',
  class: 'delete',
  subject: 'object',
  action: 's3:DeleteObject',
  versionAction: 's3:DeleteObjectVersion',
  changes: true,
  async run(request) {
    const { bucket, context, key, now } = request;
    const named = versionIdOf(request);
    const conditions = conditionsOf(request.header.bind(request));
    const result = await context.store.commit('deleteObject', {
      bucket: bucket.id,
      key,
      ...named,
      bypassGovernance: bypasses(request),
      unreplicated: isReplica(request, 's3:ReplicateDelete'),
      ...(conditions !== undefined && { conditions }),
      cause: causeOf(request),
      at: now,
    });
    const versionId = result.marker?.versionId ?? named.versionId;
    return {
      status: 204,
      headers: {
        ...(result.marker !== null && { 'x-amz-delete-marker': 'true' }),
        ...(bucket.versioning !== 'off' && versionId !== undefined && { 'x-amz-version-id': versionId }),
      },
      bytesDeleted: bytesGone(result, named.versionId !== undefined),
    };
  },
};

/** A version that a delete marker now hides is still there; one without an id of its own gave way to the marker. */
export function bytesGone({ removed, marker }: Result<'deleteObject'>, named: boolean): number {
  if (removed === null || (marker !== null && !named && removed.versionId !== 'null')) return 0;
  return removed.size;
}

function conditionsOf(header: (name: string) => string | undefined): Conditions | undefined {
  const size = header('x-amz-if-match-size');
  const time = header('x-amz-if-match-last-modified-time');
  return deleteConditions({ etag: header('if-match'), size, time }, () => {
    throw new S3Error(
      'InvalidArgument',
      'x-amz-if-match-size is a number of bytes, x-amz-if-match-last-modified-time a time.',
    );
  });
}

interface DeleteWhen {
  readonly etag: string | undefined;
  readonly size: string | undefined;
  readonly time: string | undefined;
}

/** What cannot be read must not count as no condition: the deletion would have none. */
export function deleteConditions({ etag, size, time }: DeleteWhen, refuse: () => never): Conditions | undefined {
  if (etag === undefined && size === undefined && time === undefined) return undefined;
  const until = Date.parse(time ?? '');
  if (time !== undefined && Number.isNaN(until)) refuse();
  if (size !== undefined && !/^\d{1,15}$/.test(size)) refuse();
  return {
    ...(etag !== undefined && { ifMatch: bareTag(etag) }),
    ...(size !== undefined && { ifSize: Number(size) }),
    ...(time !== undefined && { ifUnmodifiedSince: until }),
  };
}
