import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { turns } from '../../testing/turns.ts';
import { fail } from '../errors.ts';
import { serve } from './testing/server.ts';

const headers = { 'x-token': 'member' };

test('figures are for the machine itself and for administrators', async (t) => {
  const { app } = await serve(t, 'array');
  const ask = async (remoteAddress: string, given: Record<string, string> = {}) =>
    (await app.inject({ url: '/metrics', remoteAddress, headers: given })).statusCode;
  for (const near of ['127.0.0.1', '127.64.0.1', '::1', '::ffff:127.0.0.1']) assert.equal(await ask(near), 200);
  for (const far of ['192.0.2.1', '::ffff:192.0.2.1', '2001:db8::1']) {
    assert.equal(await ask(far), 401);
    assert.equal(await ask(far, { 'x-token': 'nobody' }), 401);
    assert.equal(await ask(far, { authorization: 'Bearer member' }), 403);
    assert.equal(await ask(far, { 'x-token': 'admin' }), 200);
    assert.equal(await ask(far, { authorization: 'Bearer admin' }), 200);
    assert.equal(await ask(far, { authorization: 'bearer admin', 'x-later': 'yes' }), 200);
  }
  for (const name of ['Forwarded', 'X-Forwarded-For', 'X-Real-IP', 'Via']) {
    assert.equal(await ask('127.0.0.1', { [name]: 'for=192.0.2.1' }), 401, name);
    assert.equal(await ask('127.0.0.1', { [name]: 'for=192.0.2.1', authorization: 'Bearer admin' }), 200, name);
  }
  const health = await app.inject({ url: '/healthz', remoteAddress: '192.0.2.1' });
  assert.equal(health.statusCode, 200);
});

test('who was signed out while sending a body is not served', async (t) => {
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  t.mock.method(performance, 'now', () => now() + aheadMs);
  for (const later of [{}, { 'x-later': 'yes' }]) {
    const bench = await serve(t, 'portal');
    const { port } = new URL(await bench.app.listen({ port: 0, host: '127.0.0.1' }));
    const socket = connect(Number(port), '127.0.0.1');
    t.after(() => socket.destroy());
    const body = JSON.stringify({ name: 'late' });
    const more = Object.entries(later).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(
      `POST /api/things HTTP/1.1\r\nHost: x\r\nX-Token: member\r\n${more.join('')}` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
    );
    await once(bench.app.server, 'request');
    await turns();
    aheadMs += 1_200;
    bench.revoked.add('member');
    socket.write(body.slice(5));
    const [reply] = (await once(socket, 'data')) as [Buffer];
    assert.match(reply.toString(), /^HTTP\/1\.1 401 /);
    assert.deepEqual(bench.created, []);
  }
});

test('what an idempotency key waits for is checked again when it is done', async (t) => {
  const bench = await serve(t, 'portal');
  let asked = 0;
  bench.authorise = () => {
    if (++asked > 1) throw fail('not_allowed', { roles: 'the role admin' });
  };
  const keyed = { ...headers, 'idempotency-key': 'k' };
  const reply = await bench.app.inject({ method: 'POST', url: '/api/things?name=others', headers: keyed });
  assert.equal(reply.statusCode, 403);
  assert.deepEqual(bench.created, []);
});

test('a call that cannot be recorded is answered once, and ends nothing', async (t) => {
  const bench = await serve(t, 'portal');
  bench.answered.push = () => {
    throw new RangeError('nested too deep');
  };
  bench.gate = turns();
  for (const method of ['POST', 'GET'] as const) {
    const reply = await bench.app.inject({ method, url: '/api/things?name=a', headers });
    assert.equal(reply.statusCode, 200);
  }
  assert.equal(bench.logged.filter((line) => line.includes('a call could not be recorded')).length, 2);
});
