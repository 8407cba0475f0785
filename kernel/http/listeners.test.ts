import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import Fastify from 'fastify';
import { until } from '../../testing/waiting.ts';
import { Listeners } from './listeners.ts';

function setUp(bindMsMax?: number) {
  const app = Fastify();
  app.get('/', () => 'here');
  return new Listeners({ app, ...(bindMsMax !== undefined && { bindMsMax }) });
}

const ask = async ({ host, port }: { host: string; port: number }) => (await fetch(`http://${host}:${port}/`)).text();

test('one application answers on every address that is open, and no longer where it was closed', async () => {
  const listeners = setUp();
  const first = await listeners.open({ host: '127.0.0.1', port: 0 });
  const second = await listeners.open({ host: '127.0.0.1', port: 0 });
  assert.equal(await ask(first), 'here');
  assert.equal(await ask(second), 'here');
  await listeners.close(second);
  await assert.rejects(ask(second));
  assert.equal(await ask(first), 'here');
  assert.deepEqual(listeners.addresses, [first]);
  await listeners.closeAll();
});

test('an address another process is just leaving is tried again', async () => {
  const listeners = setUp();
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  const { port } = other.address() as { port: number };
  setTimeout(() => other.close(), 250);
  const opened = await listeners.open({ host: '127.0.0.1', port });
  assert.equal(await ask(opened), 'here');
  await listeners.closeAll();
});

test('an address that stays taken, or that the machine does not carry, is an error', async () => {
  const listeners = setUp(200);
  const { port } = await listeners.open({ host: '127.0.0.1', port: 0 });
  await assert.rejects(listeners.open({ host: '127.0.0.1', port }), { code: 'EADDRINUSE' });
  await assert.rejects(listeners.open({ host: '192.0.2.1', port }), { code: 'EADDRNOTAVAIL' });
  await listeners.closeAll();
});

test('a client that takes nothing of its answers is dropped; one whose answer takes long is not', async (t) => {
  const app = Fastify();
  const large = Buffer.alloc(32 * 2 ** 20);
  app.get('/large', () => large);
  app.get('/slow', async () => {
    await sleep(1_500);
    return 'at last';
  });
  const listeners = new Listeners({ app, unreadMsMax: 1_000 });
  const { host, port } = await listeners.open({ host: '127.0.0.1', port: 0 });
  t.after(() => listeners.closeAll());
  const deaf = connect(port, host).pause();
  t.after(() => deaf.destroy());
  deaf.on('error', () => undefined);
  deaf.write('GET /large HTTP/1.1\r\nHost: here\r\n\r\n');
  const slow = await fetch(`http://${host}:${port}/slow`, { headers: { connection: 'close' } });
  assert.equal(await slow.text(), 'at last');
  await until(() => listeners.connectionCount === 0, 'no connection is left');
  // A client in this process may pause for longer than the short limit when the machine is busy.
  const patient = new Listeners({ app, unreadMsMax: 30_000 });
  const other = await patient.open({ host, port: 0 });
  t.after(() => patient.closeAll());
  const whole = await fetch(`http://${host}:${other.port}/large`, { headers: { connection: 'close' } });
  assert.equal((await whole.arrayBuffer()).byteLength, large.length);
});
