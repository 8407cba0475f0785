import ipaddr from 'ipaddr.js';

export type Family = 'ipv4' | 'ipv6';

/** Addresses are whole numbers inside; text only at the edges. */
export interface AddressRange {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

export interface Subnet extends AddressRange {
  readonly prefix: number;
}

const BITS: Readonly<Record<Family, number>> = { ipv4: 32, ipv6: 128 };

export const familyNames: Readonly<Record<Family, string>> = { ipv4: 'IPv4', ipv6: 'IPv6' };

/** Four decimal parts, or IPv6 without a zone; the shorthand forms (`10.1`, `0x0a.1.1.1`) are mistakes more often than not. */
export function parseAddress(text: string, family: Family): bigint | undefined {
  if (family === 'ipv4')
    return ipaddr.IPv4.isValidFourPartDecimal(text) ? toNumber(ipaddr.IPv4.parse(text)) : undefined;
  return ipaddr.IPv6.isValid(text) && !text.includes('%') ? toNumber(ipaddr.IPv6.parse(text)) : undefined;
}

export function formatAddress(address: bigint, family: Family): string {
  if (family === 'ipv4') {
    const number = Number(address);
    return `${number >>> 24}.${(number >>> 16) & 255}.${(number >>> 8) & 255}.${number & 255}`;
  }
  const parts: number[] = [];
  for (let shift = 112n; shift >= 0n; shift -= 16n) parts.push(Number((address >> shift) & 0xffffn));
  return new ipaddr.IPv6(parts).toString();
}

/** The subnet a CIDR lies in, whether or not its host bits are zero: compare with `formatSubnet` to know. */
export function parseSubnet(text: string, family: Family): Subnet | undefined {
  const [, host = '', length = ''] = /^([^/]+)\/(0|[1-9]\d{0,2})$/.exec(text) ?? [];
  const address = parseAddress(host, family);
  const prefix = Number(length);
  const bits = BITS[family];
  if (address === undefined || prefix > bits) return undefined;
  const hostBits = BigInt(bits - prefix);
  const first = (address >> hostBits) << hostBits;
  return { family, first, last: first + (1n << hostBits) - 1n, prefix };
}

/** For a CIDR that was checked before it was kept. */
export function subnetOf(cidr: string): Subnet {
  const subnet = parseSubnet(cidr, familyOf(cidr));
  if (!subnet) throw new Error(`${cidr} is not a subnet`);
  return subnet;
}

export function formatSubnet({ first, family, prefix }: Subnet): string {
  return `${formatAddress(first, family)}/${prefix}`;
}

export function familyOf(text: string): Family {
  return text.includes(':') ? 'ipv6' : 'ipv4';
}

/** `255.255.255.0`, `ffff:ffff:ffff:ffff::` */
export function netmaskOf(cidr: string): string {
  const { family, prefix } = subnetOf(cidr);
  const masks = family === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
  return masks.subnetMaskFromPrefixLength(prefix).toString();
}

export function contains({ first, last }: AddressRange, address: bigint): boolean {
  return first <= address && address <= last;
}

export function encloses(outer: AddressRange, inner: AddressRange): boolean {
  return outer.first <= inner.first && inner.last <= outer.last;
}

export function overlaps(a: AddressRange, b: AddressRange): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last;
}

/** Addresses that no host can have: the network's own, and in IPv4 the broadcast address. */
export function unusableAddresses({ family, first, last }: Subnet): bigint[] {
  return family === 'ipv4' ? [first, last] : [first];
}

function toNumber(address: ipaddr.IPv4 | ipaddr.IPv6): bigint {
  return address.toByteArray().reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n);
}
