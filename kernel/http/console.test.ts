import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import Fastify, { type FastifyInstance } from 'fastify';
import { temporaryFolder } from '../../testing/folders.ts';
import { createLog } from '../log.ts';
import { Metrics } from '../metrics/metrics.ts';
import { serveConsole } from './console.ts';
import { serveStreams } from './streams.ts';

function served(t: TestContext): FastifyInstance {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'assets'));
  for (const suffix of ['', '.gz', '.br']) writeFileSync(join(folder, 'assets', `app-1.js${suffix}`), `file${suffix}`);
  writeFileSync(join(folder, 'secret.txt'), 'not for anybody');
  const script = { type: 'text/javascript; charset=utf-8' };
  const assets = { 'app-1.js': script, 'removed-1.js': script };
  const page = '<meta content="{{service}} {{version}} {{nonce}}">';
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ page, assets }));
  const app = Fastify({ routerOptions: { ignoreTrailingSlash: true } });
  t.after(() => app.close());
  serveConsole(app, {
    folder,
    service: 'portal',
    version: '1.2.3',
    notFound: (_, reply) => void reply.code(404).send('no'),
  });
  return app;
}

const html = { accept: 'text/html,application/xhtml+xml' };

test('every address that a browser opens leads to the page, with a nonce of its own', async (t) => {
  const app = served(t);
  const nonces = new Set<string>();
  for (const url of ['/', '/arrays/7/block/volumes?q=a', '/apiary']) {
    const { statusCode, body, headers } = await app.inject({ url, headers: html });
    assert.equal(statusCode, 200, url);
    const nonce = /portal 1\.2\.3 (\S+)"/.exec(body)?.[1] ?? '';
    assert.ok(String(headers['content-security-policy']).includes(`'nonce-${nonce}'`));
    nonces.add(nonce);
  }
  assert.equal(nonces.size, 3);
});

test('what belongs to the service is never answered by the page, nor are programs', async (t) => {
  const app = served(t);
  for (const url of ['/api/nothing', '/api', '/via/7/x', '/s3/b/k', '/metrics', '/assets/none.js'])
    assert.equal((await app.inject({ url, headers: html })).statusCode, 404, url);
  assert.equal((await app.inject({ url: '/arrays', headers: { accept: 'application/json' } })).statusCode, 404);
});

test('what streams is reached at its root, too, not only below it', async (t) => {
  const app = served(t);
  const streams = {
    name: 's3',
    path: '/s3/*',
    isRootServed: true as const,
    serve({ response }: { response: { end: (text: string) => void } }) {
      response.end('streamed');
      return Promise.resolve();
    },
    refuse: () => undefined,
  };
  const authenticate = () => ({ id: 'user:1', role: 'admin', username: 'ann' });
  serveStreams(app, [streams], { log: createLog('test', 'silent'), metrics: new Metrics('portal'), authenticate });
  for (const url of ['/s3', '/s3/', '/s3/?max-buckets=1', '/s3/bucket/key']) {
    assert.equal((await app.inject({ url, headers: html })).body, 'streamed', url);
  }
  assert.equal((await app.inject({ url: '/s3x', headers: { accept: 'application/json' } })).statusCode, 404);
});

test('only listed files are sent, packed as the browser takes them, for good', async (t) => {
  const app = served(t);
  const packed = await app.inject({ url: '/assets/app-1.js', headers: { 'accept-encoding': 'gzip, br' } });
  assert.deepEqual([packed.body, packed.headers['content-encoding']], ['file.br', 'br']);
  assert.match(String(packed.headers['cache-control']), /immutable/);
  assert.equal(packed.headers['content-type'], 'text/javascript; charset=utf-8');
  assert.equal((await app.inject({ url: '/assets/app-1.js', headers: { 'accept-encoding': 'gzip' } })).body, 'file.gz');
  assert.equal((await app.inject({ url: '/assets/app-1.js' })).body, 'file');
  for (const url of ['/assets/..%2fsecret.txt', '/assets/../secret.txt', '/assets/constructor', '/secret.txt'])
    assert.equal((await app.inject({ url })).statusCode, 404, url);
});

test('a listed file that is gone is not found, and no cache keeps that', async (t) => {
  const { statusCode, headers } = await served(t).inject({ url: '/assets/removed-1.js' });
  assert.equal(statusCode, 404);
  assert.doesNotMatch(String(headers['cache-control']), /immutable/);
});

test('the page runs scripts of its own origin alone, and no other page may frame it', async (t) => {
  const { headers } = await served(t).inject({ url: '/', headers: html });
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /default-src 'none'; script-src 'self';/);
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
  assert.equal(headers['x-content-type-options'], 'nosniff');
});
