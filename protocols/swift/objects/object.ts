import type { Bucket } from '@granary/storage/object-store';
import { methodNotAllowed } from '../access/sign-in.ts';
import { extractArchive } from '../bulk/extract-archive.ts';
import { findContainer } from '../containers/find.ts';
import { deleteManifest } from '../large/static.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { ObjectRequest, SwiftReply } from '../request/request.ts';
import { isTrue } from '../request/text.ts';
import { expiryOf, requestAttributes } from './attributes.ts';
import { copyTo } from './copy.ts';
import { demandVersion } from './find.ts';
import { commitDelete } from './legacy-versions.ts';
import { pathOf } from './symlink.ts';
import { getObject } from './get.ts';
import { putObject, refuseManifest } from './put.ts';

/** Replaces what clients set before; what the object is (its type, its parts, what other protocols keep) stays. */
async function postObject(request: ObjectRequest): Promise<SwiftReply> {
  const { store, access, object, now, query } = request;
  const bucket = findContainer(request, (found) => access.mayPut(found, object));
  request.demandRate();
  refuseManifest(request);
  if (query.has('version-id')) throw new SwiftRefusal(400, 'version-id is not allowed in POST');
  if (request.header('x-symlink-target') !== undefined) {
    throw new SwiftRefusal(400, 'A PUT request is required to set a symlink target');
  }
  const version = demandVersion(store, bucket, object, now);
  const cleared = { headers: undefined, metadata: undefined, dynamicManifest: undefined };
  const attributes = { ...cleared, ...requestAttributes(request) };
  const expiresAt = expiryOf(request) ?? null;
  await store.commit('changeVersion', { bucket: bucket.id, key: object, attributes, expiresAt, at: now });
  const { symlink } = version.attributes;
  if (symlink === undefined) return { status: 202, headers: {} };
  // What the client wanted to change is most likely the target.
  const location = pathOf(symlink.account ?? request.account.id, symlink.container, symlink.object);
  const message = 'The POST was applied to the symlink. POST to the target to change that.';
  throw new SwiftRefusal(307, message, { location });
}

async function removeVersion(request: ObjectRequest, bucket: Bucket, versionId: string): Promise<SwiftReply> {
  const { store, object, now, cause } = request;
  if (store.version(bucket.id, object, versionId) === undefined) {
    throw new SwiftRefusal(404, 'The version could not be found.');
  }
  const { removed } = await store.commit('deleteObject', { bucket: bucket.id, key: object, versionId, cause, at: now });
  return { status: 204, headers: { 'X-Object-Version-Id': versionId }, bytesDeleted: removed?.size ?? 0 };
}

async function deleteObject(request: ObjectRequest): Promise<SwiftReply> {
  const { store, access, object, now, query } = request;
  const versionId = query.get('version-id');
  const bucket = findContainer(request, (found) => access.mayDelete(found, object, versionId));
  request.demandRate();
  if (versionId !== undefined) return removeVersion(request, bucket, versionId);
  if (query.get('multipart-manifest') === 'delete') {
    if (isTrue(query.get('async'))) {
      throw new SwiftRefusal(400, 'async is not supported: segments are deleted at once. Leave it out.');
    }
    return deleteManifest(request, bucket, demandVersion(store, bucket, object, now));
  }
  const deletion = await commitDelete(request, bucket, object);
  if (deletion === undefined) throw new SwiftRefusal(404, 'The object could not be found.');
  const { removed, marker } = deletion;
  return {
    status: 204,
    headers: marker === null ? {} : { 'X-Object-Version-Id': marker.versionId },
    bytesDeleted: marker === null ? (removed?.size ?? 0) : 0,
  };
}

function copyObject(request: ObjectRequest): Promise<SwiftReply> {
  const { access, object, query } = request;
  const bucket = findContainer(request, (found) => access.mayRead(found, object, query.get('version-id')));
  return copyTo(request, bucket);
}

export function handleObject(request: ObjectRequest): Promise<SwiftReply> {
  const { method, query } = request;
  if (query.has('extract-archive') && method === 'PUT') {
    // A temporary URL is for the one object it was signed for.
    if (request.access.isTemporary) throw new SwiftRefusal(400, 'extract-archive is not allowed in temporary URLs');
    return extractArchive(request, `${request.container}/${request.object}`);
  }
  if (method === 'GET' || method === 'HEAD') return getObject(request);
  if (method === 'PUT') return putObject(request);
  if (method === 'POST') return postObject(request);
  if (method === 'DELETE') return deleteObject(request);
  if (method === 'COPY') return copyObject(request);
  throw methodNotAllowed('GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'COPY', 'OPTIONS');
}
