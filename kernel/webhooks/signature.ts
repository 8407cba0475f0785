import { createHmac } from 'node:crypto';

/**
 * What proves to a receiver that a delivery is ours and recent: HMAC-SHA256, with the webhook's secret, of the time, a
 * dot and the body. A receiver that refuses old times cannot be sent the same delivery again by others.
 */
export function signatureHeaders(secret: string, body: string, atMs: number): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const digest = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  return { 'granary-timestamp': timestamp, 'granary-signature': `v1=${digest}` };
}
