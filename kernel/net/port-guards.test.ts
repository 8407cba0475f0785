import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test, type TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { testNetwork } from '../process/testing/addresses.ts';
import { PortGuards } from './port-guards.ts';

const holder = fileURLToPath(new URL('./testing/port-holder.ts', import.meta.url));
const options = { skip: process.platform !== 'linux', timeout: 120_000 };

/** A process that guards a port and listens there as object storage does, until it is killed. */
async function holdElsewhere(t: TestContext, host: string, port: number) {
  const child = fork(holder, [host, String(port)]);
  t.after(() => child.kill('SIGKILL'));
  const [answer] = (await once(child, 'message')) as [string];
  return { child, answer };
}

test('two processes of one user do not share a port, however both listen', options, async (t) => {
  const address = { host: `${testNetwork()}.1`, port: 8080 };
  const guards = new PortGuards({ acquireMsMax: 0 });
  assert.deepEqual(await guards.acquire([address]), []);
  const server = createServer().listen({ ...address, reusePort: true });
  t.after(() => server.close());
  await once(server, 'listening');
  const { answer } = await holdElsewhere(t, address.host, address.port);
  assert.equal(answer, 'EADDRINUSE');
  assert.deepEqual(await guards.acquire([address]), [], 'what is held is not taken again');
});

test('a port is free again when its process is killed', options, async (t) => {
  const address = { host: `${testNetwork()}.1`, port: 8080 };
  const { child, answer } = await holdElsewhere(t, address.host, address.port);
  assert.equal(answer, 'listening');
  const guards = new PortGuards({ acquireMsMax: 0 });
  assert.deepEqual(await guards.acquire([address]), [{ address, code: 'EADDRINUSE' }]);
  child.kill('SIGKILL');
  await once(child, 'exit');
  assert.deepEqual(await new PortGuards().acquire([address]), []);
});

test('a program that shares the port without a guard is noticed before anybody listens', options, async () => {
  const address = { host: `${testNetwork()}.1`, port: 8080 };
  const stranger = createServer().listen({ ...address, reusePort: true });
  await once(stranger, 'listening');
  const guards = new PortGuards({ acquireMsMax: 0 });
  assert.deepEqual(await guards.acquire([address]), [{ address, code: 'EADDRINUSE' }]);
  stranger.close();
  await once(stranger, 'close');
  assert.deepEqual(await guards.acquire([address]), []);
  guards.releaseOthers([]);
  assert.deepEqual(await new PortGuards().acquire([address]), []);
});

test('an address the machine does not have cannot be had', options, async () => {
  const address = { host: '192.0.2.7', port: 8080 };
  assert.deepEqual(await new PortGuards().acquire([address]), [{ address, code: 'EADDRNOTAVAIL' }]);
});
