import type { IncomingMessage, ServerResponse } from 'node:http';
import { response as envelope, type Endpoint, type Method } from '@granary/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { markSignedIn } from '../edge/index.ts';
import { fail, GranaryError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Actor, CredentialSource } from './types.ts';

/** What a route gets to answer itself: nothing of the request's body was read. */
export interface StreamExchange<A extends Actor> {
  readonly actor: A;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly ip: string;
}

/** Requests that are answered as they stream, outside the operations of the contract. */
export interface StreamRoute<A extends Actor> {
  /** Of the metrics. */
  readonly name: string;
  /** `/via/*` */
  readonly path: string;
  /** Also without anything behind it: the router takes `/s3/` for `/s3`. */
  readonly isRootServed?: true;
  /** Resolves when the response ended. A rejection is answered while the response has no head, and cuts it off later. */
  serve(exchange: StreamExchange<A>): Promise<void>;
  /** Answers with the error in the form its clients know. */
  refuse(error: GranaryError, exchange: Omit<StreamExchange<A>, 'actor'>): void;
}

interface StreamTools<A extends Actor> {
  readonly log: Log;
  readonly metrics: Metrics;
  readonly authenticate: (source: CredentialSource) => A | undefined | Promise<A | undefined>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Its body may take as long as it takes. */
    isStreamed?: true;
  }
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'];
/** What is left of a refused body is read, so that the client gets to the answer, but not without end. */
const DISCARDED = { bytesMax: 16 * 2 ** 20, msMax: 10_000 };
const DRAIN_MS_MAX = 2_000;

export function serveStreams<A extends Actor>(
  app: FastifyInstance,
  routes: readonly StreamRoute<A>[],
  tools: StreamTools<A>,
): void {
  const open = new Set<ServerResponse>();
  for (const route of routes) {
    const count = tools.metrics.counterOf(route.name);
    const roots = route.isRootServed ? [route.path.replace(/\/\*$/, '')] : [];
    for (const url of [route.path, ...roots]) {
      app.route({
        method: METHODS,
        url,
        config: { isStreamed: true },
        onRequest(request: FastifyRequest, reply: FastifyReply) {
          // From here on the framework reads nothing and answers nothing.
          reply.hijack();
          const startMs = performance.now();
          const { raw: response } = reply;
          open.add(response);
          response.once('close', () => {
            open.delete(response);
            count(response.statusCode, (performance.now() - startMs) / 1000);
          });
          response.on('error', () => undefined);
          void answer(route, { request: request.raw, response, ip: request.ip }, tools);
        },
        handler: () => undefined,
      });
    }
  }
  // Streams may have no end of their own.
  app.addHook('preClose', (done) => {
    setTimeout(() => {
      for (const response of open) response.destroy();
    }, DRAIN_MS_MAX).unref();
    done();
  });
}

async function answer<A extends Actor>(
  route: StreamRoute<A>,
  exchange: Omit<StreamExchange<A>, 'actor'>,
  { authenticate, log }: StreamTools<A>,
): Promise<void> {
  const { request, response, ip } = exchange;
  try {
    const { headers, socket } = request;
    const endpoint = endpointOf(request);
    const actor = await authenticate({ headers, params: {}, ip, socket, endpoint });
    if (!actor) throw fail('invalid_credentials');
    markSignedIn(socket);
    await route.serve({ ...exchange, actor });
  } catch (error) {
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    if (!(error instanceof GranaryError)) log.error({ error, route: route.name }, 'a request failed unexpectedly');
    discardBody(request);
    route.refuse(error instanceof GranaryError ? error : fail('internal', { request: route.name }), exchange);
  }
}

/** Those who authenticate look at what is called; this is no operation of the contract. */
function endpointOf({ method }: IncomingMessage): Endpoint {
  const called: Method = method === 'POST' || method === 'PUT' || method === 'DELETE' ? method : 'GET';
  const access = { roles: [] };
  return { method: called, path: '', summary: '', access, params: {}, reply: envelope({}), errors: [] };
}

function discardBody(request: IncomingMessage): void {
  if (request.complete) return;
  let bytes = 0;
  const drop = () => {
    if (!request.complete) request.socket.destroy();
  };
  const timer = setTimeout(drop, DISCARDED.msMax).unref();
  request.on('error', () => undefined);
  request.once('close', () => clearTimeout(timer));
  request.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > DISCARDED.bytesMax) drop();
  });
}
