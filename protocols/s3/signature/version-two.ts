import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Address, Query } from '../address.ts';
import { badArgument, S3Error } from '../errors.ts';
import { isHeaderName } from '../header-name.ts';
import { SUB_RESOURCES } from '../sub-resources.ts';
import { checkOldExpiry, checkSkew, readOldRequestTime } from './request-time.ts';
import { sameText } from './same-text.ts';

/**
 * Signature V2: HMAC-SHA1 with the secret itself over verb, Content-MD5, Content-Type, date, all x-amz- headers, the path as
 * it came and those parameters of the query that choose the operation or change the reply. Others, like `prefix`, are not
 * signed. Every sub-resource there is counts, though V2 is older than some: one that was not signed could be added to an
 * address that another user signed.
 */

export const OLD_ALGORITHM = 'AWS';

export interface OldSignedRequest {
  readonly method: string;
  readonly address: Pick<Address, 'resourcePath' | 'query'>;
  readonly headers: IncomingHttpHeaders;
  /** As they came: name, value, name, value. */
  readonly rawHeaders: readonly string[];
}

export interface OldClaim {
  readonly accessKey: string;
  /** Base64. */
  readonly signature: string;
  /** What was signed, one of these: its bytes, one character each. */
  readonly texts: readonly string[];
  readonly presigned: boolean;
}

const AMZ = 'x-amz-';
/** The lines of what is signed end with a line break, and a colon ends a name: neither may come in by a parameter. */
const CONTROL = /[\x00-\x1f\x7f]/;
const SIGNED_PARAMETERS =
  /^(?:partNumber|versionId|response-(?:cache-control|content-(?:disposition|encoding|language|type)|expires))$/;

export function isOldHeader(authorization: string): boolean {
  return authorization.startsWith(`${OLD_ALGORITHM} `);
}

export function isOldQuery(query: Query): boolean {
  return query.has('AWSAccessKeyId') || query.has('Signature');
}

/** `Authorization: AWS <access key>:<signature>`. */
export function readOldHeader(request: OldSignedRequest, authorization: string, now: number): OldClaim {
  const text = authorization.slice(OLD_ALGORITHM.length).trim();
  const colon = text.lastIndexOf(':');
  const [accessKey, signature] = [text.slice(0, Math.max(colon, 0)), text.slice(colon + 1)];
  if (accessKey === '' || signature === '') {
    throw new S3Error('InvalidArgument', 'AWS authorization header is invalid. Expected AWS AccessKeyId:Signature', {
      ArgumentName: 'Authorization',
    });
  }
  checkSkew(readOldRequestTime(request.headers), now);
  const date = request.headers['x-amz-date'] === undefined ? (request.headers.date ?? '') : '';
  return { accessKey, signature, texts: textsToSign(request, date, false), presigned: false };
}

/** `?AWSAccessKeyId=…&Expires=…&Signature=…`. */
export function readOldQuery(request: OldSignedRequest, now: number): OldClaim {
  const { query } = request.address;
  const [accessKey, expires, signature] = ['AWSAccessKeyId', 'Expires', 'Signature'].map((name) => query.get(name));
  if (!accessKey || !expires || !signature) {
    throw new S3Error(
      'AccessDenied',
      'Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters',
    );
  }
  checkOldExpiry(expires, now);
  return { accessKey, signature, texts: textsToSign(request, expires, true), presigned: true };
}

export function isSignedOld(secret: string, texts: readonly string[], signature: string): boolean {
  // All of them are tried, whichever fits.
  return texts.filter((text) => sameText(signOld(secret, text), signature)).length > 0;
}

function signOld(secret: string, text: string): string {
  return createHmac('sha1', secret).update(Buffer.from(text, 'latin1')).digest('base64');
}

/** Clients put what would be headers into an address, too: they are signed as headers. */
function textsToSign(request: OldSignedRequest, date: string, presigned: boolean): string[] {
  const { headers, address, method } = request;
  const named = (name: string): string => {
    const value = headers[name];
    if (typeof value === 'string') return value.trim();
    return presigned ? oneLine(name, hoisted(address.query, name) ?? '') : '';
  };
  const lines = [method, named('content-md5'), named('content-type'), date];
  const head = `${lines.join('\n')}\n${amzHeaders(request, presigned)}`;
  const tail = subResources(address.query);
  return pathsOf(address.resourcePath).map((path) => head + path + tail);
}

/** Some clients ask for `/bucket` and sign `/bucket/`, which is the same place. */
function pathsOf(path: string): string[] {
  return path.length > 1 && !path.includes('/', 1) ? [path, `${path}/`] : [path];
}

/** The first parameter of that name, in any case. */
function hoisted(query: Query, name: string): string | undefined {
  return query.pairs.find(([each]) => each.toLowerCase() === name)?.[1];
}

/** `name:value` in order of names; what comes in several lines is joined by commas. A header outweighs a parameter. */
function amzHeaders({ rawHeaders, address }: OldSignedRequest, presigned: boolean): string {
  const values = new Map<string, string[]>();
  const add = (name: string, value: string) => {
    const others = values.get(name);
    if (others) others.push(value);
    else values.set(name, [value]);
  };
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] ?? '').toLowerCase();
    if (name.startsWith(AMZ)) add(name, (rawHeaders[at + 1] ?? '').trim());
  }
  const sent = new Set(values.keys());
  for (const [name, value] of presigned ? address.query.pairs : []) {
    const lower = name.toLowerCase();
    if (!lower.startsWith(AMZ) || sent.has(lower)) continue;
    if (!isHeaderName(name)) throw badArgument('parameter', name, 'A parameter that stands for a header has its name.');
    add(lower, oneLine(name, value).trim());
  }
  const lines = [...values].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, list]) => `${name}:${list.join(',')}\n`);
  return lines.join('');
}

/** In order of names, values decoded; without a value, the name alone. */
function subResources(query: Query): string {
  const signed = query.pairs.filter(([name]) => SUB_RESOURCES.has(name) || SIGNED_PARAMETERS.test(name));
  if (signed.length === 0) return '';
  const inOrder = signed.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return `?${inOrder.map(([name, value]) => (value === '' ? name : `${name}=${oneLine(name, value)}`)).join('&')}`;
}

/** Node refuses control characters in headers; parameters are decoded, and could hold lines of their own. */
function oneLine(name: string, value: string): string {
  if (CONTROL.test(value)) throw badArgument(name, value, 'A signed parameter must not hold control characters.');
  return bytesOf(value);
}

/** Node has a character for each byte of a header; so is everything that is signed. */
function bytesOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
