import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import type { ListenAddress } from '@granary/kernel';
import { testNetwork } from '../../kernel/process/testing/addresses.ts';
import { defaultConfig } from '../config/defaults.ts';
import { AddressAllocator, type ProbeAddress } from './allocator.ts';
import { servicePortsOf } from './service-ports.ts';
import { AddressRange } from '../config/range.ts';

const none = () => false;
const allFree: ProbeAddress = async () => undefined;

function allocator(arrays: string, probe: ProbeAddress = allFree) {
  const network = { ...defaultConfig('linux').network, shared_ports: { first: 20_000, last: 20_003 } };
  return new AddressAllocator({ network, arrays, probe });
}

test('a range leaves out the network and broadcast addresses, unless it is too small for them', () => {
  const range = new AddressRange('127.64.0.0/16');
  assert.equal(range.size, 65_534);
  assert.equal(range.at(0), '127.64.0.1');
  assert.equal(range.at(65_533), '127.64.255.254');
  assert.equal(range.at(65_534), '127.64.0.1');
  assert.deepEqual([new AddressRange('10.0.0.7/32').at(0), new AddressRange('10.0.0.7/32').size], ['10.0.0.7', 1]);
  assert.deepEqual([new AddressRange('10.0.0.9/31').at(1), new AddressRange('10.0.0.9/31').size], ['10.0.0.9', 2]);
  assert.equal(new AddressRange('255.255.255.0/24').at(253), '255.255.255.254');
});

test('arrays get addresses one after the other, past those that arrays have', async () => {
  const addresses = allocator('127.64.0.0/24');
  assert.deepEqual(await addresses.forArray(0, none), { host: '127.64.0.1', port: 7480 });
  assert.deepEqual(await addresses.forArray(1, ({ host }) => host === '127.64.0.2'), {
    host: '127.64.0.3',
    port: 7480,
  });
  assert.deepEqual(await addresses.forArray(254, none), { host: '127.64.0.1', port: 7480 });
});

test('an address another program listens on is passed over', async (t) => {
  const network = testNetwork();
  const other = createServer();
  t.after(() => other.close());
  await new Promise<void>((resolve) => other.listen(7480, `${network}.1`, resolve));
  const addresses = new AddressAllocator({ network: defaultConfig('linux').network, arrays: `${network}.0/24` });
  assert.deepEqual(await addresses.forArray(0, none), { host: `${network}.2`, port: 7480 });
});

test('arrays that share one address differ by port', async () => {
  const addresses = allocator('127.0.0.1/32');
  const taken: ListenAddress[] = [];
  for (let n = 0; n < 4; n += 1)
    taken.push(await addresses.forArray(n, ({ port }) => taken.some((one) => one.port === port)));
  assert.deepEqual(
    taken.map(({ port }) => port),
    [20_000, 20_001, 20_002, 20_003],
  );
  await assert.rejects(
    addresses.forArray(4, () => true),
    { entry: 'no_address' },
  );
});

test('an array serves at the usual ports of its own address, else at ports beside the shared ones', () => {
  const { network } = defaultConfig('linux');
  const at = (port: number, first: number, last: number) =>
    servicePortsOf('storage_array', port, { ...network, shared_ports: { first, last } });
  const own = { dataPort: 3260, filePort: 2049 };
  assert.deepEqual(servicePortsOf('storage_array', network.management_port, network), own);
  assert.equal(servicePortsOf('object_storage', network.management_port, network).dataPort, 8080);
  assert.deepEqual(at(20_000, 20_000, 20_003), { dataPort: 20_004, filePort: 20_008 });
  assert.deepEqual(at(20_003, 20_000, 20_003), { dataPort: 20_007, filePort: 20_011 });
  assert.deepEqual(at(65_000, 65_000, 65_100), { dataPort: 65_101, filePort: 65_202 });
  assert.deepEqual(at(65_000, 65_000, 65_200), { dataPort: 65_201, filePort: 64_799 });
  assert.deepEqual(at(65_000, 65_000, 65_400), { dataPort: 64_599, filePort: 64_198 });
});

test('when no address is left, or none can be bound, the error says why', async () => {
  await assert.rejects(
    allocator('10.0.0.0/30').forArray(0, () => true),
    /No free address is left in 10\.0\.0\.0\/30\./,
  );
  const missing = allocator('192.0.2.0/30', async () => 'EADDRNOTAVAIL');
  await assert.rejects(missing.forArray(0, none), /last tried: 192\.0\.2\.2:7480 EADDRNOTAVAIL/);
});

test('public addresses come from their own range; a cloud without one has none to give', async () => {
  assert.equal(await allocator('127.64.0.0/24').publicFor(0, 7480, none), '127.65.0.1');
  const network = { ...defaultConfig('darwin').network };
  const addresses = new AddressAllocator({ network, probe: allFree });
  await assert.rejects(addresses.publicFor(0, 7480, none), { entry: 'no_address' });
});
