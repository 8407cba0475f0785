import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import { operations, type Api } from '@granary/contract';
import { arrayApi } from '@granary/contract/array';
import { cloudApi } from '@granary/contract/cloud';
import { objectsApi } from '@granary/contract/objects';
import { portalApi } from '@granary/contract/portal';
import type { FastifyInstance } from 'fastify';
import { Vault } from '../auth/vault.ts';
import { ManualClock } from '../clock.ts';
import { assertBrief } from '../edge/testing/blocking.ts';
import { createLog } from '../log.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { createApiServer, Listeners } from './index.ts';
import { serve } from './testing/server.ts';

/**
 * Goal: an unauthenticated client takes little processor time. Method: requests without a key, on every endpoint of every
 * interface, with the most expensive bodies that are not refused for their size.
 */
const K64 = 64 * 1024;
const boundary = 'b';
const form = 'application/x-www-form-urlencoded';
const multipart = `multipart/form-data; boundary=${boundary}`;
const filled = (piece: string, size = K64 - 16) => piece.repeat(Math.floor(size / piece.length));
const part = (name: string) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n\r\n`;
const numbered = (piece: (at: number) => string) =>
  Array.from({ length: 20_000 }, (_, at) => piece(at))
    .join('&')
    .slice(0, K64);

interface Body {
  readonly type: string;
  readonly body: string;
}

/** The worst of each content type. */
const worst: Record<string, Body> = {
  'XML of empty elements': { type: 'application/xml', body: `<r>${'<a/>'.repeat(4_998)}</r>` },
  'a form of numbered lists': {
    type: form,
    body: numbered((at) => `a[${at}]`)
      .split('&')
      .slice(0, 1_000)
      .join('&'),
  },
  'JSON that is nested': {
    type: 'application/json',
    body: `{"a":${filled('[', K64 / 2 - 16)}${filled(']', K64 / 2 - 16)}}`,
  },
  'many parts': { type: multipart, body: `${part('a').repeat(200)}--${boundary}--` },
};

const others: Record<string, Body> = {
  'XML of too many elements': { type: 'text/xml', body: `<r>${filled('<a/>')}</r>` },
  'XML of references': { type: 'text/xml', body: `<r>${filled('&lt;')}</r>` },
  'XML that is nested': { type: 'text/xml', body: filled('<a>') },
  'XML of comments': { type: 'text/xml', body: `<r>${filled('<!---->')}</r>` },
  'a form of too many parameters': { type: form, body: filled('a&') },
  'a form of one list': { type: form, body: filled('a[]=1&', 5_000) },
  'a form of broken escapes': { type: form, body: filled('%zz%ff&', 6_000) },
  'a form of escapes that are no text': { type: form, body: filled('%ff&', 3_900) },
  'a form that is nested': { type: form, body: `a${filled('[a]')}=1` },
  'a form of names': {
    type: form,
    body: numbered((at) => `n${at}`)
      .split('&')
      .slice(0, 1_000)
      .join('&'),
  },
  'JSON of names': {
    type: 'application/json',
    body: `{${numbered((at) => `"n${at}":1`)
      .replaceAll('&', ',')
      .replace(/,[^,]*$/, '')}}`,
  },
  'JSON of escapes': { type: 'application/json', body: `{"a":"${filled('\\u0041')}"}` },
  'too many parts': { type: multipart, body: `${filled(part('a'))}--${boundary}--` },
  'one large part': {
    type: multipart,
    body: `${part('a').slice(0, -2)}${filled('\r\n--', K64 - 200)}\r\n--${boundary}--`,
  },
  'a part with endless headers': {
    type: multipart,
    body: `--${boundary}\r\n${filled('a: b\r\n', K64 - 200)}\r\n\r\n--${boundary}--`,
  },
};

const interfaces: [Api, { credentialsInBody: boolean }][] = [
  [portalApi, { credentialsInBody: false }],
  [cloudApi, { credentialsInBody: false }],
  [arrayApi, { credentialsInBody: true }],
  [objectsApi, { credentialsInBody: true }],
];

async function serveApi(t: TestContext, api: Api, options: { credentialsInBody: boolean }): Promise<FastifyInstance> {
  const handlers: Record<string, Record<string, () => Record<string, never>>> = {};
  for (const { group, name } of operations(api)) (handlers[group] ??= {})[name] = () => ({});
  const app = await createApiServer({
    api,
    handlers,
    authenticate: () => undefined,
    ...options,
    store: temporaryStore(t),
    vault: new Vault(Buffer.alloc(32, 7)),
    clock: new ManualClock('2026-01-01T00:00:00Z'),
    log: createLog('test', 'silent'),
    version: '1.2.3',
  });
  t.after(() => app.close());
  return app;
}

for (const [api, options] of interfaces) {
  test(`no request of a stranger holds the ${api.name} for long, whatever the endpoint and the body`, async (t) => {
    const app = await serveApi(t, api, options);
    for (const { endpoint } of operations(api)) {
      const url = `/api${endpoint.path.replace(/\{[^}]+\}/g, '1')}`;
      for (const [what, { type, body }] of Object.entries(worst)) {
        const asked = { method: endpoint.method, url, headers: { 'content-type': type }, payload: body };
        await assertBrief(`${endpoint.method} ${endpoint.path} with ${what}`, () => app.inject(asked));
      }
    }
  });
}

test('no body holds an interface for long before sign-in, of whatever type', async (t) => {
  const array = await serve(t, 'array');
  for (const url of ['/api/echo', '/api/open_echo', '/api/nowhere', '/healthz']) {
    for (const [what, { type, body }] of Object.entries({ ...worst, ...others })) {
      const asked = { method: 'POST', url, headers: { 'content-type': type }, payload: body } as const;
      await assertBrief(`${url} with ${what}`, () => array.app.inject(asked));
    }
  }
});

test('no address, query or header holds an interface for long', async (t) => {
  const { app } = await serve(t, 'portal');
  const size = 15_000;
  const urls = ['a&', 'a[]&', 'a[0][1]&', '%zz&', '%ff&', 'a=%41&', 'a[', '&', '=', '.xml'].map(
    (piece) => `/api/echo?${filled(piece, size)}`,
  );
  urls.push(
    `/api/${filled('a.xml', size)}`,
    `/api/${filled('.json/', size)}`,
    `/${filled('/', size)}`,
    `/api/${filled('%41', size)}`,
    `/api/v${filled('1', size)}`,
  );
  for (const url of urls) await assertBrief(url.slice(0, 40), () => app.inject({ url }));
  for (const [name, piece] of [
    ['accept', 'text/xml;q=0.1,'],
    ['accept', 'xml;'],
    ['authorization', 'Basic '],
    ['content-type', 'application/x+'],
    ['content-type', 'multipart/form-data;'],
    ['idempotency-key', 'a'],
    ['x-token', 'a'],
  ] as const) {
    const asked = { method: 'POST', url: '/api/echo', headers: { [name]: filled(piece, size) }, payload: 'x' } as const;
    await assertBrief(`${name} of ${piece}`, () => app.inject(asked));
  }
});

/** Sends the head of a request whose body never comes, and answers with what the server says. */
async function headOnly(t: TestContext, app: FastifyInstance, head: string): Promise<string> {
  const listeners = new Listeners({ app });
  const { host, port } = await listeners.open({ host: '127.0.0.1', port: 0 });
  const socket = connect({ host, port });
  t.after(() => listeners.closeAll());
  socket.write(`${head}\r\nHost: x\r\nContent-Type: application/xml\r\nContent-Length: 60000\r\n\r\n`);
  for await (const chunk of socket as AsyncIterable<Buffer>) return chunk.toString().split('\r\n', 1)[0] ?? '';
  return 'closed';
}

test('who has no right to the answer gets it before the body is sent', { timeout: 30_000 }, async (t) => {
  const portal = await serve(t, 'portal');
  assert.match(await headOnly(t, portal.app, 'POST /api/echo HTTP/1.1'), / 401 /);
  assert.match(await headOnly(t, portal.app, 'POST /api/echo HTTP/1.1\r\nX-Token: wrong'), / 401 /);
  assert.match(await headOnly(t, portal.app, 'DELETE /api/things/7 HTTP/1.1\r\nX-Token: member'), / 403 /);
  assert.match(await headOnly(t, portal.app, 'POST /api/nowhere HTTP/1.1\r\nX-Token: member'), / 404 /);
  assert.match(
    await headOnly(t, portal.app, `GET /api/echo?${'a&'.repeat(2_000)} HTTP/1.1\r\nX-Token: member`),
    / 400 /,
  );
  assert.match(await headOnly(t, portal.app, 'GET /healthz HTTP/1.1'), / 200 /);
  const array = await serve(t, 'array');
  assert.match(await headOnly(t, array.app, 'DELETE /api/things/7?access_key=member HTTP/1.1'), / 200 /);
});

test('a key in the body is found, in a body that is not larger than strangers may send', async (t) => {
  const { app } = await serve(t, 'array');
  const send = (length: number, headers = {}) =>
    app.inject({
      method: 'POST',
      url: '/api/echo',
      headers,
      payload: { access_key: 'member', comment: 'x'.repeat(length) },
    });
  assert.match((await send(1_000)).body, /"status":0/);
  const large = await send(K64);
  assert.equal(large.statusCode, 413);
  assert.match(large.body, /larger than 64 KiB before sign-in; send the key in a header/);
  assert.match((await send(K64, { 'x-token': 'member' })).body, /"status":0/);
});

test('XML has at most 5,000 elements, unless the endpoint says more', async (t) => {
  const { app } = await serve(t, 'portal');
  const send = (url: string, count: number) =>
    app.inject({
      method: 'POST',
      url,
      headers: { 'x-token': 'member', 'content-type': 'application/xml' },
      payload: `<r>${'<a>12345</a>'.repeat(count)}</r>`,
    });
  assert.equal((await send('/api/echo', 4_999)).statusCode, 200);
  assert.match((await send('/api/echo', 5_000)).body, /more than 5000 elements/);
  assert.equal((await send('/api/echo', 6_000)).statusCode, 413);
  assert.equal((await send('/api/large_echo', 6_000)).statusCode, 200);
  assert.match((await send('/api/large_echo', 10_000)).body, /more than 10000 elements/);
});

test('a multipart body has at most 200 parts', async (t) => {
  const { app } = await serve(t, 'portal');
  const send = (count: number) =>
    app.inject({
      method: 'POST',
      url: '/api/echo',
      headers: { 'x-token': 'member', 'content-type': multipart },
      payload: `${part('a').repeat(count)}--${boundary}--`,
    });
  assert.equal((await send(200)).statusCode, 200);
  assert.match((await send(202)).body, /body must have at most 200 parts/);
});
