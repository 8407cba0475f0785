import { ObjectError, type Bucket } from '@granary/storage/object-store';
import { methodNotAllowed } from '../access/sign-in.ts';
import { bulkDelete } from '../bulk/bulk-delete.ts';
import { extractArchive } from '../bulk/extract-archive.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import { CONTENT_TYPES, formatOf, type ContainerRequest, type SwiftReply } from '../request/request.ts';
import { findContainer } from './find.ts';
import { asSettings, containerChange, containerHeaders } from './container-settings.ts';
import { writeListing } from './formats.ts';
import { listObjects, listsVersions } from './object-listing.ts';
import { policyFor } from './policies.ts';

const TRIES = 20;

function getContainer(request: ContainerRequest): SwiftReply {
  const { store, access } = request;
  const bucket = findContainer(request, (found) => access.mayList(found, listsVersions(request.query)));
  const format = formatOf(request, listsVersions(request.query) ? 'json' : 'plain');
  const headers = {
    ...containerHeaders(store, bucket, access.owns(bucket.account)),
    'Content-Type': CONTENT_TYPES[format],
  };
  if (request.method === 'HEAD') return { status: 204, headers };
  const entries = listObjects(store, bucket, request.query);
  if (format === 'plain' && entries.length === 0) return { status: 204, headers };
  const shape = { root: 'container', name: bucket.name, entry: 'object' };
  return { status: 200, headers, body: writeListing(format, shape, entries) };
}

/**
 * What a request changes follows from what is there (metadata, accounts that ACLs name, versions): where another request
 * changes the container meanwhile, it is worked out again.
 */
async function changeContainer(request: ContainerRequest, bucket: Bucket): Promise<void> {
  for (let tries = 1; ; tries++) {
    const present = tries === 1 ? bucket : request.store.bucketById(bucket.id);
    if (present === undefined) throw new SwiftRefusal(404, 'The container could not be found.');
    try {
      await changeOnce(request, present);
      return;
    } catch (error) {
      if (!(error instanceof ObjectError) || error.code !== 'precondition-failed') throw error;
      if (tries >= TRIES) throw new SwiftRefusal(409, 'The container changes too often. Please try again.');
    }
  }
}

async function changeOnce(request: ContainerRequest, bucket: Bucket): Promise<void> {
  const change = await containerChange(request, bucket);
  // Never versioned is as good as suspended.
  const versioning = bucket.versioning === 'off' && change.versioning === 'suspended' ? undefined : change.versioning;
  if (Object.keys(change.settings).length === 0 && versioning === undefined) return;
  const { settings } = change;
  const versions = versioning === undefined ? {} : { versioning };
  await request.store.commit('changeBucket', {
    bucket: bucket.id,
    seen: seenOf(bucket),
    settings,
    at: request.now,
    ...versions,
  });
}

/** What is there already is kept, but what is asked for must not contradict it. */
async function changePresent(request: ContainerRequest, bucket: Bucket): Promise<SwiftReply> {
  request.concerns(bucket);
  const wanted = request.header('x-storage-policy');
  if (wanted !== undefined && wanted !== '' && policyFor(request.store, wanted) !== bucket.policy) {
    throw new SwiftRefusal(409, 'The container is there already and has another storage policy.');
  }
  await changeContainer(request, bucket);
  return { status: 202, headers: {} };
}

async function putContainer(request: ContainerRequest): Promise<SwiftReply> {
  const { store, account, container, now } = request;
  request.access.demandWriter(account.id);
  request.demandRate();
  if (container === '.' || container === '..') throw new SwiftRefusal(400, 'A container cannot have that name.');
  const present = store.bucket(account.id, container);
  if (present !== undefined) return changePresent(request, present);
  const change = await containerChange(request);
  const policy = policyFor(store, request.header('x-storage-policy'));
  const settings = asSettings(change.settings, request.caller?.user);
  try {
    const args = { account: account.id, name: container, policy, lockable: false, settings, at: now };
    const bucket = await store.commit('createBucket', args);
    request.concerns(bucket);
    if (change.versioning === 'enabled') {
      await store.commit('changeBucket', { bucket: bucket.id, versioning: 'enabled', at: now });
    }
  } catch (error) {
    // A concurrent request created it.
    const made = error instanceof ObjectError && error.code === 'bucket-exists' && store.bucket(account.id, container);
    if (made === false || made === undefined) throw error;
    return changePresent(request, made);
  }
  return { status: 201, headers: {} };
}

async function postContainer(request: ContainerRequest): Promise<SwiftReply> {
  const bucket = findContainer(request, (found) => request.access.writes(found.account));
  request.demandRate();
  await changeContainer(request, bucket);
  return { status: 204, headers: {} };
}

async function deleteContainer(request: ContainerRequest): Promise<SwiftReply> {
  const bucket = findContainer(request, (found) => request.access.mayRemove(found));
  request.demandRate();
  await request.store.commit('deleteBucket', { bucket: bucket.id, at: request.now });
  return { status: 204, headers: {} };
}

export function handleContainer(request: ContainerRequest): SwiftReply | Promise<SwiftReply> {
  const { method, query } = request;
  if (query.has('bulk-delete') && (method === 'POST' || method === 'DELETE')) return bulkDelete(request);
  if (query.has('extract-archive') && method === 'PUT') return extractArchive(request, request.container);
  if (method === 'GET' || method === 'HEAD') return getContainer(request);
  if (method === 'PUT') return putContainer(request);
  if (method === 'POST') return postContainer(request);
  if (method === 'DELETE') return deleteContainer(request);
  throw methodNotAllowed('GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS');
}

function seenOf({ settings, versioning }: Bucket): Pick<Bucket, 'settings' | 'versioning'> {
  return { settings, versioning };
}
