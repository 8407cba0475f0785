import type { Bucket, ObjectAttributes, ObjectStore, ObjectVersion } from '@granary/storage/object-store';
import type { AccountState } from '../../objects/context.ts';
import { readManifest } from '../../objects/static-large-object.ts';
import { accountOf } from '../access/identify.ts';
import { checkNames, splitObjectPath } from '../request/address.ts';
import { checkMetadata } from '../request/metadata.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { ObjectRequest, SwiftReply } from '../request/request.ts';
import { headerValue, isTrue, percentDecode, percentEncode } from '../request/text.ts';
import { partAsked } from '../large/parts.ts';
import { expiryOf, newAttributes, requestAttributes } from './attributes.ts';
import { demandVersion } from './find.ts';
import { parseRanges } from './ranges.ts';
import { commitPut } from './legacy-versions.ts';
import { asksForSymlink, followSymlinks } from './symlink.ts';
import { createdReply, putConditions } from './created.ts';
import { demandRoom, MAX_OBJECT_SIZE, stageBytes, stageStream, type Uploaded } from './upload.ts';
import type { Whole } from '../large/readable.ts';
import { openWhole, plainObject } from './whole.ts';

interface Place {
  readonly account: AccountState;
  readonly bucket: Bucket;
  readonly object: string;
}

/** `container/object` of X-Copy-From or Destination, percent-encoded. */
function readPath(name: string, value: string): { readonly container: string; readonly object: string } {
  const path = splitObjectPath(percentDecode(Buffer.from(value, 'utf8').toString('latin1')));
  if (path === undefined)
    throw new SwiftRefusal(412, `${name} header must be of the form <container name>/<object name>`);
  checkNames(path.container, path.object);
  return path;
}

/** The other side of a copy; another account's where a header names one. */
async function findPlace(request: ObjectRequest, headerName: string, accountHeader: string): Promise<Place> {
  const { container, object } = readPath(headerName, request.header(headerName.toLowerCase()) ?? '');
  const named = request.header(accountHeader.toLowerCase());
  const account =
    named === undefined
      ? request.account
      : await accountOf(request.context, request.settings, percentDecode(named).replace(/^AUTH_/, ''));
  const bucket = account === undefined ? undefined : request.store.bucket(account.id, container);
  if (account === undefined || bucket === undefined) {
    if (account !== undefined) request.access.knows(account);
    request.access.demandReader(account?.id ?? '');
    throw new SwiftRefusal(404, `The container of ${headerName} could not be found.`);
  }
  if (!account.enabled) throw new SwiftRefusal(403, 'The account is disabled.');
  request.access.knows(account);
  return { account, bucket, object };
}

/** What the copy has of its source, unless the request says otherwise. */
function copiedAttributes(
  request: ObjectRequest,
  source: ObjectVersion,
  target: string,
  isRaw: boolean,
): ObjectAttributes {
  if (isTrue(request.header('x-fresh-metadata'))) {
    const { staticManifest, symlink } = source.attributes;
    return {
      ...newAttributes(request, target),
      ...(isRaw && staticManifest !== undefined ? { staticManifest } : {}),
      ...(symlink === undefined ? {} : { symlink }),
    };
  }
  const {
    acl: _acl,
    grants: _grants,
    writer: _writer,
    encryption: _encryption,
    replication: _replication,
    staticManifest,
    dynamicManifest,
    ...kept
  } = source.attributes;
  const { partSizes: _sizes, partChecksums: _checksums, checksum: _checksum, ...assembled } = kept;
  const asked = requestAttributes(request);
  const metadata = { ...kept.metadata, ...asked.metadata };
  checkMetadata(metadata);
  return {
    ...(isRaw ? kept : assembled),
    ...(isRaw && staticManifest !== undefined ? { staticManifest } : {}),
    ...(isRaw && dynamicManifest !== undefined ? { dynamicManifest } : {}),
    ...asked,
    headers: { ...kept.headers, ...asked.headers },
    metadata,
  };
}

/** A manifest must not take the place of one of its segments. */
async function refuseOwnSegment(store: ObjectStore, manifest: ObjectVersion, to: Place): Promise<void> {
  const own = `/${to.bucket.name}/${to.object}`;
  const isNamed = (await readManifest(store, manifest)).some(({ name }) => name === own);
  if (isNamed) throw new SwiftRefusal(409, `The manifest names ${own} as a segment; copy it to another name.`);
}

/** What of the source is copied: all of it, or the range or the part that the request names. */
async function narrowed(request: ObjectRequest, source: ObjectVersion, whole: Whole): Promise<Whole> {
  const header = request.header('range');
  const part = await partAsked(request, source);
  const ranges = part === undefined ? header && parseRanges(header, whole.size) : [part.range];
  if (ranges === undefined || ranges === '') return whole;
  const [range] = ranges;
  if (range === undefined) {
    throw new SwiftRefusal(416, 'The range does not lie in the object.', { 'content-range': `bytes */${whole.size}` });
  }
  if (ranges.length > 1) throw new SwiftRefusal(400, 'A copy takes one range.');
  const { start } = range;
  const read: Whole['read'] = (wanted) => whole.read({ start: start + wanted.start, end: start + wanted.end });
  return { size: range.end - start, etag: '', read };
}

/** Bytes within one policy are shared; elsewhere, and where they are put together from segments, they are written anew. */
async function copyBytes(
  request: ObjectRequest,
  source: ObjectVersion,
  target: Bucket,
  from: Bucket,
  whole: Whole,
  isRaw: boolean,
): Promise<Uploaded> {
  const { bucket, key, sequence, size, etag } = source;
  if (source.attributes.customerKey !== undefined)
    throw new SwiftRefusal(409, 'The object is encrypted with a key of its client: copy it over S3 with that key.');
  const isAsWanted = target.settings.encryption === undefined || request.store.isEncrypted(source);
  const policy = source.attributes.policy ?? from.policy;
  if (isRaw && policy === target.policy && isAsWanted)
    return { content: { kind: 'copy', of: { bucket, key, sequence } }, size, etag };
  if (whole.size > MAX_OBJECT_SIZE) throw new SwiftRefusal(413, 'The object is too large to be copied whole.');
  const bytes = whole.size === 0 ? new Uint8Array(0) : await whole.read({ start: 0, end: whole.size });
  const copied =
    bytes instanceof Uint8Array
      ? await stageBytes(request.store, target, bytes)
      : await stageStream(request.store, target, bytes, whole.size);
  return isRaw ? { ...copied, etag } : copied;
}

/** A version that expired and was named by its id is copied without its time, or the copy would be gone at once. */
function copiedExpiry(request: ObjectRequest, { expiresAt }: ObjectVersion): number | null {
  if (isTrue(request.header('x-fresh-metadata')) || expiresAt === null) return null;
  return expiresAt > request.now ? expiresAt : null;
}

async function copy(
  request: ObjectRequest,
  from: Place,
  to: Place,
  versionId: string | undefined,
  isRestored = false,
): Promise<SwiftReply> {
  const { store, now } = request;
  const named = demandVersion(store, from.bucket, from.object, now, versionId);
  const start = { account: from.account, bucket: from.bucket, version: named };
  const read = asksForSymlink(request) || isRestored ? start : await followSymlinks(request, start);
  const source = read.version;
  const isManifest = source.attributes.staticManifest !== undefined || source.attributes.dynamicManifest !== undefined;
  const isKept = !isManifest || isRestored || request.query.get('multipart-manifest') === 'get';
  if (isKept && source.attributes.staticManifest !== undefined) await refuseOwnSegment(store, source, to);
  const all = isKept ? plainObject(request, source) : await openWhole({ ...request, account: read.account }, source);
  const whole = await narrowed(request, source, all);
  const isRaw = isKept && whole === all;
  demandRoom(request, to.account, to.bucket, whole.size);
  const attributes = copiedAttributes(request, source, to.object, isRaw);
  const expiresAt = expiryOf(request) ?? copiedExpiry(request, source);
  const uploaded = await copyBytes(request, source, to.bucket, read.bucket, whole, isRaw);
  const version = await commitPut(request, to.bucket, {
    bucket: to.bucket.id,
    key: to.object,
    ...uploaded,
    owner: request.caller?.user ?? to.bucket.settings.owner ?? '',
    attributes,
    expiresAt,
    ...putConditions(request),
    cause: { ...request.cause, event: 'ObjectCreated:Copy' },
    at: now,
  });
  const reply = createdReply(version);
  return {
    ...reply,
    headers: {
      ...reply.headers,
      'X-Copied-From': headerValue(percentEncode(`${from.bucket.name}/${from.object}`)),
      'X-Copied-From-Account': `AUTH_${from.account.id}`,
      'X-Copied-From-Last-Modified': new Date(source.modifiedAt).toUTCString(),
    },
  };
}

/** PUT with X-Copy-From. */
export async function copyFrom(request: ObjectRequest, bucket: Bucket): Promise<SwiftReply> {
  if ((request.body.length ?? 0) > 0 || request.body.chunked) {
    throw new SwiftRefusal(400, 'Copy requests require a zero byte body');
  }
  const from = await findPlace(request, 'X-Copy-From', 'X-Copy-From-Account');
  request.access.demand(request.access.mayRead(from.bucket, from.object), from.account.id);
  return copy(request, from, { account: request.account, bucket, object: request.object }, undefined);
}

/** COPY with Destination. The request's own object is the source. */
export async function copyTo(request: ObjectRequest, bucket: Bucket): Promise<SwiftReply> {
  if (request.header('destination') === undefined) throw new SwiftRefusal(412, 'Destination header required');
  const to = await findPlace(request, 'Destination', 'Destination-Account');
  request.access.demand(request.access.mayPut(to.bucket, to.object), to.account.id);
  request.demandRate();
  const from = { account: request.account, bucket, object: request.object };
  return copy(request, from, to, request.query.get('version-id'));
}

/** PUT with `version-id`: an old version is made the newest. */
export function restoreVersion(request: ObjectRequest, bucket: Bucket, versionId: string): Promise<SwiftReply> {
  if ((request.body.length ?? 0) > 0) throw new SwiftRefusal(400, 'PUT version-id requires a zero byte body');
  const place = { account: request.account, bucket, object: request.object };
  return copy(request, place, place, versionId, true);
}
