import type { DataSettings } from '../objects/context.ts';
import { badArgument, S3Error } from './errors.ts';
import type { BucketAddress, Level, S3Query } from './request.ts';

const URL_BYTES_MAX = 16 * 1024;
const KEY_BYTES_MAX = 1024;
const PARAMETERS_MAX = 256;
const EXPLICIT = /^([0-9a-f]{32}):([^]+)$/;
/** Needs neither decoding nor encoding. */
const PLAIN_PATH = /^[A-Za-z0-9\-._~/]*$/;
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface Address {
  readonly level: Level;
  readonly bucket: BucketAddress | null;
  readonly key: string | null;
  /** The path as Signature V4 writes it: every byte but unreserved ones and slashes percent-encoded. */
  readonly canonicalPath: string;
  /** The path as Signature V2 writes it: as it came, behind the bucket that the host names. */
  readonly resourcePath: string;
  readonly query: Query;
}

/** Reads the request line itself: `new URL` would fold `..` and `//`, which are part of keys. */
export function readAddress(url: string, host: string | undefined, settings: DataSettings): Address {
  if (url.length > URL_BYTES_MAX) throw new S3Error('InvalidURI', 'The address is longer than 16 KiB.');
  const target = url.startsWith('/') ? url : afterAuthority(url);
  const mark = target.indexOf('?');
  const raw = mark === -1 ? target : target.slice(0, mark);
  const plain = isPlainPath(raw);
  const path = plain ? raw : decodePercent(raw, 'the path');
  const query = new Query(mark === -1 ? '' : target.slice(mark + 1));
  const canonicalPath = plain ? raw : encodePath(path);
  const hosted = settings.virtualHosted ? hostedBucket(host, settings.hosts) : undefined;
  const resourcePath = hosted === undefined ? raw : `/${hosted}${raw}`;
  return { ...parts(path, hosted), canonicalPath, resourcePath, query };
}

/** `GET http://host/path` is a way to say `GET /path`. */
function afterAuthority(url: string): string {
  const scheme = /^https?:\/\/[^/?]*/i.exec(url);
  if (!scheme) throw new S3Error('InvalidURI');
  const rest = url.slice(scheme[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function parts(path: string, hosted: string | undefined): Pick<Address, 'level' | 'bucket' | 'key'> {
  if (hosted !== undefined) return located({ name: hosted }, path.slice(1));
  const slash = path.indexOf('/', 1);
  const first = slash === -1 ? path.slice(1) : path.slice(1, slash);
  const key = slash === -1 ? '' : path.slice(slash + 1);
  if (first !== '') return located(bucketAddress(first), key);
  if (key !== '') throw new S3Error('InvalidBucketName', 'The path names no bucket.');
  return { level: 'service', bucket: null, key: null };
}

function located(bucket: BucketAddress, key: string): Pick<Address, 'level' | 'bucket' | 'key'> {
  if (bucket.name.includes('\0')) throw new S3Error('InvalidBucketName');
  if (key === '') return { level: 'bucket', bucket, key: null };
  checkKey(key);
  return { level: 'object', bucket, key };
}

/** `<account id>:<bucket>` names one exactly. */
export function bucketAddress(text: string): BucketAddress {
  const [, account, name] = EXPLICIT.exec(text) ?? [];
  return account === undefined || name === undefined ? { name: text } : { account, name };
}

/** Every key that is stored went through this. */
export function checkKey(key: string): void {
  if (key.includes('\0')) throw badArgument('key', key, 'The key must not hold a NUL character.');
  // A character of UTF-16 takes at most three bytes.
  if (key.length * 3 > KEY_BYTES_MAX && Buffer.byteLength(key) > KEY_BYTES_MAX) {
    throw new S3Error('KeyTooLongError', undefined, {
      Size: String(Buffer.byteLength(key)),
      MaxSizeAllowed: String(KEY_BYTES_MAX),
    });
  }
}

/** What stands before one of the array's names; the longest name counts, as one may end with another. */
function hostedBucket(host: string | undefined, hosts: readonly string[]): string | undefined {
  const name = (host ?? '').replace(/:\d+$/, '').toLowerCase();
  let bucket: string | undefined;
  for (const each of hosts) {
    const own = each.toLowerCase();
    if (name === own) return undefined;
    const before = name.endsWith(`.${own}`) ? name.slice(0, -own.length - 1) : '';
    if (before !== '' && (bucket === undefined || before.length < bucket.length)) bucket = before;
  }
  return bucket;
}

/** Once, and strictly: half a percent sign or bytes that are not UTF-8 are refused, never replaced. */
export function decodePercent(text: string, what: string): string {
  const bytes = Buffer.from(text, 'latin1');
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at] ?? 0;
    if (byte === PERCENT) {
      const high = hexDigit(bytes[at + 1]);
      const low = hexDigit(bytes[at + 2]);
      if (high === -1 || low === -1) throw new S3Error('InvalidURI', `There is a bad percent sign in ${what}.`);
      byte = high * 16 + low;
      at += 2;
    }
    bytes[length++] = byte;
  }
  try {
    return utf8.decode(bytes.subarray(0, length));
  } catch {
    throw new S3Error('InvalidURI', `There are bytes in ${what} that are not UTF-8.`);
  }
}

const PERCENT = 0x25;

function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1;
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/** Percent-encoding as signatures want it. */
export function encodePart(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Nothing of it would be encoded. */
export function isPlainPath(path: string): boolean {
  return PLAIN_PATH.test(path);
}

export function encodePath(path: string): string {
  return encodePart(path).replaceAll('%2F', '/');
}

/** The query, in the order it came and decoded. */
export class Query implements S3Query {
  readonly pairs: readonly (readonly [name: string, value: string])[];
  readonly #values = new Map<string, string>();

  constructor(text: string) {
    const pieces = text === '' ? [] : text.split('&').filter((piece) => piece !== '');
    if (pieces.length > PARAMETERS_MAX) throw new S3Error('InvalidURI', `More than ${PARAMETERS_MAX} parameters.`);
    this.pairs = pieces.map(readPair);
    for (const [name, value] of this.pairs) if (!this.#values.has(name)) this.#values.set(name, value);
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  get(name: string): string | undefined {
    return this.#values.get(name);
  }

  names(): Iterable<string> {
    return this.#values.keys();
  }

  /** As Signature V4 writes it: encoded anew and in order, without the signature itself. */
  canonical(without?: string): string {
    if (this.pairs.length === 0) return '';
    return this.pairs
      .filter(([name]) => name !== without)
      .map(([name, value]) => [encodePart(name), encodePart(value)] as const)
      .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0))
      .map(([name, value]) => `${name}=${value}`)
      .join('&');
  }
}

function readPair(piece: string): readonly [string, string] {
  const equals = piece.indexOf('=');
  const name = equals === -1 ? piece : piece.slice(0, equals);
  const value = equals === -1 ? '' : piece.slice(equals + 1);
  return [readComponent(name), readComponent(value)];
}

function readComponent(text: string): string {
  if (isPlainPath(text)) return text;
  return decodePercent(text.replaceAll('+', ' '), 'the query');
}

const DNS_NAME = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const LOOKS_LIKE_IP = /^\d+\.\d+\.\d+\.\d+$/;

/** What S3 demands of a new bucket's name; older ones and Swift's containers may have others. */
export function checkNewBucketName(name: string): void {
  const fits =
    name.length >= 3 &&
    name.length <= 63 &&
    DNS_NAME.test(name) &&
    !name.includes('..') &&
    !LOOKS_LIKE_IP.test(name) &&
    !name.startsWith('xn--') &&
    !name.endsWith('-s3alias');
  if (fits) return;
  throw new S3Error(
    'InvalidBucketName',
    'A bucket name has 3 to 63 lower-case letters, digits, dots and hyphens and is no address.',
    { BucketName: name.slice(0, 256) },
  );
}
