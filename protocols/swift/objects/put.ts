import { findContainer } from '../containers/find.ts';
import { putManifest } from '../large/static.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { ObjectRequest, SwiftReply } from '../request/request.ts';
import { expiryOf, newAttributes } from './attributes.ts';
import { createdReply, putConditions } from './created.ts';
import { copyFrom, restoreVersion } from './copy.ts';
import { commitPut } from './legacy-versions.ts';
import { readSymlink } from './symlink.ts';
import { acceptUpload } from './upload.ts';

/** Who may write one object must not make it show others. */
export function refuseManifest(request: ObjectRequest): void {
  if (!request.access.isTemporary || request.header('x-object-manifest') === undefined) return;
  throw new SwiftRefusal(400, 'X-Object-Manifest is not allowed in temporary URLs');
}

export async function putObject(request: ObjectRequest): Promise<SwiftReply> {
  const { store, access, query, object, now } = request;
  const bucket = findContainer(request, (found) => access.mayPut(found, object));
  request.demandRate();
  refuseManifest(request);
  const { conditions } = putConditions(request);
  // The bytes need not come at all when it is clear already that they are not wanted.
  if (conditions !== undefined && store.version(bucket.id, object) !== undefined) {
    throw new SwiftRefusal(412, 'The object is there already.');
  }
  const versionId = query.get('version-id');
  if (versionId !== undefined) {
    access.demand(access.mayRead(bucket, object, versionId), bucket.account);
    return restoreVersion(request, bucket, versionId);
  }
  if (query.get('multipart-manifest') === 'put') return putManifest(request, bucket);
  if (request.header('x-copy-from') !== undefined) return copyFrom(request, bucket);
  const symlink = await readSymlink(request);
  const attributes = { ...newAttributes(request, object), ...(symlink === undefined ? {} : { symlink }) };
  const expiresAt = expiryOf(request) ?? null;
  const uploaded = await acceptUpload(request, bucket);
  const version = await commitPut(request, bucket, {
    bucket: bucket.id,
    key: object,
    ...uploaded,
    owner: request.caller?.user ?? bucket.settings.owner ?? '',
    attributes,
    expiresAt,
    ...(conditions === undefined ? {} : { conditions }),
    at: now,
  });
  return createdReply(version);
}
