import { badParameters, type FieldProblem } from '@granary/kernel';
import { poolOf, usableCount, type AddressPlan } from './pool.ts';
import {
  contains,
  encloses,
  familyNames,
  formatAddress,
  formatSubnet,
  overlaps,
  parseAddress,
  parseSubnet,
  subnetOf,
  unusableAddresses,
  type AddressRange,
  type Family,
  type Subnet,
} from './subnet.ts';

export interface AddressPlans {
  readonly ipv4: AddressPlan | undefined;
  readonly ipv6: AddressPlan | undefined;
}

const fields = {
  ipv4: {
    cidr: 'cidr',
    gateway: 'gateway',
    gatewayZone1: 'gateway_zone_1',
    range: 'allocatable_ip_ranges',
  },
  ipv6: {
    cidr: 'ipv6_cidr',
    gateway: 'ipv6_gateway',
    gatewayZone1: 'ipv6_gateway_zone_1',
    range: 'ipv6_allocatable_ip_ranges',
  },
} as const satisfies Record<Family, Record<string, string>>;

type FamilyFields = (typeof fields)[Family];
type FieldName = FamilyFields[keyof FamilyFields];

/** What a caller says about a network's addresses. */
export type AddressInput = Readonly<Partial<Record<FieldName, string | undefined>>>;

/** One for each zone that has gateways of its own. */
const RANGES_MAX = 2;

const prefixes = { ipv4: { min: 8, max: 30 }, ipv6: { min: 48, max: 126 } } as const;

/** This network, loopback (where arrays themselves live), link-local, multicast and reserved; in IPv6 the block of loopback and mapped addresses. */
const hostless = ['0.0.0.0/8', '127.0.0.0/8', '169.254.0.0/16', '224.0.0.0/3', '::/8', 'fe80::/10', 'ff00::/8'].map(
  subnetOf,
);

/** Reads both families; reports all problems at once, each with its parameter. */
export function readPlans(input: AddressInput): AddressPlans {
  const problems: FieldProblem[] = [];
  const plans = { ipv4: readPlan(input, 'ipv4', problems), ipv6: readPlan(input, 'ipv6', problems) };
  if (problems.length > 0) throw badParameters(problems);
  return plans;
}

function readPlan(input: AddressInput, family: Family, problems: FieldProblem[]): AddressPlan | undefined {
  const names = fields[family];
  const refuse = (field: FieldName, message: string): void => {
    problems.push({ field, message });
  };
  const read = <T>(field: FieldName, parse: (text: string) => Parsed<T>): T | undefined => {
    const text = input[field];
    if (text === undefined) return undefined;
    const parsed = parse(text.trim());
    if ('value' in parsed) return parsed.value;
    refuse(field, parsed.problem);
    return undefined;
  };

  if (input[names.cidr] === undefined) {
    for (const field of [names.gateway, names.gatewayZone1, names.range])
      if (input[field] !== undefined) refuse(field, `needs ${names.cidr} beside it`);
    return undefined;
  }
  const subnet = read(names.cidr, (text) => parseCidr(text, family));
  if (!subnet) return undefined;
  const plan: AddressPlan = {
    cidr: formatSubnet(subnet),
    gateway: read(names.gateway, (text) => parseGateway(text, subnet)) ?? null,
    gatewayZone1: read(names.gatewayZone1, (text) => parseGateway(text, subnet)) ?? null,
    allocatable: (read(names.range, (text) => parseRanges(text, subnet)) ?? [wholeRange(subnet)])
      .map(formatRange)
      .join(','),
  };
  if ([false, true].some((isSecondZone) => usableCount(poolOf(plan, isSecondZone)) === 0n)) {
    const field = input[names.range] === undefined ? names.cidr : names.range;
    refuse(field, 'leaves no address to hand out beside the gateways');
  }
  return plan;
}

/** A problem is a sentence without its subject, which is the parameter. */
type Parsed<T> = { readonly value: T } | { readonly problem: string };

function parseCidr(text: string, family: Family): Parsed<Subnet> {
  const subnet = parseSubnet(text, family);
  const example = family === 'ipv4' ? '10.20.0.0/24' : 'fd00:20::/64';
  if (!subnet) return { problem: `must be an ${familyNames[family]} range such as ${example}` };
  const { min, max } = prefixes[family];
  if (subnet.prefix < min || subnet.prefix > max) return { problem: `must have a prefix of /${min} to /${max}` };
  const [host = ''] = text.split('/');
  if (parseAddress(host, family) !== subnet.first)
    return { problem: `must start at its network address, as ${formatSubnet(subnet)} does` };
  const touched = hostless.find((special) => overlaps(special, subnet));
  if (touched) return { problem: `must not touch ${formatSubnet(touched)}, where no host may have an address` };
  return { value: subnet };
}

function parseGateway(text: string, subnet: Subnet): Parsed<string> {
  const { family } = subnet;
  const address = parseAddress(text, family);
  if (address === undefined) return { problem: `must be an ${familyNames[family]} address` };
  if (!contains(subnet, address)) return { problem: `must be inside ${formatSubnet(subnet)}` };
  if (unusableAddresses(subnet).includes(address)) {
    const whose = address === subnet.first ? 'network itself' : 'broadcast';
    return { problem: `must not be ${formatAddress(address, family)}, the address of the ${whose}` };
  }
  return { value: formatAddress(address, family) };
}

/** One range, or a second one for the arrays of the second zone. */
function parseRanges(text: string, subnet: Subnet): Parsed<AddressRange[]> {
  const parsed = text.split(',').map((part) => parseRange(part, subnet));
  const problem = parsed.find((one) => 'problem' in one);
  if (problem) return problem;
  const ranges = parsed.flatMap((one) => ('value' in one ? [one.value] : []));
  const [first, second] = ranges;
  if (first && second && overlaps(first, second)) return { problem: 'must be two ranges that share no address' };
  return ranges.length > RANGES_MAX
    ? { problem: 'must be one range, or two: the second is for the second zone' }
    : { value: ranges };
}

function parseRange(text: string, subnet: Subnet): Parsed<AddressRange> {
  const { family } = subnet;
  const [first, last, ...more] = text.split('-').map((part) => parseAddress(part.trim(), family));
  if (first === undefined || last === undefined || more.length > 0)
    return { problem: `must be two ${familyNames[family]} addresses: first-last` };
  if (first > last) return { problem: 'must have its lower address first' };
  const range = { family, first, last };
  return encloses(subnet, range) ? { value: range } : { problem: `must be inside ${formatSubnet(subnet)}` };
}

function wholeRange({ family, first, last }: Subnet): AddressRange {
  return { family, first: first + 1n, last: family === 'ipv4' ? last - 1n : last };
}

function formatRange({ family, first, last }: AddressRange): string {
  return `${formatAddress(first, family)}-${formatAddress(last, family)}`;
}
