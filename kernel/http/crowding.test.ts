import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { connect as connectTls } from 'node:tls';
import Fastify from 'fastify';
import { until } from '../../testing/waiting.ts';
import { askOver, connectFrom, crowd, hangUp } from '../edge/testing/crowd.ts';
import { markSignedIn } from '../edge/index.ts';
import { Listeners } from './listeners.ts';
import { selfSigned } from '../tls/self-signed.ts';
import { TlsSource } from '../tls/source.ts';

/** Goal: a client with idle connections keeps no other client out. Method: few places, real sockets. */
const PLACES = 32;
const ATTACKER = '127.0.0.66';
const CLIENT = '127.0.0.7';
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';

async function serve(context: TestContext, tls?: TlsSource) {
  const app = Fastify({ requestTimeout: 60_000 });
  let answers: (() => void)[] = [];
  app.get('/', () => 'here');
  app.get('/me', (request) => {
    markSignedIn(request.raw.socket);
    return 'here';
  });
  app.get('/slow', () => new Promise((resolve) => answers.push(() => resolve('here'))));
  app.post('/', () => 'here');
  const listeners = new Listeners({ app, tls, connectionsMax: PLACES });
  context.after(async () => {
    for (const answer of answers) answer();
    answers = [];
    hangUp(context);
    await listeners.closeAll();
  });
  const count = () => listeners.connectionCount;
  return { place: await listeners.open({ host: '127.0.0.1', port: 0 }), waiting: () => answers.length, count };
}

const kinds = {
  'silent connections': '',
  'connections with half a head': 'GET / HTTP/1.1\r\nHost: x\r\nX-',
  'connections with half a body':
    'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 9\r\n\r\nabc',
  'connections that were answered once and stay': REQUEST,
};

for (const [kind, sends] of Object.entries(kinds)) {
  test(`${kind} keep no other address out, nor a new client of the same one`, async (context) => {
    const { place } = await serve(context);
    await crowd(context, place, { from: ATTACKER, count: PLACES * 3, sends });
    for (const address of [CLIENT, ATTACKER]) {
      const client = await connectFrom(context, place, address);
      assert.match(await askOver(client, REQUEST, 'here'), /^HTTP\/1\.1 200 /);
    }
  });
}

test('a client that signed in keeps its connection while others come and go, even from the same address', async (context) => {
  const { place } = await serve(context);
  const client = await connectFrom(context, place, ATTACKER);
  await askOver(client, 'GET /me HTTP/1.1\r\nHost: x\r\n\r\n', 'here');
  await crowd(context, place, { from: ATTACKER, count: PLACES * 2 });
  await crowd(context, place, { from: ATTACKER, count: PLACES * 2, sends: REQUEST });
  assert.match(await askOver(client, REQUEST, 'here'), /^HTTP\/1\.1 200 /);
});

test('a request under way is answered while others knock', async (context) => {
  const { place, waiting } = await serve(context);
  const client = await connectFrom(context, place, CLIENT);
  const answer = askOver(client, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n', 'here');
  answer.catch(() => undefined);
  await until(() => waiting() === 1);
  await crowd(context, place, { from: ATTACKER, count: PLACES * 8 });
  assert.equal(client.closed, false);
});

test('over TLS, connections without a handshake and idle ones after it keep no client out', async (context) => {
  const tls = new TlsSource(selfSigned('test', ['127.0.0.1'], Date.now()));
  const { place, count } = await serve(context, tls);
  const secured = async (address: string) => {
    const socket = connectTls({
      socket: await connectFrom(context, place, address),
      host: '127.0.0.1',
      ca: tls.current.cert,
    });
    context.after(() => socket.destroy());
    socket.on('error', () => undefined);
    await once(socket, 'secureConnect');
    return socket;
  };
  const client = await secured(CLIENT);
  assert.match(await askOver(client, 'GET /me HTTP/1.1\r\nHost: x\r\n\r\n', 'here'), / 200 /);
  await crowd(context, place, { from: ATTACKER, count: PLACES * 2 });
  for (let left = PLACES; left > 0; left -= 1) await secured(ATTACKER);
  assert.match(await askOver(await secured('127.0.0.8'), REQUEST, 'here'), / 200 /);
  assert.match(await askOver(client, REQUEST, 'here'), / 200 /);
  // The place of a connection that ended is free again.
  hangUp(context);
  await until(() => count() === 0);
});
