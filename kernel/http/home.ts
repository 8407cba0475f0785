import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

const STYLE = [
  'body{font:1rem/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color:#222;background:#fff}',
  'a{color:#0b5394}dt{margin-top:.8rem}dd{margin:0}',
].join('');
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Nothing but this page's own style may load, and no other page may frame it. */
const HEADERS = {
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
};

const LINKS: readonly (readonly [path: string, name: string, what: string])[] = [
  ['/api/docs/', 'API pages', 'every operation, with its parameters and replies; they can be tried there'],
  ['/api/openapi.json', 'OpenAPI document', 'the same, for programs'],
  ['/healthz', 'Health', 'whether the process runs'],
  ['/readyz', 'Readiness', 'whether it serves, or what is missing'],
];

/** A page for those who open the address in a browser: where the API is, and how to sign in. */
export function serveHome(app: FastifyInstance, { title, version }: { title: string; version: string }): void {
  const page = homePage(title, version);
  app.get('/', (_, reply) => reply.headers(HEADERS).type('text/html; charset=utf-8').send(page));
}

function homePage(title: string, version: string): Buffer {
  const links = LINKS.map(([path, name, what]) => `<dt><a href="${path}">${name}</a></dt><dd>${what}</dd>`);
  return Buffer.from(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)}</title><style>${STYLE}</style></head>
<body><h1>${escaped(title)}</h1>
<p>Version ${escaped(version)} of Granary answers here, to programs and to the command line: <code>granary --help</code>.</p>
<dl>
${links.join('\n')}
</dl></body></html>
`);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
