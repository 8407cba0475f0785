import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultConfig } from '../config/defaults.ts';
import { testSpec } from '../testing/specs.ts';
import { interfacesOf, ipv6OfArray, isSecondZone } from './interfaces.ts';
import type { HostedRecord } from './repository.ts';

const ipv6 = { address: 'fd00:20::5', netmask: 'ffff::', gateway: 'fd00:20::1', gateway_zone_1: 'fd00:20::2' };
const both = {
  id: 1,
  address: '10.20.0.5',
  netmask: '255.255.255.0',
  gateway: '10.20.0.1',
  gateway_zone_1: '10.20.0.2',
  vlan_id: 100,
  ipv6,
};
const spec = testSpec({ interfaces: [both] });
const array: HostedRecord = {
  number: 1,
  uuid: 'array-1',
  internalName: 'vsa-00000001',
  product: 'storage_array',
  zone: null,
  desired: 'running',
  removing: false,
  served: false,
  management: { host: '127.64.0.1', port: 7480 },
  publicAddress: null,
  spec,
  sealedSecrets: '',
  encryption: [],
  drivesGiven: 0,
};
const OWNED = ['10.20.0.5', 'fd00:20::5'];

test('an interface in a network of both families has both addresses, each with its own way out', () => {
  const [shown] = interfacesOf(array, OWNED, false);
  assert.deepEqual(shown, {
    id: 1,
    address: '10.20.0.5',
    netmask: '255.255.255.0',
    gateway: '10.20.0.1',
    vlanId: 100,
    ipv6: { address: 'fd00:20::5', netmask: 'ffff::', gateway: 'fd00:20::1' },
  });
  assert.equal(ipv6OfArray(array, OWNED), 'fd00:20::5');
});

test('arrays in the second zone have the gateways of that zone, or the common ones where it has none', () => {
  const [shown] = interfacesOf(array, OWNED, true);
  assert.deepEqual([shown?.gateway, shown?.ipv6?.gateway], ['10.20.0.2', 'fd00:20::2']);
  const { gateway_zone_1: _, ...common } = both;
  assert.equal(interfacesOf({ spec: testSpec({ interfaces: [common] }) }, OWNED, true)[0]?.gateway, '10.20.0.1');
  const config = defaultConfig('linux');
  assert.deepEqual(
    config.zones.map(({ name }) => isSecondZone(config, name)),
    [false, true, false],
  );
});

test('an address that another array has is left out, and the other one stays', () => {
  assert.deepEqual(
    interfacesOf(array, ['fd00:20::5'], false).map(({ address, ipv6: second }) => [address, second]),
    [['fd00:20::5', undefined]],
  );
  assert.deepEqual(interfacesOf(array, [], false), []);
  assert.equal(ipv6OfArray(array, ['10.20.0.5']), null);
});
