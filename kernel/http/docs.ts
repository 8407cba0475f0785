import type { FastifyInstance } from 'fastify';
import Fastify from 'fastify';

/**
 * The OpenAPI document at /api/openapi.json, pages to browse it at /api/docs. Both are made when first asked for:
 * the pages are megabytes that most processes never show.
 */
export function serveDocs(app: FastifyInstance, title: string, makeDocument: () => Promise<object>): void {
  let document: Promise<string> | undefined;
  let pages: Promise<FastifyInstance> | undefined;
  const text = () => (document ??= makeDocument().then((value) => JSON.stringify(value)));

  app.get('/api/openapi.json', async (_, reply) => reply.type('application/json; charset=utf-8').send(await text()));

  const page = async (url: string) => {
    pages ??= text().then((document) => buildPages(title, document));
    return (await pages).inject({ method: 'GET', url });
  };
  for (const route of ['/api/docs', '/api/docs/*']) {
    app.get(route, async (request, reply) => {
      const { statusCode, headers, rawPayload } = await page(request.url);
      if (statusCode === 404) {
        reply.callNotFound();
        return reply;
      }
      const type = headers['content-type'] ?? 'text/html';
      if (headers.location !== undefined) void reply.header('location', headers.location);
      return reply.code(statusCode).type(type).send(rawPayload);
    });
  }
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
