import type { IncomingMessage, RequestOptions } from 'node:http';
import { isIP } from 'node:net';
import { tlsPolicy } from '../tls/policy.ts';
import { http } from './http.ts';
import { outgoingAddress } from './outgoing.ts';

export interface PostRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Not to private networks. */
  readonly publicOnly?: boolean | undefined;
}

const https = process.getBuiltinModule('node:https');

/**
 * Posts to an address that a user chose, and resolves with the HTTP status; what is answered beyond it is not read. The
 * name is resolved once, checked, and connected to as it was checked: a name server cannot lead the connection
 * elsewhere in between, and neither can the receiver, because redirects are not followed.
 */
export async function guardedPost({ url, headers, body, timeoutMs, signal, publicOnly }: PostRequest): Promise<number> {
  const name = url.hostname.replace(/^\[|\]$/g, '');
  const address = (await outgoingAddress(url.hostname, { publicOnly })).replace(/^\[|\]$/g, '');
  const isTls = url.protocol === 'https:';
  const timeout = AbortSignal.timeout(timeoutMs);
  const options: RequestOptions = {
    agent: false,
    method: 'POST',
    host: address,
    port: url.port === '' ? (isTls ? 443 : 80) : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, host: url.host, 'content-length': Buffer.byteLength(body), connection: 'close' },
    signal: AbortSignal.any([timeout, signal]),
  };
  const sent = isTls
    ? https.request({ ...options, ...tlsPolicy, servername: isIP(name) === 0 ? name : '' })
    : http.request(options);
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      sent.once('response', resolve);
      // Stays attached: an error may follow when the connection is dropped.
      sent.on('error', reject);
      sent.end(body);
    });
    return response.statusCode ?? 0;
  } catch (error) {
    throw timeout.aborted ? new Error('it did not answer in time', { cause: error }) : error;
  } finally {
    sent.destroy();
  }
}
