import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http';

/*
 * What passes is listed; everything else stays where it is. So no credential of one side reaches the other (Cookie,
 * Authorization, X-Token, X-CSRF-Token; Set-Cookie), nothing about a connection is repeated for another, and no answer
 * gives leave to other origins (Access-Control-*) or changes the browser's state (Clear-Site-Data, Refresh).
 */

const SENT = new Set([
  'accept',
  'accept-language',
  'cache-control',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-md5',
  'content-type',
  'expires',
  'idempotency-key',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-event-id',
  'range',
  'user-agent',
  'x-reveal-secrets',
]);

const ANSWERED = new Set([
  'accept-ranges',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-range',
  'content-type',
  'etag',
  'expires',
  'last-modified',
  'retry-after',
  'x-total-count',
]);

/** Of a signature: a relay signs the request anew, or not at all. */
const SIGNING = new Set([
  'x-amz-content-sha256',
  'x-amz-date',
  'x-amz-decoded-content-length',
  'x-amz-security-token',
  'x-amz-trailer',
]);

/**
 * What holds a document that was uploaded by anybody: opened under this origin it runs nothing, and is nothing but what
 * its type says.
 */
export const PROTECTION = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const;

/** What an object has as its `Cache-Control`: that of the answer is the relay's. */
const STORED_CACHE_CONTROL = 'x-stored-cache-control';

type Sent = Record<string, string | string[]>;

export function sentHeaders(headers: IncomingHttpHeaders): Sent {
  return picked(headers, (name) => SENT.has(name) || (name.startsWith('x-amz-') && !SIGNING.has(name)));
}

export function answeredHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const picks = picked(headers, (name) => ANSWERED.has(name) || name.startsWith('x-amz-'));
  const stored = storedCacheControl(headers);
  return { ...picks, ...(stored !== undefined && { [STORED_CACHE_CONTROL]: stored }), ...PROTECTION };
}

/** There may be two relays on the way, the array's own and the portal's: the first sees the answer of S3 as it was. */
function storedCacheControl(headers: IncomingHttpHeaders): string | string[] | undefined {
  const isOfService = headers['content-security-policy'] !== undefined;
  return isOfService ? headers[STORED_CACHE_CONTROL] : headers['cache-control'];
}

function picked(headers: IncomingHttpHeaders, passes: (name: string) => boolean): Sent {
  const kept = Object.entries(headers).filter(([name, value]) => value !== undefined && passes(name));
  return Object.fromEntries(kept) as Sent;
}
