import { csrfHeaders } from './token.ts';
import { exchange, type Answer } from '@granary/client/call';
import type { AnyInput, Op } from './operations.ts';
import { attendance } from './presence.ts';
import { isSessionOver } from './session-over.ts';

/** Where calls of an API go: under this origin, at the service itself or on the way through the portal. */
export interface Place {
  /** `''` for the service this page came from, `/via/7` for an array behind the portal. */
  readonly base: string;
}

export interface SendOptions {
  /** Ask for the secrets of the record, too. The service records that they were looked at. */
  readonly reveal?: boolean;
  readonly timeoutMs?: number;
}

const LONG_MS = 120_000;

const onSignedOut = new Set<() => void>();

export { csrfHeaders, setCsrfToken } from './token.ts';

/** Called when the service says that the session is over. */
export function whenSignedOut(listener: () => void): () => void {
  onSignedOut.add(listener);
  return () => onSignedOut.delete(listener);
}

export function announceSignedOut(): void {
  for (const listener of onSignedOut) listener();
}

/** Sends one operation with the session of this browser. */
export async function send(op: Op, place: Place, input: AnyInput, options: SendOptions = {}): Promise<Answer> {
  const isReading = op.endpoint.method === 'GET';
  const headers = {
    ...csrfHeaders(),
    ...(isReading && attendance()),
    ...(options.reveal && { 'x-reveal-secrets': '1' }),
  };
  const url = `${location.origin}${place.base}`;
  const connection = { url, headers, timeoutMs: options.timeoutMs ?? LONG_MS, fetch: sameOriginFetch };
  try {
    return await exchange(op.api, op.endpoint, connection, input);
  } catch (error) {
    // Through the portal, what an array refuses is not about this session.
    if (place.base === '' && (await isSessionOver(error, op.api, connection))) announceSignedOut();
    throw error;
  }
}

const sameOriginFetch: typeof fetch = (input, init) => fetch(input, { ...init, credentials: 'same-origin' });
