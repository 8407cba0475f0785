import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { Agent, request as httpsRequest, type AgentOptions } from 'node:https';
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

export interface OutgoingHead {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | number | readonly string[]>>;
  readonly signal: AbortSignal;
  /** As it is sent: nothing in it is normalised. */
  readonly path: string;
  /** On a connection of its own: one that was kept may end at any moment, and a streamed body is not sent twice. */
  readonly isFresh?: boolean;
}

/** Starts a request to the origin; its body and its answer are streams. */
export type StartRequest = (origin: URL, head: OutgoingHead) => Promise<ClientRequest>;

/** Requests over TLS with a trust of their own and a client certificate. */
export function secureRequests(options: SecureFetchOptions, connectionsMax = CONNECTIONS_MAX): StartRequest {
  const { trusted, client, addressOf, problemOf } = options;
  const common: AgentOptions = {
    maxSockets: connectionsMax,
    scheduling: 'lifo',
    // Here, because the agent keeps no connection that a request checks by itself.
    checkServerIdentity: (host, certificate) => checkServerIdentity(host, certificate) ?? problemOf?.(certificate),
  };
  const kept = new Agent({ ...common, keepAlive: true });
  const fresh = new Agent(common);
  return async (url, { method, headers, signal, path, isFresh = false }) => {
    if (url.protocol !== 'https:') throw new TypeError(`${url.protocol} is not encrypted`);
    const host = withoutBrackets(url.hostname);
    const address = addressOf ? withoutBrackets(await addressOf(host)) : host;
    return httpsRequest({
      ...tlsPolicy,
      agent: isFresh ? fresh : kept,
      host: address,
      port: url.port === '' ? 443 : Number(url.port),
      path,
      method,
      headers: { ...headers, host: url.host } as OutgoingHttpHeaders,
      // No name is sent for an address.
      servername: isIP(host) === 0 ? host : '',
      ...(trusted && { ca: [...trusted], allowPartialTrustChain: true }),
      ...client?.(),
      signal,
    });
  };
}

/** `fetch` over TLS with its own trust and a client certificate, which the platform's does not support. */
export function secureFetch(options: SecureFetchOptions): typeof fetch {
  const start = secureRequests(options);
  return async (input, init) => {
    const request = new Request(input, init);
    const url = new URL(request.url);
    const body = request.body === null ? undefined : Buffer.from(await request.arrayBuffer());
    const { method, signal } = request;
    const headers = { ...Object.fromEntries(request.headers), ...(body && { 'content-length': body.length }) };
    const response = await answerOf(
      await start(url, { method, headers, signal, path: `${url.pathname}${url.search}` }),
      body,
    );
    const { statusCode: status = 0 } = response;
    if (status >= 300 && status < 400 && request.redirect === 'error') {
      response.destroy();
      throw new TypeError('it redirects elsewhere');
    }
    return asResponse(response, status);
  };
}

function answerOf(sent: ClientRequest, body: Buffer | undefined): Promise<IncomingMessage> {
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
