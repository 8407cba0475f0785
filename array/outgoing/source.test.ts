import assert from 'node:assert/strict';
import { test } from 'node:test';
import { localAddressFor } from './source.ts';

const vni = { name: 'vni0', addresses: ['10.20.0.5', 'fd00:20::5'], isRequired: true };
const own = { name: 'fe', addresses: ['127.64.0.1'], isRequired: false };

test('a connection comes from the address of the family of its destination', () => {
  assert.equal(localAddressFor(vni, '192.0.2.1'), '10.20.0.5');
  assert.equal(localAddressFor(vni, '::ffff:192.0.2.1'), '10.20.0.5');
  assert.equal(localAddressFor(vni, '2001:db8::1'), 'fd00:20::5');
});

test('a destination that the interface does not reach is refused in words', () => {
  assert.throws(() => localAddressFor(vni, '127.64.0.2'), /cannot be reached from 10\.20\.0\.5 or fd00:20::5.*vni0/);
  const ipv4Only = { ...vni, addresses: ['10.20.0.5'] };
  assert.throws(
    () => localAddressFor(ipv4Only, 'fd00:20::9'),
    /cannot be reached from 10\.20\.0\.5, the address of vni0/,
  );
});

test('the own address of an array is used where it reaches, and the machine chooses elsewhere', () => {
  assert.equal(localAddressFor(own, '127.64.0.2'), '127.64.0.1');
  assert.equal(localAddressFor(own, '192.0.2.1'), undefined);
});
