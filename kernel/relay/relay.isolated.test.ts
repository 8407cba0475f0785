import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { endpoint, response, type Api } from '@granary/contract';
import { until } from '../../testing/waiting.ts';
import { Vault } from '../auth/vault.ts';
import { ManualClock } from '../clock.ts';
import { fail } from '../errors.ts';
import { createApiServer } from '../http/index.ts';
import { createLog } from '../log.ts';
import { plainRequests } from '../net/plain-requests.ts';
import { temporaryStore } from '../testing/temporary-store.ts';
import { refuseRelay, relay, sentHeaders } from './index.ts';

const SIZE = 256 * 2 ** 20;
const CHUNK = Buffer.alloc(2 ** 20, 7);

const hello = endpoint('GET', '/hello', { summary: 'Hello', access: { roles: ['admin'] }, reply: response({}) });
const api = {
  name: 'test',
  title: 'Test',
  description: 'For tests.',
  dialect: 'array',
  groups: { hello: { hello } },
} as const satisfies Api;

type Origin = (request: IncomingMessage, response: ServerResponse) => void;

/** A server that passes everything below /via on to the origin, for who has a token. */
async function passing(t: TestContext, origin: Origin, limits = { idleMs: 60_000, answerMs: 60_000 }): Promise<string> {
  const server = createServer(origin);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const target = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const start = plainRequests((host) => Promise.resolve(host), 16);
  const app = await createApiServer({
    api,
    handlers: {},
    authenticate: ({ headers }) => (headers['x-token'] === 'token' ? { id: 'user:1', role: 'admin' } : undefined),
    streams: [
      {
        name: 'via',
        path: '/via/*',
        refuse: (error, exchange) => refuseRelay(error, exchange, 'api'),
        async serve({ request, response: answer }) {
          const signal = new AbortController().signal;
          const { method = 'GET', url: path = '/' } = request;
          const headers = sentHeaders(request.headers);
          try {
            await relay({
              request,
              response: answer,
              signal,
              limits,
              start: (head) => start(target, { ...head, method, path, headers, isFresh: true }),
            });
          } catch (error) {
            if ((error as { entry?: string }).entry === 'relay_timeout') throw error;
            throw fail('array_unreachable', { name: 'tank', address: target.host });
          }
        },
      },
    ],
    store: temporaryStore(t),
    vault: new Vault(Buffer.alloc(32)),
    clock: new ManualClock(0),
    log: createLog('test', 'silent'),
    version: '1',
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await app.close();
  });
  return `${url}/via/x`;
}

function send(url: string, method: string, headers: Record<string, string> = {}) {
  return httpRequest(url, { method, agent: false, headers: { 'x-token': 'token', ...headers } });
}

test('bodies of any size pass both ways, and the memory they take does not follow from their size', async (t) => {
  let got = 0;
  const url = await passing(t, (request, answer) => {
    request.on('data', (chunk: Buffer) => (got += chunk.length));
    request.on('end', () => {
      void (async () => {
        answer.writeHead(200, { 'content-length': SIZE });
        for (let sent = 0; sent < SIZE; sent += CHUNK.length) if (!answer.write(CHUNK)) await once(answer, 'drain');
        answer.end();
      })();
    });
  });
  const before = process.memoryUsage().rss;
  let most = 0;
  const look = () => (most = Math.max(most, process.memoryUsage().rss - before));
  const sent = send(url, 'PUT', { 'content-length': String(SIZE) });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  for (let at = 0; at < SIZE; at += CHUNK.length) {
    if (!sent.write(CHUNK)) await once(sent, 'drain');
    look();
  }
  sent.end();
  const [answer] = await answered;
  let back = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    back += chunk.length;
    look();
    await turn();
  }
  assert.deepEqual([got, back], [SIZE, SIZE]);
  assert.ok(most < 128 * 2 ** 20, `${Math.round(most / 2 ** 20)} MiB more than before`);
});

test('when the client goes, the request to the origin ends', async (t) => {
  let isOver = false;
  const url = await passing(t, (request, answer) => {
    request.resume();
    answer.writeHead(200).write('first');
    answer.once('close', () => (isOver = true));
  });
  const sent = send(url, 'GET');
  sent.on('error', () => undefined).end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  await once(answer, 'data');
  answer.destroy();
  await until(() => isOver, 'the origin sees the end');
});

test('an origin that goes before it answered is an error in words; one that goes amid its answer cuts it off', async (t) => {
  const url = await passing(t, (request, answer) => {
    if (request.method === 'PUT') request.socket.destroy();
    else answer.writeHead(200, { 'content-length': 100 }).write('half', () => request.socket.destroy());
  });
  const put = send(url, 'PUT', { 'content-length': '5' });
  put.end('bytes');
  const [refused] = (await once(put, 'response')) as [IncomingMessage];
  const text = (await refused.toArray()).join('');
  assert.match(text, /"status":20012,"message":"Array tank does not answer/);
  const get = send(url, 'GET');
  get.end();
  const [answer] = (await once(get, 'response')) as [IncomingMessage];
  await assert.rejects(answer.toArray(), /aborted/);
});

test('headers of a connection, of sign-ins and for other origins stay on their side', async (t) => {
  let seen: IncomingMessage['headers'] = {};
  const url = await passing(t, (request, answer) => {
    seen = request.headers;
    const forbidden = {
      'set-cookie': 'a=b',
      'access-control-allow-origin': '*',
      'clear-site-data': '"*"',
      refresh: '0',
    };
    answer
      .writeHead(200, { ...forbidden, 'x-access-key': 'secret', etag: '"1"', 'content-type': 'text/html' })
      .end('x');
  });
  const own = { cookie: 'a=b', authorization: 'Basic x', 'x-csrf-token': 'c', 'x-access-key': 'k', origin: 'http://x' };
  const sent = send(url, 'GET', { ...own, range: 'bytes=0-1', 'x-amz-meta-a': 'b', 'x-amz-date': 'd' });
  sent.end();
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  answer.resume();
  assert.deepEqual(Object.keys(seen).sort(), ['connection', 'host', 'range', 'x-amz-meta-a']);
  const names = Object.keys(answer.headers);
  for (const name of ['set-cookie', 'access-control-allow-origin', 'clear-site-data', 'refresh', 'x-access-key'])
    assert.ok(!names.includes(name), name);
  assert.equal(answer.headers['content-security-policy'], "default-src 'none'; sandbox");
  assert.equal(answer.headers.etag, '"1"');
});

test('events pass as they come, and an origin that says nothing is given up in words', async (t) => {
  const url = await passing(
    t,
    (request, answer) => {
      if (request.method === 'PUT') return;
      answer.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n');
    },
    { idleMs: 60_000, answerMs: 50 },
  );
  const events = send(url, 'GET');
  events.on('error', () => undefined).end();
  const [stream] = (await once(events, 'response')) as [IncomingMessage];
  assert.equal(String((await once(stream, 'data'))[0]), 'data: one\n\n');
  stream.destroy();
  const silent = send(url, 'PUT');
  silent.end();
  const [answer] = (await once(silent, 'response')) as [IncomingMessage];
  assert.equal(answer.statusCode, 504);
  answer.resume();
});
