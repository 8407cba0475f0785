import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ASSET_PROTECTION } from './protection.ts';

/** What the build writes beside the files: `console/build.ts`. */
interface ConsoleManifest {
  /** The page, with places for what differs from service to service and from request to request. */
  readonly page: string;
  /** Files below `/assets/`, by name. Each has a `.gz` and a `.br` beside it. */
  readonly assets: Readonly<Record<string, { readonly type: string }>>;
}

export interface ConsoleOptions {
  /** Where the built console is. */
  readonly folder: string;
  /** Which console: `portal`, `array` or `objects`. */
  readonly service: string;
  readonly version: string;
  readonly notFound: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** Below these paths the service itself answers, or says that there is nothing. */
const NOT_PAGES = ['/api', '/via', '/s3', '/assets', '/metrics', '/healthz', '/readyz'];
const A_YEAR = 31_536_000;

/**
 * The web console: files with their contents' hash in their name, and one page that every other path leads to, so that
 * an address below it can be opened and reloaded. Files are read when they are asked for and kept nowhere.
 */
export function serveConsole(app: FastifyInstance, { folder, service, version, notFound }: ConsoleOptions): void {
  const { page, assets } = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as ConsoleManifest;
  const named = page.replaceAll('{{service}}', service).replaceAll('{{version}}', version);

  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const { name } = request.params;
    const asset = Object.hasOwn(assets, name) ? assets[name] : undefined;
    const { encoding, suffix } = encodingFor(request);
    // A newer build may have removed a file that this process still lists.
    const file = asset && (await open(join(folder, 'assets', `${name}${suffix}`)).catch(() => undefined));
    if (!file) {
      notFound(request, reply);
      return reply;
    }
    void reply.headers({
      'cache-control': `public, max-age=${A_YEAR}, immutable`,
      ...ASSET_PROTECTION,
      vary: 'accept-encoding',
      ...(encoding && { 'content-encoding': encoding }),
    });
    return reply.type(asset.type).send(file.createReadStream());
  });

  app.route({
    method: 'GET',
    url: '/*',
    onRequest(request, reply, proceed) {
      if (isPage(request)) proceed();
      else notFound(request, reply);
    },
    handler(_, reply) {
      const nonce = randomBytes(16).toString('base64');
      return reply
        .headers(pageHeaders(nonce))
        .type('text/html; charset=utf-8')
        .send(named.replaceAll('{{nonce}}', nonce));
    },
  });
}

/** Whether a browser asks for something to show. Programs that ask for an unknown path get an error as ever. */
function isPage({ url, headers }: FastifyRequest): boolean {
  const path = url.split('?')[0] ?? '/';
  if (path === '/') return true;
  const isElsewhere = NOT_PAGES.some((prefix) => path === prefix || path.startsWith(`${prefix}/`));
  return !isElsewhere && (headers.accept ?? '').includes('text/html');
}

function encodingFor({ headers }: FastifyRequest): { encoding: string | undefined; suffix: string } {
  const accepted = headers['accept-encoding'] ?? '';
  if (/\bbr\b/.test(accepted)) return { encoding: 'br', suffix: '.br' };
  if (/\bgzip\b/.test(accepted)) return { encoding: 'gzip', suffix: '.gz' };
  return { encoding: undefined, suffix: '' };
}

/** Scripts, data and pictures come from this origin alone; style elements carry the nonce of their page. */
function pageHeaders(nonce: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  return {
    'content-security-policy': policy.join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'cache-control': 'no-cache',
  };
}
