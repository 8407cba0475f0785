import { connectionReason } from '@granary/kernel';
import { BrokenManifestError } from '@granary/protocols/objects';
import { RemoteRefusal } from '@granary/protocols/s3/client';
import { ObjectError } from '@granary/storage/object-store';
import type { ReplicationOutcome } from './order.ts';

/** Answers about the object itself: bad, too long, too large, not offered. */
const ABOUT_THE_OBJECT = new Set([400, 405, 411, 413, 414, 416, 431, 501]);
/** What S3 says with the same statuses of who asks, or of the way there. */
const ABOUT_THE_CALLER = new Set([
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'IncompleteBody',
  'InvalidAccessKeyId',
  'InvalidToken',
  'RequestTimeout',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
]);

/** What became of a change whose sending failed. */
export function failedOutcome(error: unknown): ReplicationOutcome {
  if (error instanceof ObjectError) {
    const isGone = error.code === 'no-such-version' || error.code === 'no-such-key';
    return isGone ? { kind: 'gone' } : { kind: 'unreadable', reason: error.message };
  }
  if (error instanceof BrokenManifestError) return { kind: 'refused', reason: error.message };
  if (!(error instanceof RemoteRefusal)) return { kind: notSendable(error), reason: connectionReason(error) };
  const { status, code, message: reason } = error;
  if (ABOUT_THE_CALLER.has(code)) return { kind: 'unreachable', reason };
  if (status === 403 || status === 404) return { kind: 'closed', reason };
  return { kind: ABOUT_THE_OBJECT.has(status) ? 'refused' : 'unreachable', reason };
}

/** Names and values that no header can have are known before anything is sent. */
function notSendable(error: unknown): 'refused' | 'unreachable' {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === 'ERR_INVALID_HTTP_TOKEN' || code === 'ERR_INVALID_CHAR' ? 'refused' : 'unreachable';
}
