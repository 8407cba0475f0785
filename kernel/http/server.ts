import type { IncomingMessage } from 'node:http';
import { operations, type Api, type Endpoint } from '@granary/contract';
import Fastify, {
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerOptions,
} from 'fastify';
import type { Vault } from '../auth/vault.ts';
import type { Clock } from '../clock.ts';
import { fail, GranaryError } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Measure } from '../metrics/measure.ts';
import { Metrics } from '../metrics/metrics.ts';
import { MetricsToken } from '../metrics/token.ts';
import { dropUnread, limitConnections } from '../edge/index.ts';
import { hasBody } from '../relay/relay.ts';
import type { Store } from '../store/index.ts';
import type { TlsSource } from '../tls/source.ts';
import { acceptBodies, acceptOctets, type Raw } from './body.ts';
import type { ChangeFeed } from './change-feed.ts';
import { serveDocs } from './docs.ts';
import { errorAnswer } from './envelope.ts';
import { parseQuery } from './form.ts';
import { formatOf, readAddress } from './format.ts';
import { createHttpServer } from './http-server.ts';
import { serveHealth } from './health.ts';
import { serveConsole } from './console.ts';
import { serveHome } from './home.ts';
import { Idempotency } from './idempotency.ts';
import { HTTP_DEADLINES, httpConnectionLimits, UNREAD_MS_MAX } from './listeners.ts';
import { serveStreams, type StreamRoute } from './streams.ts';
import { sendAnswer, ServedOperation, type AnyHandler, type OperationTools } from './operation.ts';
import type { Actor, AnsweredCall, CredentialSource, Handlers } from './types.ts';

const REQUEST_TIMEOUT_MS = 120_000;
const PATH_PARAM_LENGTH_MAX = 1024;

/** A second API at the same addresses, for our own programs: it accepts octets, and has no documentation pages. */
export interface InnerApi {
  readonly api: Api;
  readonly handlers: object;
  readonly authenticate: OperationTools['authenticate'];
}

/** Checks handlers against their API. */
export function innerApi<P extends Api, A extends Actor>(
  api: P,
  handlers: Handlers<P, A>,
  authenticate: (source: CredentialSource) => A | undefined,
): InnerApi {
  return { api, handlers, authenticate };
}

export interface ApiServerOptions<P extends Api, A extends Actor> {
  readonly api: P;
  readonly handlers: Handlers<P, A>;
  readonly authenticate: (source: CredentialSource) => A | undefined | Promise<A | undefined>;
  /** Throws when the caller's role may call, but the caller may not change the object that the parameters name. */
  readonly authorise?: (actor: A, endpoint: Endpoint, input: Raw) => void;
  /** Whether the key may be a parameter of the body. Otherwise a body is read only after authentication. */
  readonly credentialsInBody?: boolean;
  readonly inner?: readonly InnerApi[];
  /** Requests that are passed on as they stream. */
  readonly streams?: readonly StreamRoute<A>[];
  /** Records that somebody had secrets shown; needed where callers may have sessions. */
  readonly onReveal?: (actor: A, what: string) => Promise<void>;
  readonly store: Store;
  readonly vault: Vault;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: string;
  /** Undefined when ready, else what is missing. */
  readonly notReady?: () => string | undefined;
  readonly tls?: TlsSource | undefined;
  /** Told of every operation that changed something, and closed before the server stops. */
  readonly changes?: ChangeFeed;
  /** Called for every request after its reply was sent. Must not throw. */
  readonly onAnswered?: (call: AnsweredCall) => void;
  /** The message of an error with what only the service knows, such as the names of what it is about. */
  readonly messageOf?: (error: GranaryError) => string;
  /** The folder of the built web console; without one, the address leads to a page of links. */
  readonly console?: string | undefined;
  /** Metrics of the service, besides those of every API. */
  readonly measures?: readonly Measure[];
}

type Refusal = (error: Error, request: FastifyRequest, reply: FastifyReply) => void;

/** An HTTP server for one API of the contract. */
export async function createApiServer<P extends Api, A extends Actor>(
  options: ApiServerOptions<P, A>,
): Promise<FastifyInstance> {
  const { api, log, inner = [] } = options;
  const metrics = metricsOf(options);
  const refuse = refusalOf(api, log, metrics);
  const notFound = unknownPath(refuse);
  const { streams = [] } = options;
  // Node knows one time for all bodies; where some are streamed, the others are timed here.
  const app = newFastify(options.tls, refuse, streams.length > 0 ? 0 : REQUEST_TIMEOUT_MS);
  if (streams.length > 0) app.addHook('onRequest', limitBodyTime);
  limitConnections(app.server, httpConnectionLimits({ log }));
  dropUnread(app.server, UNREAD_MS_MAX);
  app.addHttpMethod('GET', { hasBody: true, overrideExisting: true });
  app.addHttpMethod('DELETE', { hasBody: true, overrideExisting: true });
  acceptBodies(app);

  const idempotency = new Idempotency(options.store, options.vault, options.clock);
  const common = { log, metrics, idempotency, whenDurable: () => options.store.whenDurable() };
  const { authenticate, credentialsInBody, changes, onAnswered, messageOf } = options;
  const onChanged = changes && ((group: string) => changes.publish(group));
  app.addHook('preClose', (done) => {
    changes?.close();
    done();
  });
  const authorise = options.authorise as OperationTools['authorise'];
  const onReveal = options.onReveal as OperationTools['onReveal'];
  const hooks = { onChanged, onReveal, onAnswered, messageOf };
  const tools = { ...common, ...hooks, api, authenticate, authorise, credentialsInBody };
  serveOperations(app, options.handlers, tools);
  app.register((scope, _, done) => {
    if (inner.length > 0) acceptOctets(scope);
    for (const { api, handlers, authenticate } of inner)
      serveOperations(scope, handlers, { ...common, api, authenticate });
    done();
  });
  serveStreams(app, streams, { log, metrics, authenticate: options.authenticate });
  const { console: folder, version } = options;
  if (folder === undefined) serveHome(app, { title: api.title, version });
  else serveConsole(app, { folder, service: api.name, version, notFound });
  serveDocs(app, api.title, async () => {
    const { openApiDocument } = await import('@granary/contract/openapi');
    return openApiDocument(api, { version: options.version });
  });
  const metricsToken = new MetricsToken(options);
  const isMetricsToken = (token: string) => metricsToken.isToken(token);
  serveHealth(app, { metrics, notReady: options.notReady ?? (() => undefined), authenticate, isMetricsToken });
  app.setErrorHandler(refuse);
  // The body of such a request is not read: the hook answers first.
  app.setNotFoundHandler(notFound);
  app.addHook('onRequest', (request, reply, proceed) => {
    if (request.is404) notFound(request, reply);
    else proceed();
  });
  await app.after();
  return app;
}

interface MetricsParts {
  readonly api: Api;
  readonly log: Log;
  readonly store: Store;
  readonly measures?: readonly Measure[];
}

function metricsOf({ api, log, store, measures = [] }: MetricsParts): Metrics {
  const onError = (error: unknown, name: string) => log.error({ error, metric: name }, 'a metric could not be read');
  const metrics = new Metrics(api.name, { onError });
  const diskFull: Measure = {
    name: 'granary_disk_full',
    help: '1 while the service refuses changes because its disk is full',
    type: 'gauge',
    read: () => [{ labels: {}, value: Number(store.isDiskFull) }],
  };
  for (const measure of [diskFull, ...measures]) metrics.add(measure);
  return metrics;
}

type Answer404 = (request: FastifyRequest, reply: FastifyReply) => void;

function unknownPath(refuse: Refusal): Answer404 {
  return (request, reply) => {
    const path = request.url.split('?')[0] ?? '';
    refuse(fail('unknown_path', { method: request.method, path: path.slice(0, 200) }), request, reply);
  };
}

function serveOperations(app: FastifyInstance, handlers: object, tools: OperationTools): void {
  for (const operation of operations(tools.api)) {
    const served = new ServedOperation(operation, handlerOf(handlers, operation.group, operation.name), tools);
    app.route({
      method: operation.endpoint.method,
      url: served.route,
      config: { body: served.body },
      onRequest(request, reply, proceed) {
        served.begin(request, reply, proceed);
      },
      handler(request) {
        served.handle(request);
      },
    });
  }
}

function limitBodyTime({ raw, routeOptions }: FastifyRequest, _: FastifyReply, proceed: () => void): void {
  if (!raw.complete && routeOptions.config.isStreamed !== true && hasBody(raw)) {
    const timer = setTimeout(() => {
      if (!raw.complete) raw.destroy();
    }, REQUEST_TIMEOUT_MS).unref();
    raw.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
  }
  proceed();
}

function newFastify(tls: TlsSource | undefined, refuse: Refusal, requestTimeout: number): FastifyInstance {
  const options = {
    logger: false,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle' as const,
    return503OnClosing: true,
    requestTimeout,
    frameworkErrors: refuse,
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: PATH_PARAM_LENGTH_MAX, querystringParser: parseQuery },
    http: HTTP_DEADLINES,
    rewriteUrl(request: IncomingMessage) {
      const { url, format } = readAddress(request.url ?? '/');
      request.format = format;
      return url;
    },
  };
  if (!tls) return Fastify(options as FastifyServerOptions);
  const deadlines = { requestTimeout, ...HTTP_DEADLINES };
  const serverFactory: FastifyServerOptions['serverFactory'] = (handler) => createHttpServer(tls, deadlines, handler);
  return Fastify({ ...options, serverFactory } as FastifyServerOptions);
}

/** Operations parse and serialise by the contract. Loading Fastify's own compilers would take megabytes. */
function noSchemas(): never {
  throw new Error('Routes have no schemas of their own.');
}

function handlerOf(handlers: object, group: string, name: string): AnyHandler | undefined {
  return (handlers as Record<string, Record<string, AnyHandler> | undefined>)[group]?.[name];
}

/** Answers requests that reach no operation: an unknown path, a body that cannot be read. */
function refusalOf(api: Api, log: Log, metrics: Metrics): Refusal {
  const count = metrics.counterOf('none');
  const root = api.dialect === 'portal' ? 'hash' : 'response';
  return (error, request, reply) => {
    const format = formatOf(request);
    const answer = errorAnswer(api, readingError(error, request, log), format, root);
    count(answer.status, 0);
    sendAnswer(reply, answer, format);
  };
}

function readingError(error: Error, request: FastifyRequest, log: Log): GranaryError {
  if (error instanceof GranaryError) return error;
  const { statusCode = 500, message } = error as FastifyError;
  if (statusCode === 413) return fail('too_large', { limit: 'this interface takes' });
  if (statusCode === 415) return fail('unsupported_content', { type: request.headers['content-type'] ?? '(none)' });
  if (statusCode < 500) {
    const problem = `The request could not be read: ${message}`;
    return new GranaryError('bad_parameter', problem, { problems: [{ field: 'request', message }] });
  }
  log.error({ error, request: request.id }, 'a request could not be read');
  return fail('internal', { request: request.id });
}
