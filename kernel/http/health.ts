import { endpoint, fileReply, type Endpoint } from '@granary/contract';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Metrics } from '../metrics/metrics.ts';
import type { OperationTools } from './operation.ts';
import { DATA_PROTECTION } from './protection.ts';

interface HealthParts {
  readonly metrics: Metrics;
  /** Undefined when ready, else what is missing. */
  readonly notReady: () => string | undefined;
  readonly authenticate: OperationTools['authenticate'];
  readonly isMetricsToken: (token: string) => boolean;
}

/** The administrators of a portal, an array, object storage or a cloud. */
const WATCHERS = ['admin', 'objs_admin', 'cloud_admin'];
const METRICS: Endpoint = endpoint('GET', '/metrics', {
  summary: 'Figures for Prometheus',
  access: { roles: WATCHERS },
  reply: fileReply('text/plain'),
});
const PROXY_HEADERS = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip', 'via'];
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/** Liveness and readiness for the supervisor; metrics for Prometheus. */
export function serveHealth(app: FastifyInstance, parts: HealthParts): void {
  const { metrics, notReady } = parts;
  app.get('/healthz', (_, reply) => reply.headers(DATA_PROTECTION).send({ status: 'ok' }));
  app.get('/readyz', (_, reply) => {
    void reply.headers(DATA_PROTECTION);
    const missing = notReady();
    return missing === undefined
      ? { status: 'ready' }
      : reply.code(503).send({ status: 'not ready', message: missing });
  });
  app.get('/metrics', async (request, reply) => {
    void reply.headers(DATA_PROTECTION).header('cache-control', 'no-store');
    const refusal = await refusalOf(request, parts);
    if (refusal !== undefined) return reply.code(refusal).send({ status: 'error', message: 'Sign in to see figures.' });
    return reply.type(metrics.registry.contentType).send(await metrics.registry.metrics());
  });
}

/** Metrics reveal much. They are for programs on this machine, and elsewhere for those with the token and administrators. */
async function refusalOf(
  request: FastifyRequest,
  { authenticate, isMetricsToken }: HealthParts,
): Promise<number | undefined> {
  const { ip, socket } = request;
  if (LOOPBACK.test(ip) && !isPassedOn(request)) return undefined;
  const bearer = bearerOf(request);
  if (bearer !== undefined && isMetricsToken(bearer)) return undefined;
  try {
    const actor = await authenticate({ headers: withKey(request, bearer), params: {}, ip, socket, endpoint: METRICS });
    if (!actor) return 401;
    return WATCHERS.includes(actor.role) ? undefined : 403;
  } catch {
    return 401;
  }
}

/** A reverse proxy on this machine speaks for clients anywhere. */
function isPassedOn({ headers }: FastifyRequest): boolean {
  return PROXY_HEADERS.some((name) => headers[name] !== undefined);
}

function bearerOf({ headers }: FastifyRequest): string | undefined {
  return /^bearer ([^ ]+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Prometheus sends an administrator's key as `Authorization: Bearer`; our APIs have headers of their own. */
function withKey({ headers }: FastifyRequest, key: string | undefined): FastifyRequest['headers'] {
  if (key === undefined) return headers;
  const { authorization: _, ...others } = headers;
  return { ...others, 'x-token': key, 'x-access-key': key };
}
