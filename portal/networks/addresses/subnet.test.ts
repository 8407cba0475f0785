import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  contains,
  formatAddress,
  formatSubnet,
  netmaskOf,
  overlaps,
  parseAddress,
  parseSubnet,
  subnetOf,
  type Subnet,
} from './subnet.ts';

test('an address survives the way to a number and back', () => {
  fc.assert(fc.property(fc.ipV4(), (text) => formatAddress(parseAddress(text, 'ipv4') ?? 0n, 'ipv4') === text));
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }), (address) => {
      assert.equal(parseAddress(formatAddress(address, 'ipv6'), 'ipv6'), address);
    }),
  );
});

test('shorthand, zones and the other family are no addresses', () => {
  for (const text of ['10.1', '0x0a.1.1.1', '010.0.0.1', '167772161', '10.0.0.256', 'fd00::1', '', ' 10.0.0.1'])
    assert.equal(parseAddress(text, 'ipv4'), undefined, text);
  for (const text of ['10.0.0.1', 'fe80::1%eth0', 'fd00:::1', ''])
    assert.equal(parseAddress(text, 'ipv6'), undefined, text);
});

test('a CIDR with host bits parses to the subnet it lies in', () => {
  const inside = parseSubnet('10.20.0.77/24', 'ipv4') as Subnet;
  assert.equal(formatSubnet(inside), '10.20.0.0/24');
  assert.equal(formatSubnet(parseSubnet('FD00:20:0::9/64', 'ipv6') as Subnet), 'fd00:20::/64');
  for (const text of ['10.0.0.0', '10.0.0.0/33', '10.0.0.0/024', '10.0.0.0/', '/24', '10.0.0.0/24/24', 'fd00::/64'])
    assert.equal(parseSubnet(text, 'ipv4'), undefined, text);
});

test('the netmask follows the prefix in both families', () => {
  assert.equal(netmaskOf('10.0.0.0/8'), '255.0.0.0');
  assert.equal(netmaskOf('10.20.0.0/30'), '255.255.255.252');
  assert.equal(netmaskOf('fd00:20::/64'), 'ffff:ffff:ffff:ffff::');
});

/** Method: on ranges small enough to list every address, compare with the sets of addresses themselves. */
test('two subnets overlap exactly when they share an address', () => {
  const small = fc.record({ host: fc.nat(63), prefix: fc.integer({ min: 26, max: 32 }) }).map(({ host, prefix }) => {
    const { family, first, last } = parseSubnet(`10.0.0.${host}/${prefix}`, 'ipv4') as Subnet;
    return { family, first, last };
  });
  fc.assert(
    fc.property(small, small, (a, b) => {
      const shared = Array.from({ length: 64 }, (_, host) => parseAddress(`10.0.0.${host}`, 'ipv4') ?? 0n).some(
        (address) => contains(a, address) && contains(b, address),
      );
      assert.equal(overlaps(a, b), shared);
    }),
    { numRuns: 1000 },
  );
});

test('families never overlap, whatever their numbers', () => {
  assert.equal(overlaps(subnetOf('0.0.0.0/8'), subnetOf('::/8')), false);
});
