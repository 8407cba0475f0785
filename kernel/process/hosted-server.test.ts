import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import fastify from 'fastify';
import { skipsIpv6 } from '../../testing/ports.ts';
import { createLog } from '../log.ts';
import { HostedServer } from './hosted-server.ts';
import { secureFetch, probeChain, selfSigned } from '../tls/index.ts';
import { testNetwork } from './testing/addresses.ts';
import { testConfiguration } from './testing/configuration.ts';

const NO_IPV6 = { reason: 'this machine has no IPv6; switch it on, or use a network with IPv4 addresses.' };

const interfaceAt = (id: number, address: string) => ({ id, address, netmask: '255.0.0.0', gateway: null, vlanId: 1 });

test(
  'an address that cannot be bound is reported with its reason, and bound once it can be',
  { timeout: 300_000 },
  async (t) => {
    const network = testNetwork();
    const configuration = {
      ...testConfiguration('/nowhere'),
      management: { host: `${network}.1`, port: 7480 },
      interfaces: [
        interfaceAt(1, `${network}.2`),
        { ...interfaceAt(2, '192.0.2.9'), ipv6: { address: '2001:db8::9', netmask: 'ffff::', gateway: null } },
      ],
    };
    const other = createServer().listen(7480, `${network}.2`);
    await once(other, 'listening');
    const app = fastify();
    let report = (): void => undefined;
    const log = createLog('test', 'silent');
    const server = new HostedServer(app, configuration, { log, onListening: () => report(), retryMs: 20 });
    t.after(() => server.stop());
    await server.serve(configuration);
    const nowhere = {
      address: '192.0.2.9',
      reason: 'this machine does not have the address; give it to a network interface.',
    };
    // A machine without IPv6 has another reason.
    const nowhereInIpv6 = { ...(skipsIpv6 === false ? nowhere : NO_IPV6), address: '2001:db8::9' };
    assert.deepEqual(server.bound, [`${network}.1`]);
    const byAddress = (one: { address: string }, two: { address: string }) => one.address.localeCompare(two.address);
    assert.deepEqual(server.unbound.sort(byAddress), [
      { address: `${network}.2`, reason: 'another program listens on port 7480 of the address.' },
      nowhere,
      nowhereInIpv6,
    ]);
    const bound = new Promise<void>((resolve) => (report = resolve));
    other.close();
    await bound;
    assert.deepEqual(server.bound, [`${network}.1`, `${network}.2`]);
    assert.deepEqual(server.unbound, [nowhere, nowhereInIpv6]);
    await server.serve({ ...configuration, interfaces: [] });
    assert.deepEqual([server.bound, server.unbound], [[`${network}.1`], []]);
  },
);

test('a certificate that changes is shown from the next connection on, at every address', async (t) => {
  const network = testNetwork();
  const hosts = [`${network}.1`, `${network}.2`];
  const pairOf = (name: string) => selfSigned(name, hosts, Date.now());
  const [one, two] = [pairOf('one'), pairOf('two')];
  const configuration = {
    ...testConfiguration('/nowhere'),
    management: { host: `${network}.1`, port: 7480 },
    interfaces: [interfaceAt(1, `${network}.2`)],
    tls: one,
  };
  const app = fastify();
  app.get('/', () => 'here');
  const server = new HostedServer(app, configuration, { log: createLog('test', 'silent') });
  t.after(() => server.stop());
  await server.serve(configuration);
  const shown = async () => {
    const chains = hosts.map((host) => probeChain({ host, port: 7480, timeoutMs: 30_000 }));
    return (await Promise.all(chains)).map(([own]) => own);
  };
  const open = secureFetch({ trusted: [one.cert] });
  const ask = async () => (await open(`https://${network}.1:7480/`)).text();
  assert.deepEqual(await shown(), [one.cert, one.cert]);
  assert.equal(await ask(), 'here');
  await server.serve({ ...configuration, tls: two });
  assert.deepEqual(await shown(), [two.cert, two.cert]);
  assert.equal(await ask(), 'here', 'a connection that was open goes on');
});
