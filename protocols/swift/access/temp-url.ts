import { createHmac, timingSafeEqual } from 'node:crypto';
import { BlockList, isIP, isIPv6 } from 'node:net';
import type { OutgoingHttpHeaders } from 'node:http';
import type { Query } from '../request/address.ts';
import { percentEncode } from '../request/text.ts';

/** Algorithms by the length of their hex form. `sha1` is old, but it is what many clients still sign with. */
const BY_LENGTH: Readonly<Record<number, string>> = { 40: 'sha1', 64: 'sha256', 128: 'sha512' };
const ALGORITHMS: readonly string[] = ['sha1', 'sha256', 'sha512'];

export const TEMP_URL_METHODS: readonly string[] = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE'];
export const TEMP_URL_DIGESTS = ALGORITHMS;

/** GET and PUT include HEAD. */
const SIGNED_FOR: Readonly<Record<string, readonly string[]>> = {
  GET: ['GET'],
  HEAD: ['HEAD', 'GET', 'PUT', 'POST'],
  PUT: ['PUT'],
  POST: ['POST'],
  DELETE: ['DELETE'],
};

interface Signature {
  readonly algorithm: string;
  readonly value: Buffer;
}

export function readSignature(text: string): Signature | undefined {
  const colon = text.indexOf(':');
  if (colon < 0) {
    const algorithm = BY_LENGTH[text.length];
    if (algorithm === undefined || !/^[0-9a-f]+$/i.test(text)) return undefined;
    return { algorithm, value: Buffer.from(text, 'hex') };
  }
  const algorithm = text.slice(0, colon).toLowerCase();
  const base64 = text.slice(colon + 1);
  if (!ALGORITHMS.includes(algorithm) || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(base64)) return undefined;
  return { algorithm, value: Buffer.from(base64, 'base64') };
}

/** Seconds since 1970, or a date as ISO 8601 has it in UTC. Signed is always the number. */
function readExpiry(text: string): number | undefined {
  if (/^\d{1,12}$/.test(text)) return Number(text);
  if (!/^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}:\d{2}Z?)?$/.test(text)) return undefined;
  const time = Date.parse(text.includes('T') && !text.endsWith('Z') ? `${text}Z` : text);
  return Number.isNaN(time) ? undefined : time / 1000;
}

/** An address or a network; undefined when it is neither. */
function isInRange(range: string, ip: string): boolean {
  const [network = '', bits] = range.split('/', 2);
  const address = ip.startsWith('::ffff:') && ip.includes('.') ? ip.slice(7) : ip;
  if (isIP(network) === 0 || isIP(network) !== isIP(address)) return false;
  const family = isIPv6(network) ? 'ipv6' : 'ipv4';
  const list = new BlockList();
  if (bits === undefined) list.addAddress(network, family);
  else if (/^\d{1,3}$/.test(bits) && Number(bits) <= (family === 'ipv4' ? 32 : 128)) {
    list.addSubnet(network, Number(bits), family);
  } else return false;
  return list.check(address, family);
}

export function isTempUrl(query: Query): boolean {
  return query.has('temp_url_sig') || query.has('temp_url_expires');
}

export interface TempUrlRequest {
  readonly method: string;
  /** Decoded: `/v1/AUTH_<account>/<container>/<object>`. */
  readonly path: string;
  /** The part of the path that a prefix is appended to: `/v1/AUTH_<account>/<container>/`. */
  readonly base: string;
  readonly object: string;
  readonly query: Query;
  readonly ip: string;
  readonly now: number;
}

/** Keys with what they open. */
export interface TempUrlKey {
  readonly key: string;
  readonly scope: 'account' | 'container';
}

function signedText(request: TempUrlRequest, method: string, expires: number): string {
  const prefix = request.query.get('temp_url_prefix');
  const range = request.query.get('temp_url_ip_range');
  const path = prefix === undefined ? request.path : `prefix:${request.base}${prefix}`;
  return `${range === undefined ? '' : `ip=${range}\n`}${method}\n${expires}\n${path}`;
}

function isOpen(request: TempUrlRequest, expires: number): boolean {
  const prefix = request.query.get('temp_url_prefix');
  const range = request.query.get('temp_url_ip_range');
  if (expires * 1000 < request.now) return false;
  if (prefix !== undefined && !request.object.startsWith(prefix)) return false;
  return range === undefined || isInRange(range, request.ip);
}

/** The key that signed the address; undefined when none did, or when it does not hold now or here. */
export function verifyTempUrl(request: TempUrlRequest, keys: readonly TempUrlKey[]): TempUrlKey | undefined {
  const signature = readSignature(request.query.get('temp_url_sig') ?? '');
  const expires = readExpiry(request.query.get('temp_url_expires') ?? '');
  if (signature === undefined || expires === undefined || !isOpen(request, expires)) return undefined;
  for (const method of SIGNED_FOR[request.method] ?? []) {
    const text = signedText(request, method, expires);
    for (const key of keys) {
      const right = createHmac(signature.algorithm, key.key).update(text).digest();
      if (right.length === signature.value.length && timingSafeEqual(right, signature.value)) return key;
    }
  }
  return undefined;
}

const META = 'x-object-meta-';

/** What a browser should do with the object. Metadata is kept from it unless it is marked as public. */
export function tempUrlHeaders(headers: OutgoingHttpHeaders, query: Query, object: string): OutgoingHttpHeaders {
  const shown: OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!lower.startsWith(META) || lower.startsWith(`${META}public-`)) shown[name] = value;
  }
  const filename = query.get('filename');
  const name =
    filename !== undefined && filename !== '' ? filename : (object.replace(/\/+$/, '').split('/').pop() ?? '');
  const quoted = percentEncode(name).replaceAll('/', '%2F');
  const named = `filename="${quoted}"; filename*=UTF-8''${quoted}`;
  if (!query.has('inline')) shown['Content-Disposition'] = `attachment; ${named}`;
  else shown['Content-Disposition'] = filename === undefined ? 'inline' : `inline; ${named}`;
  const expires = readExpiry(query.get('temp_url_expires') ?? '');
  if (expires !== undefined) shown['Expires'] = new Date(expires * 1000).toUTCString();
  return shown;
}
