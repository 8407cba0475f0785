import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { markSignedIn } from '@granary/kernel/edge';
import { askOver, connectFrom, crowd, hangUp } from '../../../kernel/edge/testing/crowd.ts';
import { DataServer, type DataHandler } from './data-server.ts';

const PLACES = 32;
const ATTACKER = '127.0.0.66';
const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const SIGNED = 'GET / HTTP/1.1\r\nHost: x\r\nAuthorization: AWS x\r\n\r\n';

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

async function serve(context: TestContext) {
  const reports: unknown[] = [];
  const handle: DataHandler['handle'] = (request, response) => {
    if (request.headers.authorization !== undefined) markSignedIn(request.socket);
    response.end('here');
  };
  const options = { connectionsMax: PLACES, onCrowded: (report: unknown) => reports.push(report) };
  const server = new DataServer({ handle, handleContinue: handle }, options);
  const place = { host: '127.0.0.1', port: await freePort() };
  assert.deepEqual(await server.serve([place], null), []);
  context.after(async () => {
    hangUp(context);
    await server.close();
  });
  return { place, reports };
}

test('one host with many connections to the data port does not lock others out', async (context) => {
  const { place, reports } = await serve(context);
  const signedIn = await connectFrom(context, place, ATTACKER);
  await askOver(signedIn, SIGNED, 'here');
  await crowd(context, place, { from: ATTACKER, count: PLACES * 2 });
  await crowd(context, place, {
    from: ATTACKER,
    count: PLACES * 2,
    sends: 'PUT /b/k HTTP/1.1\r\nHost: x\r\nContent-Le',
  });
  await crowd(context, place, { from: ATTACKER, count: PLACES * 2, sends: REQUEST });
  for (const address of ['127.0.0.7', ATTACKER]) {
    const client = await connectFrom(context, place, address);
    assert.match(await askOver(client, REQUEST, 'here'), / 200 /);
  }
  assert.match(await askOver(signedIn, SIGNED, 'here'), / 200 /);
  assert.equal((reports[0] as { address: string }).address, ATTACKER);
});
