import type { RequestListener, Server, ServerOptions } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { http } from '../net/http.ts';
import { serverTlsOptions } from '../tls/policy.ts';
import type { TlsSource } from '../tls/source.ts';

/** A server with or without TLS; with TLS it presents a renewed certificate from the next connection on. */
export function createHttpServer(tls: TlsSource | undefined, options: ServerOptions, handler: RequestListener): Server {
  if (!tls) return http.createServer(options, handler);
  const server = createHttpsServer({ ...options, ...serverTlsOptions(tls.current) }, handler);
  const unsubscribe = tls.subscribe(() => server.setSecureContext(serverTlsOptions(tls.current)));
  server.once('close', unsubscribe);
  return server;
}
