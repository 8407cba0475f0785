import { createHash } from 'node:crypto';
import type { Bucket, ObjectVersion, WrittenVersion } from '@granary/storage/object-store';
import {
  MAX_MANIFEST_BYTES,
  MAX_MANIFEST_DEPTH,
  readManifest,
  segmentRange,
  type StaticSegment,
} from '../../objects/static-large-object.ts';
import { deleteAll, type Doomed } from '../bulk/delete-all.ts';
import { reportReply } from '../bulk/report.ts';
import { listedTime } from '../containers/formats.ts';
import { expiryOf, newAttributes, objectHeaders } from '../objects/attributes.ts';
import { findVersion } from '../objects/find.ts';
import { createdReply, putConditions } from '../objects/created.ts';
import { commitPut } from '../objects/legacy-versions.ts';
import { resolveRange } from '../objects/ranges.ts';
import { demandRoom, stageBytes } from '../objects/upload.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import { formatOf, type Format, type ObjectRequest, type SwiftReply, type SwiftRequest } from '../request/request.ts';
import { isTrue } from '../request/text.ts';
import { parseManifest, type AskedSegment, type InlineData } from './manifest-request.ts';

type Problem = readonly [path: string, what: string];

function findSegment(request: SwiftRequest, asked: AskedSegment): ObjectVersion | string {
  const { store, account, access, now } = request;
  const bucket = store.bucket(account.id, asked.container);
  if (bucket === undefined) return '404 Not Found';
  if (!access.mayRead(bucket, asked.object)) return '403 Forbidden';
  return findVersion(store, bucket, asked.object, now) ?? '404 Not Found';
}

/** A segment as it is, if it is what the client says; else what is wrong with it. */
function checkSegment(request: SwiftRequest, asked: AskedSegment): StaticSegment | string {
  const version = findSegment(request, asked);
  if (typeof version === 'string') return version;
  const { staticManifest, contentType } = version.attributes;
  const { etag, size } = staticManifest ?? version;
  if (asked.etag !== null && asked.etag !== etag) return 'Etag Mismatch';
  if (asked.size !== null && asked.size !== size) return 'Size Mismatch';
  if (size === 0) return 'Too small; each segment must be at least 1 byte.';
  const segment = {
    name: `/${asked.container}/${asked.object}`,
    bytes: size,
    hash: etag,
    content_type: contentType ?? 'application/octet-stream',
    last_modified: listedTime(version.modifiedAt),
    ...(staticManifest === undefined ? {} : { sub_slo: true }),
  };
  if (asked.range === null) return segment;
  const [first = '', last = ''] = asked.range.split('-', 2);
  const range = resolveRange(first, last, size);
  if (range === undefined) return 'Unsatisfiable Range';
  return { ...segment, range: `${range.start}-${range.end - 1}` };
}

/** Bytes of the manifest itself, as it keeps them. */
function inlineSegment({ data }: InlineData): StaticSegment {
  const md5 = createHash('md5').update(data).digest('hex');
  const kept = { name: '', bytes: data.length, hash: md5, content_type: '', last_modified: '' };
  return { ...kept, data: data.toString('base64') };
}

/** The manifest takes the place of the object: its bytes would be gone, and the manifest name nothing but itself. */
function refuseOwnName({ container, object }: ObjectRequest, asked: readonly (AskedSegment | InlineData)[]): void {
  if (!asked.some((each) => !('data' in each) && each.container === container && each.object === object)) return;
  throw new SwiftRefusal(
    409,
    `The manifest names /${container}/${object}, which is itself; put it under another name.`,
  );
}

function checkSegments(
  request: SwiftRequest,
  asked: readonly (AskedSegment | InlineData)[],
): [StaticSegment[], Problem[]] {
  const segments: StaticSegment[] = [];
  const problems: Problem[] = [];
  for (const entry of asked) {
    if ('data' in entry) {
      segments.push(inlineSegment(entry));
      continue;
    }
    const checked = checkSegment(request, entry);
    if (typeof checked === 'string') problems.push([`/${entry.container}/${entry.object}`, checked]);
    else segments.push(checked);
  }
  return [segments, problems];
}

/** Of the ETags of the segments, and of the ranges where only a part of a segment is meant. */
function etagOf(segments: readonly StaticSegment[]): string {
  const md5 = createHash('md5');
  for (const { hash, range } of segments) md5.update(range === undefined ? hash : `${hash}:${range};`);
  return md5.digest('hex');
}

async function commitManifest(
  request: ObjectRequest,
  bucket: Bucket,
  segments: readonly StaticSegment[],
): Promise<WrittenVersion> {
  const { store, object, now } = request;
  const size = segments.map(segmentRange).reduce((sum, range) => sum + range.end - range.start, 0);
  const etag = etagOf(segments);
  const claimed = request.header('etag')?.trim().replaceAll('"', '').toLowerCase();
  if (claimed !== undefined && claimed !== '' && claimed !== etag) {
    throw new SwiftRefusal(422, 'The ETag you sent is not that of the manifest.');
  }
  const attributes = { ...newAttributes(request, object), staticManifest: { etag, size } };
  const expiresAt = expiryOf(request) ?? null;
  const bytes = Buffer.from(JSON.stringify(segments));
  // What is kept says more of each segment than what was sent: readers refuse what is longer.
  if (bytes.length > MAX_MANIFEST_BYTES) {
    throw new SwiftRefusal(413, `The manifest takes ${bytes.length} bytes, and may take ${MAX_MANIFEST_BYTES}.`);
  }
  const uploaded = await stageBytes(store, bucket, bytes);
  const owner = request.caller?.user ?? bucket.settings.owner ?? '';
  return commitPut(request, bucket, {
    bucket: bucket.id,
    key: object,
    ...uploaded,
    owner,
    attributes,
    expiresAt,
    ...putConditions(request),
    at: now,
  });
}

/** A client that asked to be kept awake reads the outcome in the body. Checking is quick here, so one body is enough. */
function heartbeatReply(format: Format, version: WrittenVersion): SwiftReply {
  const { staticManifest } = version.attributes;
  const report = {
    'Response Status': '201 Created',
    'Response Body': '',
    Etag: `"${staticManifest?.etag ?? ''}"`,
    'Last Modified': new Date(version.modifiedAt).toUTCString(),
    Errors: [],
  };
  return { ...reportReply(format, report), status: 202 };
}

/** PUT with `multipart-manifest=put`. */
export async function putManifest(request: ObjectRequest, bucket: Bucket): Promise<SwiftReply> {
  if (request.header('x-copy-from') !== undefined) {
    throw new SwiftRefusal(405, 'Multipart Manifest PUTs cannot be COPY requests');
  }
  if (request.body.length === undefined && !request.body.chunked) {
    throw new SwiftRefusal(411, 'Missing Content-Length header.');
  }
  // Before anything is kept: a report in no form that is accepted would be a refusal of what was done.
  const heartbeat = isTrue(request.query.get('heartbeat')) ? formatOf(request) : undefined;
  demandRoom(request, request.account, bucket, request.body.length);
  request.meterBody();
  const asked = parseManifest((await request.body.whole(MAX_MANIFEST_BYTES)).toString('utf8'));
  refuseOwnName(request, asked);
  const [segments, problems] = checkSegments(request, asked);
  if (problems.length > 0) {
    const report = { 'Response Status': '400 Bad Request', 'Response Body': '', Errors: problems };
    return { ...reportReply(formatOf(request), report), status: 400 };
  }
  const version = await commitManifest(request, bucket, segments);
  return heartbeat === undefined ? createdReply(version) : heartbeatReply(heartbeat, version);
}

/** As clients put it, so that what is got can be put again. */
function rawManifest(segments: readonly StaticSegment[]): string {
  const raw = segments.map(({ name, hash, bytes, range, data }) =>
    data === undefined
      ? { path: name, etag: hash, size_bytes: bytes, ...(range === undefined ? {} : { range }) }
      : { data },
  );
  return JSON.stringify(raw);
}

function shownManifest(segments: readonly StaticSegment[]): string {
  return JSON.stringify(segments.map((segment) => (segment.data === undefined ? segment : { data: segment.data })));
}

/** GET with `multipart-manifest=get`. Parts of another protocol's multipart upload are no objects: there are none to name. */
export async function showManifest(request: ObjectRequest, version: ObjectVersion): Promise<SwiftReply> {
  const isManifest = version.attributes.staticManifest !== undefined;
  const segments = isManifest ? await readManifest(request.store, version) : [];
  const isRaw = request.query.get('format') === 'raw';
  const body = Buffer.from(isRaw ? rawManifest(segments) : shownManifest(segments));
  const headers = {
    ...objectHeaders(version),
    Etag: isRaw || !isManifest ? createHash('md5').update(body).digest('hex') : version.etag,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
  };
  return request.method === 'HEAD' ? { status: 200, headers } : { status: 200, headers, body };
}

const MAX_DOOMED = 100_000;

/** All segments below a manifest; those that are manifests after what they name. */
async function collect(
  request: ObjectRequest,
  manifest: ObjectVersion,
  doomed: Map<string, Doomed>,
  depth: number,
): Promise<void> {
  if (depth > MAX_MANIFEST_DEPTH) throw new SwiftRefusal(400, 'Manifests are nested too deep.');
  for (const { name, data, sub_slo: isManifest } of await readManifest(request.store, manifest)) {
    if (data !== undefined) continue;
    const slash = name.indexOf('/', 1);
    const place = { container: name.slice(1, slash), object: name.slice(slash + 1) };
    // However often it is named, and in a circle even: a thousand times a thousand entries may name a few objects.
    if (doomed.has(name)) continue;
    doomed.set(name, place);
    const bucket = request.store.bucket(request.account.id, place.container);
    const version = bucket && findVersion(request.store, bucket, place.object, request.now);
    if (isManifest === true && version?.attributes.staticManifest !== undefined) {
      await collect(request, version, doomed, depth + 1);
      doomed.delete(name);
      doomed.set(name, place);
    }
    if (doomed.size > MAX_DOOMED)
      throw new SwiftRefusal(413, 'The object has too many segments to be deleted at once.');
  }
}

/** DELETE with `multipart-manifest=delete`: the segments, and the manifest when they are gone. */
export async function deleteManifest(
  request: ObjectRequest,
  bucket: Bucket,
  version: ObjectVersion,
): Promise<SwiftReply> {
  const doomed = new Map<string, Doomed>();
  if (version.attributes.staticManifest !== undefined) await collect(request, version, doomed, 1);
  else if (!version.etag.includes('-')) throw new SwiftRefusal(400, 'Not an SLO manifest');
  const own = { container: bucket.name, object: request.object };
  doomed.delete(`/${own.container}/${own.object}`);
  return deleteAll(request, [...doomed.values(), own]);
}
