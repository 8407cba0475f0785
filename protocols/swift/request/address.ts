import { SwiftRefusal } from './refusal.ts';
import { byteLength, percentDecode } from './text.ts';

export const MAX_CONTAINER_NAME = 256;
export const MAX_OBJECT_NAME = 1024;
const MAX_QUERY_PARAMETERS = 100;
const PREFIX = 'AUTH_';

export type Query = ReadonlyMap<string, string>;

export type Address =
  | { readonly kind: 'info' | 'health' | 'sign-in' | 'tokens' | 'identity' | 'nowhere' }
  | { readonly kind: 'account'; readonly account: string }
  | { readonly kind: 'container'; readonly account: string; readonly container: string }
  | { readonly kind: 'object'; readonly account: string; readonly container: string; readonly object: string };

export interface Target {
  readonly address: Address;
  /** Decoded, as temporary URLs sign it. */
  readonly path: string;
  readonly query: Query;
}

const FIXED: ReadonlyMap<string, Address> = new Map<string, Address>([
  ['/info', { kind: 'info' }],
  ['/healthcheck', { kind: 'health' }],
  ['/auth/v1.0', { kind: 'sign-in' }],
  ['/auth/v1', { kind: 'sign-in' }],
  ['/v1.0', { kind: 'sign-in' }],
  ['/v3/auth/tokens', { kind: 'tokens' }],
  ['/v3', { kind: 'identity' }],
]);

/** Path and query as they came, for addresses with and without the host in them. */
function split(url: string): readonly [path: string, query: string] {
  const start = /^https?:\/\/[^/?#]*/i.exec(url)?.[0].length ?? 0;
  const end = url.indexOf('#', start);
  const rest = end < 0 ? url.slice(start) : url.slice(start, end);
  const mark = rest.indexOf('?');
  return mark < 0 ? [rest || '/', ''] : [rest.slice(0, mark) || '/', rest.slice(mark + 1)];
}

function fixed(path: string): Address | undefined {
  return FIXED.get(path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path);
}

/** Whether an address is Swift's; everything else on the data port is S3's. */
export function isSwiftRequest(url: string): boolean {
  const [path] = split(url);
  return path.startsWith(`/v1/${PREFIX}`) || fixed(path) !== undefined;
}

function parseQuery(raw: string): Query {
  const query = new Map<string, string>();
  if (raw === '') return query;
  for (const part of raw.split('&', MAX_QUERY_PARAMETERS)) {
    const equals = part.indexOf('=');
    const name = percentDecode((equals < 0 ? part : part.slice(0, equals)).replaceAll('+', ' '));
    const value = equals < 0 ? '' : percentDecode(part.slice(equals + 1).replaceAll('+', ' '));
    if (name !== '' && !query.has(name)) query.set(name, value);
  }
  return query;
}

export function checkNames(container: string, object?: string): void {
  const length = byteLength(container);
  if (length > MAX_CONTAINER_NAME) {
    throw new SwiftRefusal(400, `Container name length of ${length} longer than ${MAX_CONTAINER_NAME}`);
  }
  if (container === '') throw new SwiftRefusal(412, 'Container name is empty');
  if (object === undefined) return;
  const size = byteLength(object);
  if (size > MAX_OBJECT_NAME)
    throw new SwiftRefusal(400, `Object name length of ${size} longer than ${MAX_OBJECT_NAME}`);
}

/** Like Swift, decodes first and splits then; an object's name is all that follows, dots and slashes included. */
function data(path: string): Address {
  if (!path.startsWith(`/v1/${PREFIX}`)) return { kind: 'nowhere' };
  const start = 4 + PREFIX.length;
  const accountEnd = path.indexOf('/', start);
  const account = accountEnd < 0 ? path.slice(start) : path.slice(start, accountEnd);
  if (account === '') return { kind: 'nowhere' };
  if (accountEnd < 0 || accountEnd === path.length - 1) return { kind: 'account', account };
  const containerEnd = path.indexOf('/', accountEnd + 1);
  const container = containerEnd < 0 ? path.slice(accountEnd + 1) : path.slice(accountEnd + 1, containerEnd);
  const object = containerEnd < 0 ? '' : path.slice(containerEnd + 1);
  checkNames(container, object);
  return object === '' ? { kind: 'container', account, container } : { kind: 'object', account, container, object };
}

export function parseTarget(url: string): Target {
  const [rawPath, rawQuery] = split(url);
  const path = percentDecode(rawPath);
  return { address: fixed(path) ?? data(path), path, query: parseQuery(rawQuery) };
}

/** `container/object` of a header or a manifest, decoded already; a slash before it is left away. */
export function splitObjectPath(path: string): { readonly container: string; readonly object: string } | undefined {
  const start = path.startsWith('/') ? 1 : 0;
  const slash = path.indexOf('/', start);
  if (slash <= start || slash === path.length - 1) return undefined;
  return { container: path.slice(start, slash), object: path.slice(slash + 1) };
}
