import { STATUS_CODES, type OutgoingHttpHeaders } from 'node:http';
import { xmlEscaper } from '@granary/kernel/xml';
import { ObjectError, type ObjectErrorCode } from '@granary/storage/object-store';

/** The client went away before it had sent or received everything. Never sent: it stands in the records only. */
export const CLIENT_GONE = 499;

/** A request that is answered with an error. */
export class SwiftRefusal extends Error {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;

  constructor(status: number, message: string, headers: OutgoingHttpHeaders = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
  }
}

/** Where Swift says something else than HTTP has since come to say; clients and reports show it. */
const REASONS: Readonly<Record<number, string>> = {
  [CLIENT_GONE]: 'Client Disconnect',
  413: 'Request Entity Too Large',
  416: 'Requested Range Not Satisfiable',
  500: 'Internal Error',
};

export function statusText(status: number): string {
  return REASONS[status] ?? STATUS_CODES[status] ?? 'Error';
}

/** What bulk operations say of one of their entries: `404 Not Found`. */
export function statusLine(status: number): string {
  return `${status} ${statusText(status)}`;
}

const STORE_ERRORS: Readonly<Record<ObjectErrorCode, readonly [status: number, message: string]>> = {
  'no-such-bucket': [404, 'The container could not be found.'],
  'bucket-exists': [409, 'The container is there already.'],
  'bucket-not-empty': [409, 'There was a conflict: the container is not empty.'],
  'no-such-key': [404, 'The object could not be found.'],
  'no-such-version': [404, 'The version could not be found.'],
  'no-such-upload': [404, 'The upload could not be found.'],
  'invalid-part': [400, 'A part is not valid.'],
  'invalid-part-order': [400, 'Parts are out of order.'],
  'part-too-small': [400, 'A part is too small.'],
  'precondition-failed': [412, 'A precondition of the request does not hold.'],
  'object-locked': [403, 'The object is under retention or legal hold.'],
  'invalid-state': [409, 'The state of the container does not allow this.'],
  moved: [503, 'The source was moved to another storage policy meanwhile. Please try again.'],
  'no-such-policy': [400, 'There is no such storage policy.'],
  'encryption-locked': [503, 'The data is encrypted and locked until the operator restores the encryption password.'],
  sealed: [409, 'The object is encrypted with a key of its client: read it over S3 with that key.'],
  'no-quorum': [503, 'Too few drives answer. Please try again.'],
  'no-space': [507, 'There is no space left.'],
  unreadable: [503, 'The object cannot be read at the moment.'],
  'account-gone': [404, 'The account is gone.'],
  'incomplete-body': [400, 'The body has not the length that was announced.'],
  'too-large': [413, 'The object is too large.'],
  closed: [503, 'The service is stopping. Please try again.'],
};

/** What a thrown error says to the client; undefined for those that are our own fault. */
export function refusalOf(error: unknown): SwiftRefusal | undefined {
  if (error instanceof SwiftRefusal) return error;
  if (!(error instanceof ObjectError)) return undefined;
  const [status, message] = STORE_ERRORS[error.code];
  return new SwiftRefusal(status, message, status === 503 ? { 'retry-after': '5' } : {});
}

/** Store errors that are logged although the client got a proper reply. */
export function isOurFault(error: unknown): boolean {
  return error instanceof ObjectError && (error.code === 'unreadable' || error.code === 'no-quorum');
}

export const escapeMarkup = xmlEscaper(/[&<>"']/, () => '&#39;');

/** What was wrong with a request is said in plain text, what became of it in a page. */
const PLAIN: ReadonlySet<number> = new Set([400, 411, 412, 413, 422]);

/** The body of an error and its type, as Swift has them. */
export function refusalDocument(refusal: SwiftRefusal): { readonly type: string; readonly body: string } {
  if (PLAIN.has(refusal.status)) return { type: 'text/plain; charset=UTF-8', body: refusal.message };
  const body = `<html><h1>${statusText(refusal.status)}</h1><p>${escapeMarkup(refusal.message)}</p></html>`;
  return { type: 'text/html; charset=UTF-8', body };
}
