import { guardedPost } from '../net/post.ts';
import { connectionReason } from '../net/reason.ts';
import { signatureHeaders } from './signature.ts';

/** How an attempt ended. */
export interface Attempt {
  /** Of HTTP; null when no answer came. */
  readonly status: number | null;
  /** Null when the receiver accepted it. */
  readonly error: string | null;
}

interface SignedPost {
  readonly url: string;
  readonly secret: string;
  /** The same for each attempt at one delivery. */
  readonly delivery: string;
  /** What kind of event it is. */
  readonly event: string;
  /** JSON. */
  readonly body: string;
  readonly at: number;
  readonly signal: AbortSignal;
  /** Not to private networks. */
  readonly publicOnly?: boolean;
}

const POST_MS_MAX = 10_000;

/** Posts a delivery, signed. A failure is a result, not an error. */
export async function postSigned(post: SignedPost): Promise<Attempt> {
  const { url, secret, delivery, event, body, at, signal, publicOnly } = post;
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Granary-Webhook/1',
    'granary-delivery': delivery,
    'granary-event': event,
    ...signatureHeaders(secret, body, at),
  };
  try {
    const status = await guardedPost({ url: new URL(url), headers, body, timeoutMs: POST_MS_MAX, signal, publicOnly });
    const isAccepted = status >= 200 && status < 300;
    return { status, error: isAccepted ? null : `it answered HTTP ${status}` };
  } catch (error) {
    return { status: null, error: connectionReason(error) };
  }
}
