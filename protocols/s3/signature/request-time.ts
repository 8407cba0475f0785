import type { IncomingHttpHeaders } from 'node:http';
import { S3Error } from '../errors.ts';
import { readTime, writeTime } from './credential.ts';

const SKEW_MS_MAX = 15 * 60 * 1000;
/** How long a signed address may be good for. */
export const EXPIRES_SECONDS_MAX = 604800;

export function readRequestTime(headers: IncomingHttpHeaders): { timestamp: string; time: number } {
  const given = headers['x-amz-date'];
  if (typeof given === 'string') {
    const time = readTime(given);
    if (time !== undefined) return { timestamp: given, time };
  } else if (headers.date !== undefined) {
    const time = readTime(headers.date) ?? Date.parse(headers.date);
    if (!Number.isNaN(time)) return { timestamp: writeTime(time), time };
  }
  throw noTime();
}

/** Signature V2 signs the text of a date, in whichever of HTTP's forms it is written. */
export function readOldRequestTime(headers: IncomingHttpHeaders): number {
  const given = headers['x-amz-date'] ?? headers.date;
  const text = typeof given === 'string' ? given.trim() : '';
  // HTTP's dates are of Greenwich, even in the form that does not say so.
  const zoned = /(?:GMT|UTC|Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text} GMT`;
  const time = readTime(text) ?? Date.parse(zoned);
  if (!(time >= 0)) throw noTime();
  return time;
}

function noTime(): S3Error {
  return new S3Error('AccessDenied', 'A signed request needs a valid x-amz-date or Date header.');
}

export function checkSkew(time: number, now: number): void {
  if (Math.abs(time - now) <= SKEW_MS_MAX) return;
  throw new S3Error('RequestTimeTooSkewed', undefined, {
    RequestTime: new Date(time).toISOString(),
    ServerTime: new Date(now).toISOString(),
    MaxAllowedSkewMilliseconds: String(SKEW_MS_MAX),
  });
}

/** A request of `time` that is good for some seconds. */
export function checkExpiry(time: number, seconds: number, now: number): void {
  if (time - now > SKEW_MS_MAX) throw new S3Error('AccessDenied', 'The request is not valid yet.');
  checkNotExpired(time + seconds * 1000, now);
}

/** An address of Signature V2 says when it ends, not when it was made. */
export function checkOldExpiry(text: string, now: number): void {
  const until = /^\d{1,10}$/.test(text) ? Number(text) * 1000 : Number.NaN;
  if (Number.isNaN(until)) throw new S3Error('AccessDenied', 'Expires must be a time in seconds since 1970.');
  checkNotExpired(until, now);
  if (until <= now + EXPIRES_SECONDS_MAX * 1000 + SKEW_MS_MAX) return;
  throw new S3Error('AccessDenied', `Expires must be at most ${EXPIRES_SECONDS_MAX} seconds from now.`);
}

function checkNotExpired(until: number, now: number): void {
  if (now <= until) return;
  throw new S3Error('AccessDenied', 'Request has expired', {
    Expires: new Date(until).toISOString(),
    ServerTime: new Date(now).toISOString(),
  });
}
