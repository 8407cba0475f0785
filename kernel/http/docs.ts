import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Fastify from 'fastify';
import { DATA_PROTECTION, pageProtection } from './protection.ts';

/** A page shared by all clients, plain and compressed: a slow client holds no copy of its own. */
interface SharedPage {
  readonly status: number;
  readonly type: string;
  readonly location: string | undefined;
  readonly plain: Buffer;
  readonly packed: Buffer;
  readonly protection: Readonly<Record<string, string>>;
}

const compress = promisify(gzip);
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * The OpenAPI document at /api/openapi.json, and its pages at /api/docs. Both are created at the first request: the
 * pages take megabytes that most processes never need.
 */
export function serveDocs(app: FastifyInstance, title: string, makeDocument: () => Promise<object>): void {
  let text: Promise<string> | undefined;
  let document: Promise<SharedPage> | undefined;
  const documentText = () => (text ??= makeDocument().then((value) => JSON.stringify(value)));
  const pages = new DocumentPages(async () => buildPages(title, await documentText()));

  app.get('/api/openapi.json', async (request, reply) => {
    document ??= documentText().then((value) => sharedPage(Buffer.from(value), { type: JSON_TYPE }));
    return send(request, reply, await document);
  });
  for (const route of ['/api/docs', '/api/docs/*']) {
    app.get(route, async (request, reply) => {
      const page = await pages.find(request.url.split('?')[0] ?? '');
      if (page) return send(request, reply, page);
      reply.callNotFound();
      return reply;
    });
  }
}

/** Each page is built once and cached. There are a few; unknown paths are not cached. */
class DocumentPages {
  readonly #build: () => Promise<FastifyInstance>;
  readonly #kept = new Map<string, Promise<SharedPage | undefined>>();
  #app: Promise<FastifyInstance> | undefined;

  constructor(build: () => Promise<FastifyInstance>) {
    this.#build = build;
  }

  async find(path: string): Promise<SharedPage | undefined> {
    const kept = this.#kept.get(path) ?? this.#ask(path);
    this.#kept.set(path, kept);
    const page = await kept;
    if (!page) this.#kept.delete(path);
    return page;
  }

  async #ask(url: string): Promise<SharedPage | undefined> {
    this.#app ??= this.#build();
    const { statusCode, headers, rawPayload } = await (await this.#app).inject({ method: 'GET', url });
    if (statusCode >= 400) return undefined;
    const type = headers['content-type'] ?? 'text/html';
    return sharedPage(rawPayload, { status: statusCode, type, location: headers.location });
  }
}

interface PageHead {
  readonly status?: number;
  readonly type: string;
  readonly location?: string | undefined;
}

async function sharedPage(plain: Buffer, { status = 200, type, location }: PageHead): Promise<SharedPage> {
  const protection = type.startsWith('text/html') ? pageProtection(plain.toString()) : DATA_PROTECTION;
  return { status, type, location, plain, packed: await compress(plain), protection };
}

function send(request: FastifyRequest, reply: FastifyReply, page: SharedPage): FastifyReply {
  const takesGzip = /(?:^|[\s,])gzip(?!;\s*q=0)/i.test(request.headers['accept-encoding'] ?? '');
  if (page.location !== undefined) void reply.header('location', page.location);
  if (takesGzip) void reply.header('content-encoding', 'gzip');
  void reply.headers(page.protection).header('vary', 'accept-encoding');
  return reply
    .code(page.status)
    .type(page.type)
    .send(takesGzip ? page.packed : page.plain);
}

async function buildPages(title: string, document: string): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const pages = Fastify();
  await pages.register(scalar, {
    routePrefix: '/api/docs',
    configuration: {
      pageTitle: title,
      content: document,
      // The pages come from this server alone and send nothing anywhere else.
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
  await pages.ready();
  return pages;
}
