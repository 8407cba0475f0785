import type { OutgoingHttpHeaders } from 'node:http';
import type { Bucket } from '@granary/storage/object-store';
import { SwiftRefusal } from '../request/refusal.ts';
import type { SwiftReply } from '../request/request.ts';
import { headerValue } from '../request/text.ts';

const METHODS: Readonly<Record<'container' | 'object', readonly string[]>> = {
  container: ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS'],
  object: ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'COPY', 'OPTIONS'],
};

/** Besides what browsers show anyway. */
const EXPOSED = [
  'cache-control',
  'content-language',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
  'etag',
  'x-timestamp',
  'x-trans-id',
  'x-openstack-request-id',
];

function setting(bucket: Bucket | undefined, name: string): string {
  return bucket?.settings.metadata?.[`access-control-${name}`] ?? '';
}

/** The value of Access-Control-Allow-Origin; undefined when the container does not know the origin. */
function allowedOrigin(bucket: Bucket | undefined, origin: string): string | undefined {
  const allowed = setting(bucket, 'allow-origin').split(/\s+/);
  if (allowed.includes('*')) return '*';
  return allowed.includes(origin) ? origin : undefined;
}

/** OPTIONS: what a browser asks before it lets a page of another origin send its request. */
export function preflight(
  bucket: Bucket | undefined,
  kind: 'container' | 'object',
  header: (name: string) => string | undefined,
): SwiftReply {
  const methods = METHODS[kind].join(', ');
  const origin = header('origin');
  if (origin === undefined) return { status: 200, headers: { Allow: methods } };
  const allowed = allowedOrigin(bucket, origin);
  const asked = header('access-control-request-method');
  if (allowed === undefined || asked === undefined || !METHODS[kind].includes(asked)) {
    throw new SwiftRefusal(401, 'The container does not allow this origin or method.', { allow: methods });
  }
  const headers: OutgoingHttpHeaders = {
    Allow: methods,
    'Access-Control-Allow-Origin': headerValue(allowed),
    'Access-Control-Allow-Methods': methods,
    Vary: 'Origin, Access-Control-Request-Headers',
  };
  const wanted = header('access-control-request-headers');
  const age = setting(bucket, 'max-age');
  if (wanted !== undefined) headers['Access-Control-Allow-Headers'] = headerValue(wanted);
  if (/^\d+$/.test(age)) headers['Access-Control-Max-Age'] = age;
  return { status: 200, headers };
}

/** What a browser needs to show the answer to the page that asked. */
export function corsHeaders(bucket: Bucket, origin: string, shown: OutgoingHttpHeaders): OutgoingHttpHeaders {
  const allowed = allowedOrigin(bucket, origin);
  if (allowed === undefined) return {};
  const own = setting(bucket, 'expose-headers').split(/\s+/).filter(Boolean);
  const metadata = Object.keys(shown).filter((name) => /^x-(object|container)-meta-/i.test(name));
  return {
    'Access-Control-Allow-Origin': headerValue(allowed),
    'Access-Control-Expose-Headers': headerValue([...EXPOSED, ...metadata, ...own].join(', ').toLowerCase()),
    ...(allowed === '*' ? {} : { Vary: 'Origin' }),
  };
}
