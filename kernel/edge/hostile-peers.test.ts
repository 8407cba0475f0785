import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { suite, test, type TestContext } from 'node:test';
import Fastify from 'fastify';
import { once } from 'node:events';
import { serve as serveS3 } from '../../protocols/s3/testing/serve.ts';
import { RemoteS3 } from '../../protocols/s3/client/client.ts';
import { Listeners } from '../http/listeners.ts';
import { sendBySmtp } from '../mail/smtp.ts';
import { guardedFetch } from '../net/outgoing.ts';
import { hostilePeer, hostilities, outcomeOf } from './testing/hostile-peer.ts';

/**
 * Goal: no peer ends the process. Method: every kind of connection the product makes, to a peer that does each of many
 * hostile things; and every kind it accepts, cut off and reset at every stage. An error without a listener fails the test.
 */
const letter = { from: 'a@example.test', to: 'b@example.test', subject: 's', text: 't' };

async function* twoPieces(): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(70_000, 1);
  await Promise.resolve();
  yield Buffer.alloc(30_000, 2);
}

suite('hostile peers', { concurrency: true }, () => {
  for (const [what, hostility] of Object.entries(hostilities)) {
    void test(
      `a cloud, a mail server or an S3 service that ${what} is an error in words`,
      { timeout: 60_000 },
      async (t) => {
        const { host, port } = await hostilePeer(t, hostility);
        const place = { url: `http://${host}:${port}`, address: host, region: 'r', accessKey: 'a', secret: 's' };
        const remotes = [place, { ...place, url: `https://${host}:${port}` }].map(
          (one) => new RemoteS3(one, { idleMs: 500 }),
        );
        t.after(() => remotes.forEach((remote) => remote.close()));
        const mail = { host, port, user: 'ada', password: 'secret' };
        const calls: Record<string, Promise<unknown>> = {
          cloud: guardedFetch(`http://${host}:${port}/api/x`, { signal: AbortSignal.timeout(2_000) }).then((reply) =>
            reply.text(),
          ),
          'cloud over TLS': guardedFetch(`https://${host}:${port}/api/x`, { signal: AbortSignal.timeout(2_000) }),
          mail: sendBySmtp({ ...mail, secure: false }, letter, AbortSignal.timeout(1_000)),
          'mail over TLS': sendBySmtp({ ...mail, secure: true }, letter, AbortSignal.timeout(1_000)),
        };
        for (const [at, remote] of remotes.entries()) {
          const bodies = { no: undefined, bytes: Buffer.from('abc'), stream: { size: 100_000, bytes: twoPieces() } };
          for (const [kind, body] of Object.entries(bodies)) {
            const target = { bucket: 'b', key: 'k' };
            const request = body
              ? ({ method: 'PUT', ...target, body } as const)
              : ({ method: 'GET', ...target } as const);
            calls[`S3 ${at} with ${kind} body`] = remote.send(request);
          }
        }
        for (const [call, done] of Object.entries(calls)) done.catch(() => call);
        for (const [call, done] of Object.entries(calls)) assert.notEqual(await outcomeOf(done), '', call);
      },
    );
  }
});

test('mail that is given up at any moment ends nothing', { timeout: 60_000 }, async (t) => {
  const { host, port } = await hostilePeer(t, () => undefined);
  for (let turns = 0; turns < 12; turns += 1) {
    const stop = new AbortController();
    const server = { host, port, secure: turns % 2 === 0, user: null, password: null };
    const done = outcomeOf(sendBySmtp(server, letter, stop.signal));
    for (let left = turns; left > 0; left -= 1) await turn();
    stop.abort(new Error('the array stops'));
    assert.notEqual(await done, 'answered');
  }
});

const REQUESTS = [
  'GET /a/b?c=d HTTP/1.1\r\nHost: x\r\n\r\n',
  'PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Length: 12\r\n\r\nabcdefghijkl',
  'POST /?delete HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  'PUT /b/k HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 a TLS greeting',
  '\x00\xff\xfe garbage \r\n\r\n\r\n',
];

/** Sends each request up to each of its bytes, then resets or hangs up. */
async function attack(t: TestContext, port: number): Promise<void> {
  for (const request of REQUESTS) {
    const cuts = Array.from({ length: Math.ceil(request.length / 5) }, (_, at) => request.slice(0, at * 5));
    await Promise.all(
      [...cuts, request].flatMap((sent) =>
        (['reset', 'hang up'] as const).map(async (how) => {
          const socket = connect(port, '127.0.0.1');
          t.after(() => socket.destroy());
          socket.on('error', () => undefined).resume();
          await once(socket, 'connect');
          socket.write(sent, 'latin1', () => (how === 'reset' ? socket.resetAndDestroy() : socket.end()));
          if (!socket.closed) await once(socket, 'close');
        }),
      ),
    );
  }
}

test(
  'management lives on after connections that are cut off and reset at every stage',
  { timeout: 60_000 },
  async (t) => {
    const app = Fastify();
    app.all('/*', () => 'here');
    const listeners = new Listeners({ app });
    t.after(() => listeners.closeAll());
    const { port } = await listeners.open({ host: '127.0.0.1', port: 0 });
    await attack(t, port);
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'here');
  },
);

test(
  'the data path lives on after connections that are cut off and reset at every stage',
  { timeout: 60_000 },
  async (t) => {
    const served = await serveS3();
    t.after(() => served.close());
    await attack(t, Number(new URL(served.origin).port));
    assert.equal((await served.as('ada').call('GET', '/')).status, 200);
    assert.deepEqual(served.errors, []);
  },
);
