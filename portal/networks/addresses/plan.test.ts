import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPlans, type AddressInput } from './plan.ts';

function refuses(input: AddressInput, ...problems: [field: string, message: RegExp][]): void {
  assert.throws(
    () => readPlans(input),
    (error: { entry: string; message: string; problems: { field: string; message: string }[] }) => {
      assert.equal(error.entry, 'bad_parameter');
      assert.deepEqual(
        error.problems.map(({ field }) => field),
        problems.map(([field]) => field),
      );
      error.problems.forEach(({ message }, index) => assert.match(message, problems[index]?.[1] ?? /^$/));
      assert.match(error.message, /\.$/);
      return true;
    },
  );
}

test('a network may have no addresses at all', () => {
  assert.deepEqual(readPlans({}), { ipv4: undefined, ipv6: undefined });
});

test('without a range the whole network is handed out, save the network and broadcast addresses', () => {
  const { ipv4, ipv6 } = readPlans({ cidr: '10.20.0.0/24', gateway: '10.20.0.1', ipv6_cidr: 'FD00:20:0::/64' });
  assert.deepEqual(ipv4, {
    cidr: '10.20.0.0/24',
    gateway: '10.20.0.1',
    gatewayZone1: null,
    allocatable: '10.20.0.1-10.20.0.254',
  });
  assert.deepEqual(ipv6, {
    cidr: 'fd00:20::/64',
    gateway: null,
    gatewayZone1: null,
    allocatable: 'fd00:20::1-fd00:20::ffff:ffff:ffff:ffff',
  });
});

test('a range is kept as two canonical addresses, and may span a gateway', () => {
  const { ipv4, ipv6 } = readPlans({
    cidr: '10.20.0.0/24',
    gateway: '10.20.0.1',
    gateway_zone_1: '10.20.0.12',
    allocatable_ip_ranges: ' 10.20.0.10 - 10.20.0.20 ',
    ipv6_cidr: 'fd00:20::/64',
    ipv6_allocatable_ip_ranges: 'fd00:20:0::A-fd00:20::F',
  });
  assert.equal(ipv4?.allocatable, '10.20.0.10-10.20.0.20');
  assert.equal(ipv4.gatewayZone1, '10.20.0.12');
  assert.equal(ipv6?.allocatable, 'fd00:20::a-fd00:20::f');
});

test('a second range is for the second zone; it shares no address with the first and is not full of gateways', () => {
  const cidr = '10.20.0.0/24';
  const ranges = (text: string) => ({ cidr, gateway_zone_1: '10.20.0.99', allocatable_ip_ranges: text });
  assert.equal(
    readPlans(ranges('10.20.0.10-10.20.0.20, 10.20.0.30-10.20.0.40')).ipv4?.allocatable,
    '10.20.0.10-10.20.0.20,10.20.0.30-10.20.0.40',
  );
  const refusesRange = (text: string, words: RegExp) => refuses(ranges(text), ['allocatable_ip_ranges', words]);
  refusesRange('10.20.0.10-10.20.0.20,10.20.0.20-10.20.0.30', /two ranges that share no address/);
  refusesRange('10.20.0.1-10.20.0.2,10.20.0.3-10.20.0.4,10.20.0.5-10.20.0.6', /one range, or two/);
  refusesRange('10.20.0.1-10.20.0.2,10.21.0.1-10.21.0.2', /must be inside/);
  refusesRange('10.20.0.1-10.20.0.2,10.20.0.99-10.20.0.99', /leaves no address/);
});

test('a bad cidr is refused; with host bits, the error names the network', () => {
  refuses({ cidr: 'storage' }, ['cidr', /must be an IPv4 range such as/]);
  refuses({ cidr: 'fd00::/64' }, ['cidr', /must be an IPv4 range/]);
  refuses({ ipv6_cidr: '10.20.0.0/24' }, ['ipv6_cidr', /must be an IPv6 range/]);
  refuses({ cidr: '10.20.0.7/24' }, ['cidr', /as 10\.20\.0\.0\/24 does/]);
  refuses({ ipv6_cidr: 'fd00:20::1/64' }, ['ipv6_cidr', /as fd00:20::\/64 does/]);
});

test('prefixes are /8 to /30 and /48 to /126', () => {
  for (const cidr of ['10.0.0.0/7', '10.0.0.0/31', '10.0.0.0/32']) refuses({ cidr }, ['cidr', /\/8 to \/30/]);
  for (const cidr of ['fd00::/47', 'fd00::/127']) refuses({ ipv6_cidr: cidr }, ['ipv6_cidr', /\/48 to \/126/]);
  for (const cidr of ['10.0.0.0/8', '10.0.0.0/30']) assert.equal(readPlans({ cidr }).ipv4?.cidr, cidr);
  for (const cidr of ['fd00::/48', 'fd00::/126']) assert.equal(readPlans({ ipv6_cidr: cidr }).ipv6?.cidr, cidr);
});

test('ranges where no host may have an address are refused', () => {
  for (const cidr of [
    '0.0.0.0/24',
    '127.64.0.0/24',
    '169.254.169.0/24',
    '169.0.0.0/8',
    '224.0.0.0/24',
    '255.255.255.0/24',
  ])
    refuses({ cidr }, ['cidr', /must not touch/]);
  for (const cidr of ['fe80::/64', 'ff02::/64', '::/64', '::ffff:0.0.0.0/112'])
    refuses({ ipv6_cidr: cidr }, ['ipv6_cidr', /must not touch/]);
});

test('a gateway is a host of the network, of its family', () => {
  const cidr = '10.20.0.0/24';
  refuses({ cidr, gateway: 'fd00:20::1' }, ['gateway', /must be an IPv4 address/]);
  refuses({ cidr, gateway: '10.21.0.1' }, ['gateway', /must be inside 10\.20\.0\.0\/24/]);
  refuses({ cidr, gateway: '10.20.0.0' }, ['gateway', /address of the network itself/]);
  refuses({ cidr, gateway_zone_1: '10.20.0.255' }, ['gateway_zone_1', /address of the broadcast/]);
  refuses({ ipv6_cidr: 'fd00::/64', ipv6_gateway: 'fd00::' }, ['ipv6_gateway', /address of the network itself/]);
  refuses({ ipv6_cidr: 'fd00::/64', ipv6_gateway_zone_1: '10.0.0.1' }, [
    'ipv6_gateway_zone_1',
    /must be an IPv6 address/,
  ]);
});

test('a range lies inside the network, its lower address first', () => {
  const cidr = '10.20.0.0/24';
  const range = (allocatable_ip_ranges: string, problem: RegExp) => {
    refuses({ cidr, allocatable_ip_ranges }, ['allocatable_ip_ranges', problem]);
  };
  range('10.20.0.10', /must be two IPv4 addresses/);
  range('10.20.0.10-10.20.0.20-10.20.0.30', /must be two IPv4 addresses/);
  range('a-b', /must be two IPv4 addresses/);
  range('10.20.0.20-10.20.0.10', /lower address first/);
  range('10.20.0.10-10.20.1.10', /must be inside 10\.20\.0\.0\/24/);
});

test('a plan that leaves no address to hand out is refused', () => {
  refuses({ cidr: '10.0.0.0/30', gateway: '10.0.0.1', gateway_zone_1: '10.0.0.2' }, ['cidr', /leaves no address/]);
  refuses({ cidr: '10.0.0.0/24', gateway: '10.0.0.9', allocatable_ip_ranges: '10.0.0.9-10.0.0.9' }, [
    'allocatable_ip_ranges',
    /leaves no address/,
  ]);
});

test('gateways and ranges need their cidr, and every problem is reported at once', () => {
  refuses(
    { gateway: '10.0.0.1', allocatable_ip_ranges: '10.0.0.1-10.0.0.2', ipv6_cidr: 'fd00::/64', ipv6_gateway: 'x' },
    ['gateway', /needs cidr/],
    ['allocatable_ip_ranges', /needs cidr/],
    ['ipv6_gateway', /must be an IPv6 address/],
  );
  refuses({ cidr: '10.0.0.0/24', ipv6_gateway: 'fd00::1' }, ['ipv6_gateway', /needs ipv6_cidr/]);
});
