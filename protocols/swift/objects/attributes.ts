import type { OutgoingHttpHeaders } from 'node:http';
import type { ObjectAttributes, ObjectVersion, WrittenVersion } from '@granary/storage/object-store';
import { checkMetadata, metadataHeaders, timestamp } from '../request/metadata.ts';
import { SwiftRefusal } from '../request/refusal.ts';
import type { SwiftRequest } from '../request/request.ts';
import { headerValue, isTrue, percentDecode, percentEncode, titleCase } from '../request/text.ts';
import { guessContentType } from './content-types.ts';
import { symlinkHeaders } from './symlink.ts';

const KEPT_HEADERS = ['cache-control', 'content-disposition', 'content-encoding', 'content-language', 'expires'];
const MAX_HEADER = 1024;
/** The furthest time that Swift keeps, in the year 2286: what is further is brought back to it. */
const MAX_DELETE_AT = 9_999_999_999;

type Source = Pick<SwiftRequest, 'header' | 'headersWith' | 'now'>;

function keptHeaders(request: Source): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const name of KEPT_HEADERS) {
    const value = request.header(name);
    if (value === undefined || value === '') continue;
    if (value.length > MAX_HEADER) throw new SwiftRefusal(400, `${titleCase(name)} is longer than ${MAX_HEADER}`);
    kept[name] = value;
  }
  return kept;
}

/** `container/prefix`, percent-encoded in the header, kept decoded. */
function dynamicManifest(request: Source): string | undefined {
  const value = request.header('x-object-manifest');
  if (value === undefined || value === '') return undefined;
  const path = percentDecode(Buffer.from(value, 'utf8').toString('latin1'));
  const slash = path.indexOf('/');
  if (slash <= 0 || slash === path.length - 1 || /[?&]/.test(value)) {
    throw new SwiftRefusal(400, 'X-Object-Manifest must be in the format container/prefix');
  }
  return path;
}

/** What a request says of an object. Fields it does not speak of are absent. */
export function requestAttributes(request: Source): ObjectAttributes {
  const metadata = Object.fromEntries([...request.headersWith('x-object-meta-')].filter(([, value]) => value !== ''));
  checkMetadata(metadata);
  const headers = keptHeaders(request);
  const contentType = request.header('content-type');
  if (contentType !== undefined && contentType.length > MAX_HEADER)
    throw new SwiftRefusal(400, 'Content-Type is too long');
  const manifest = dynamicManifest(request);
  return {
    ...(contentType === undefined || contentType === '' ? {} : { contentType }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(manifest === undefined ? {} : { dynamicManifest: manifest }),
  };
}

/** The same for a new object, which needs a type. */
export function newAttributes(request: Source, name: string): ObjectAttributes {
  const attributes = requestAttributes(request);
  if (attributes.contentType !== undefined && !isTrue(request.header('x-detect-content-type'))) return attributes;
  return { ...attributes, contentType: guessContentType(name) };
}

function readInteger(name: string, text: string): number {
  if (!/^\s*[+-]?\d{1,300}\s*$/.test(text)) throw new SwiftRefusal(400, `Non-integer ${name}`);
  return Number(text);
}

/** When the object shall go, in milliseconds since 1970; undefined when the request does not say. */
export function expiryOf(request: Source): number | undefined {
  const after = request.header('x-delete-after');
  if (after !== undefined && after !== '') {
    const seconds = readInteger('X-Delete-After', after);
    if (seconds <= 0) throw new SwiftRefusal(400, 'X-Delete-After in past');
    return Math.min(Math.floor(request.now / 1000 + seconds), MAX_DELETE_AT) * 1000;
  }
  const text = request.header('x-delete-at');
  if (text === undefined || text === '') return undefined;
  const at = Math.min(readInteger('X-Delete-At', text), MAX_DELETE_AT);
  if (at * 1000 <= request.now) throw new SwiftRefusal(400, 'X-Delete-At in past');
  return at * 1000;
}

/** Parts put by another protocol's multipart upload: like a static large object, its ETag is no MD5 of its bytes. */
function isAssembled(version: WrittenVersion): boolean {
  return version.etag.includes('-');
}

/** Manifests and assembled objects have a quoted ETag, so that clients do not take it for an MD5. */
export function shownEtag(version: WrittenVersion): string {
  const { staticManifest } = version.attributes;
  if (staticManifest !== undefined) return `"${staticManifest.etag}"`;
  return isAssembled(version) ? `"${version.etag}"` : version.etag;
}

/** Headers of an object, all but length and ETag. */
export function objectHeaders(version: ObjectVersion): OutgoingHttpHeaders {
  const { attributes } = version;
  const headers: OutgoingHttpHeaders = {
    'Content-Type': headerValue(attributes.contentType ?? 'application/octet-stream'),
    'Last-Modified': new Date(version.modifiedAt).toUTCString(),
    'X-Timestamp': timestamp(version.modifiedAt),
    'Accept-Ranges': 'bytes',
    ...metadataHeaders('X-Object-Meta-', attributes.metadata),
  };
  for (const [name, value] of Object.entries(attributes.headers ?? {})) headers[titleCase(name)] = headerValue(value);
  if (version.expiresAt !== null) headers['X-Delete-At'] = String(Math.floor(version.expiresAt / 1000));
  if (attributes.staticManifest !== undefined || isAssembled(version)) headers['X-Static-Large-Object'] = 'True';
  if (attributes.dynamicManifest !== undefined) {
    headers['X-Object-Manifest'] = percentEncode(attributes.dynamicManifest);
  }
  if (attributes.staticManifest !== undefined) headers['X-Manifest-Etag'] = version.etag;
  if (attributes.symlink !== undefined) Object.assign(headers, symlinkHeaders(attributes.symlink));
  if (version.versionId !== 'null') headers['X-Object-Version-Id'] = version.versionId;
  return headers;
}
