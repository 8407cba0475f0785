import type { IncomingMessage } from 'node:http';
import { Agent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import type { KeyAndCertificate } from './certificate.ts';
import { tlsPolicy } from './policy.ts';

interface SecureFetchOptions {
  /** Trusted certificates, an authority's or any other of a chain; absent: the public authorities. */
  readonly trusted?: readonly string[] | undefined;
  /** Evaluated for each connection, because it is renewed. */
  readonly client?: (() => KeyAndCertificate) | undefined;
  /** The problem with a certificate that is trusted and matches the name. */
  readonly problemOf?: ((certificate: PeerCertificate) => Error | undefined) | undefined;
  /** The address of a host: looked up and checked by the caller. */
  readonly addressOf?: ((host: string) => Promise<string>) | undefined;
}

const CONNECTIONS_MAX = 16;

/** `fetch` over TLS with its own trust and a client certificate, which the platform's does not support. */
export function secureFetch(options: SecureFetchOptions): typeof fetch {
  const { problemOf } = options;
  const agent = new Agent({
    keepAlive: true,
    maxSockets: CONNECTIONS_MAX,
    scheduling: 'lifo',
    // Here, because the agent keeps no connection that a request checks by itself.
    checkServerIdentity: (host, certificate) => checkServerIdentity(host, certificate) ?? problemOf?.(certificate),
  });
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    if (url.protocol !== 'https:') throw new TypeError(`${url.protocol} is not encrypted`);
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    const response = await exchange(agent, { url, request, body, options });
    const { statusCode: status = 0 } = response;
    if (status >= 300 && status < 400 && request.redirect === 'error') {
      response.destroy();
      throw new TypeError('it redirects elsewhere');
    }
    return asResponse(response, status);
  };
}

interface Exchange {
  readonly url: URL;
  readonly request: Request;
  readonly body: Buffer | undefined;
  readonly options: SecureFetchOptions;
}

async function exchange(agent: Agent, { url, request, body, options }: Exchange): Promise<IncomingMessage> {
  const { trusted, client, addressOf } = options;
  const host = withoutBrackets(url.hostname);
  const address = addressOf ? withoutBrackets(await addressOf(host)) : host;
  const sent = httpsRequest({
    ...tlsPolicy,
    agent,
    host: address,
    port: url.port === '' ? 443 : Number(url.port),
    path: `${url.pathname}${url.search}`,
    method: request.method,
    headers: { ...Object.fromEntries(request.headers), host: url.host, ...(body && { 'content-length': body.length }) },
    // No name is sent for an address.
    servername: isIP(host) === 0 ? host : '',
    ...(trusted && { ca: [...trusted], allowPartialTrustChain: true }),
    ...client?.(),
    signal: request.signal,
  });
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    // Stays registered: errors after the response began are reported by the response itself.
    sent.on('error', reject);
    sent.end(body);
  });
}

async function asResponse(response: IncomingMessage, status: number): Promise<Response> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  const headers = Object.entries(response.headers).map(([name, value]): [string, string] => [name, String(value)]);
  const isBare = status === 204 || status === 304;
  return new Response(isBare ? null : Buffer.concat(chunks), { status, headers });
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}
