import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';
import fastify from 'fastify';
import { createLog } from '../log.ts';
import { HostedServer } from './hosted-server.ts';
import { testNetwork } from './testing/addresses.ts';
import { testConfiguration } from './testing/configuration.ts';

const interfaceAt = (id: number, address: string) => ({ id, address, netmask: '255.0.0.0', gateway: null, vlanId: 1 });

test(
  'an address that cannot be bound is told with its reason, and bound once it can be',
  { timeout: 300_000 },
  async (t) => {
    const network = testNetwork();
    const configuration = {
      ...testConfiguration('/nowhere'),
      management: { host: `${network}.1`, port: 7480 },
      interfaces: [interfaceAt(1, `${network}.2`), interfaceAt(2, '192.0.2.9')],
    };
    const other = createServer().listen(7480, `${network}.2`);
    await once(other, 'listening');
    const app = fastify();
    let told = (): void => undefined;
    const log = createLog('test', 'silent');
    const server = new HostedServer(app, configuration, { log, onListening: () => told(), retryMs: 20 });
    t.after(() => server.stop());
    await server.serve(configuration);
    const nowhere = {
      address: '192.0.2.9',
      reason: 'this machine does not have the address; give it to a network interface.',
    };
    assert.deepEqual(server.bound, [`${network}.1`]);
    const byAddress = (one: { address: string }, two: { address: string }) => one.address.localeCompare(two.address);
    assert.deepEqual(server.unbound.sort(byAddress), [
      { address: `${network}.2`, reason: 'another program listens on port 7480 of the address.' },
      nowhere,
    ]);
    const bound = new Promise<void>((resolve) => (told = resolve));
    other.close();
    await bound;
    assert.deepEqual(server.bound, [`${network}.1`, `${network}.2`]);
    assert.deepEqual(server.unbound, [nowhere]);
    await server.serve({ ...configuration, interfaces: [] });
    assert.deepEqual([server.bound, server.unbound], [[`${network}.1`], []]);
  },
);
