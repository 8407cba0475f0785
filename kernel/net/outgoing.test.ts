import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { guardedFetch, outgoingAddress, parseHostAndPort } from './outgoing.ts';

const refused = [
  '169.254.169.254',
  '0.0.0.0',
  '255.255.255.255',
  '192.0.2.10',
  '224.0.0.1',
  '100.100.100.200',
  '[fe80::1]',
  'fd00:ec2::254',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
];

for (const address of refused) {
  test(`a connection to ${address} is refused`, async () => {
    await assert.rejects(outgoingAddress(address), /link-local, reserved and metadata addresses are refused/);
    const url = `http://${address.includes(':') && !address.startsWith('[') ? `[${address}]` : address}:80/`;
    await assert.rejects(guardedFetch(url), /link-local, reserved and metadata addresses are refused/);
  });
}

test('loopback and private addresses are where clouds are', async () => {
  assert.equal(await outgoingAddress('127.0.0.1'), '127.0.0.1');
  assert.equal(await outgoingAddress('10.1.2.3'), '10.1.2.3');
  assert.equal(await outgoingAddress('::1'), '[::1]');
});

test('a name is resolved, checked and connected to as it stands', async (t) => {
  const server = createServer((request, reply) => reply.end(request.headers.host)).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const reply = await guardedFetch(`http://localhost:${port}/`);
  assert.match(await reply.text(), /^(127\.0\.0\.1|\[::1\]):/);
});

test('host and port are read in every form people write them', () => {
  assert.deepEqual(parseHostAndPort('10.0.0.1', 7401), { host: '10.0.0.1', port: 7401 });
  assert.deepEqual(parseHostAndPort('10.0.0.1:80', 7401), { host: '10.0.0.1', port: 80 });
  assert.deepEqual(parseHostAndPort('[fd00::1]:80', 7401), { host: 'fd00::1', port: 80 });
  assert.deepEqual(parseHostAndPort('fd00::1', 7401), { host: 'fd00::1', port: 7401 });
  for (const bad of ['', 'a b', 'http://x', '1.2.3.4:99999', '1.2.3.4:0', 'x/y', '-x']) {
    assert.equal(parseHostAndPort(bad, 7401), undefined, bad);
  }
});
