import type { ByteRange, ObjectVersion } from '@granary/storage/object-store';
import type { OutgoingHttpHeaders } from 'node:http';
import { S3Error } from '../../errors.ts';
import type { S3Operation, S3Reply, S3Request } from '../../request.ts';
import type { CustomerKey } from '../../encryption/customer-key.ts';
import { keyToRead, refuseOnRead } from '../../encryption/encryption.ts';
import { evaluate, rangeHolds } from './conditions.ts';
import { askedChecksum, askedPartChecksum, objectHeaders, overrides } from './object-headers.ts';
import { readObject, shown } from './object-content.ts';
import { rangeOf } from './range.ts';
import { quoted, versionHeader } from '../replies.ts';
import { partNumberOf } from '../uploads/upload.ts';
import { objectVersion } from './versions.ts';

/** Up to this, one read is cheaper than a stream; beyond, large fresh buffers cost more than parts do. */
const WHOLE_BYTES_MAX = 64 * 1024;

export const getObject: S3Operation = {
  name: 'GetObject',
  class: 'get',
  subject: 'object',
  action: 's3:GetObject',
  versionAction: 's3:GetObjectVersion',
  changes: false,
  async run(request) {
    const version = objectVersion(request);
    const key = keyOf(request, version);
    const reply = answer(request, version, key);
    if (reply.part === null) return reply;
    const { start, end } = reply.part;
    if (end === start) return { ...reply, body: new Uint8Array(0) };
    const small = key === null && end - start <= WHOLE_BYTES_MAX && version.attributes.staticManifest === undefined;
    const { store } = request.context;
    const body = small ? store.readWhole(version, reply.part) : readObject(request, version, reply.part, key);
    return { ...reply, body: await body };
  },
};

export const headObject: S3Operation = {
  name: 'HeadObject',
  class: 'get',
  subject: 'object',
  action: 's3:GetObject',
  versionAction: 's3:GetObjectVersion',
  changes: false,
  run(request) {
    const version = objectVersion(request);
    return answer(request, version, keyOf(request, version));
  },
};

type Answer = S3Reply & {
  /** Bytes that follow; null for none at all. */
  readonly part: ByteRange | null;
};

function keyOf(request: S3Request, version: ObjectVersion): CustomerKey | null {
  refuseOnRead(request);
  return keyToRead(request, version);
}

/** Everything of the reply but the bytes. */
function answer(request: S3Request, version: ObjectVersion, key: CustomerKey | null): Answer {
  const outcome = evaluate(
    {
      ifMatch: request.header('if-match'),
      ifNoneMatch: request.header('if-none-match'),
      ifModifiedSince: request.header('if-modified-since'),
      ifUnmodifiedSince: request.header('if-unmodified-since'),
    },
    { etag: shown(version).etag, modifiedAt: version.modifiedAt },
  );
  if (outcome === 'failed') throw new S3Error('PreconditionFailed');
  const headers = { ...objectHeaders(request, version, key), ...overrides(request) };
  if (outcome === 'not-modified') return { status: 304, headers: unchangedHeaders(headers), part: null };
  return portion(request, version, headers);
}

/** What a 304 may tell: a cache takes it over, so the type of an empty body must not be among it. */
function unchangedHeaders(headers: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const kept = ['etag', 'last-modified', 'cache-control', 'expires', 'x-amz-version-id', 'content-language'];
  return Object.fromEntries(kept.filter((name) => headers[name] !== undefined).map((name) => [name, headers[name]]));
}

function portion(request: S3Request, version: ObjectVersion, headers: OutgoingHttpHeaders): Answer {
  const { size, etag } = shown(version);
  const byNumber = partOf(request, version);
  const isSame = rangeHolds(request.header('if-range'), { etag, modifiedAt: version.modifiedAt });
  const range = byNumber?.range ?? (isSame ? rangeOf(request.header('range'), size) : null);
  if (range === 'unsatisfiable') throw unsatisfiable(request, version);
  if (range === null) {
    const whole = { ...headers, ...askedChecksum(request, version), 'content-length': size };
    return { status: 200, headers: whole, part: { start: 0, end: size } };
  }
  const { start, end } = range;
  const partial = {
    ...headers,
    ...(byNumber !== null && byNumber.count > 0
      ? askedPartChecksum(request, version, byNumber.number)
      : start === 0 && end === size && askedChecksum(request, version)),
    ...(byNumber !== null && byNumber.count > 0 && { 'x-amz-mp-parts-count': String(byNumber.count) }),
    'content-length': end - start,
    // An empty object has no byte that a range could name.
    ...(size > 0 && { 'content-range': `bytes ${start}-${end - 1}/${size}` }),
  };
  return { status: 206, headers: partial, part: range };
}

/** `partNumber`: the bytes of one part. An object that was put whole is its own first part. */
function partOf(
  request: S3Request,
  version: ObjectVersion,
): { readonly range: ByteRange; readonly number: number; readonly count: number } | null {
  if (!request.query.has('partNumber')) return null;
  const number = partNumberOf(request);
  if (request.header('range') !== undefined) {
    throw new S3Error('InvalidRequest', 'Cannot specify both Range header and partNumber query parameter');
  }
  const sizes = version.attributes.partSizes ?? [];
  const own = sizes.length === 0 ? (number === 1 ? shown(version).size : undefined) : sizes[number - 1];
  if (own === undefined) {
    throw new S3Error('InvalidPartNumber', undefined, {
      PartNumberRequested: String(number),
      ActualPartCount: String(Math.max(1, sizes.length)),
    });
  }
  const start = sizes.slice(0, number - 1).reduce((sum, size) => sum + size, 0);
  return { range: { start, end: start + own }, number, count: sizes.length };
}

function unsatisfiable(request: S3Request, version: ObjectVersion): S3Error {
  return new S3Error(
    'InvalidRange',
    undefined,
    { RangeRequested: (request.header('range') ?? '').slice(0, 64), ActualObjectSize: String(shown(version).size) },
    {
      'content-range': `bytes */${shown(version).size}`,
      etag: quoted(shown(version).etag),
      ...(versionHeader(request.bucket, version) as Record<string, string>),
    },
  );
}
