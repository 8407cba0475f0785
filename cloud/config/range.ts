import ipaddr from 'ipaddr.js';

const BITS = 32;

/** Whether two IPv4 ranges have an address in common: then the larger one has the other's first. */
export function rangesOverlap(one: string, other: string): boolean {
  const [a, b] = [ipaddr.IPv4.parseCIDR(one), ipaddr.IPv4.parseCIDR(other)];
  return a[0].match(b) || b[0].match(a);
}

export function isInRange(address: string, range: string): boolean {
  const parsed = ipaddr.process(address);
  return parsed.kind() === 'ipv4' && parsed.match(ipaddr.IPv4.parseCIDR(range));
}

/** The addresses of an IPv4 range that a host can have. */
export class AddressRange {
  readonly text: string;
  readonly size: number;
  readonly #first: number;

  constructor(cidr: string) {
    const [address, bits] = ipaddr.IPv4.parseCIDR(cidr);
    const network = toNumber(ipaddr.IPv4.networkAddressFromCIDR(cidr).octets);
    const all = 2 ** (BITS - bits);
    this.text = cidr;
    // The first and the last address name the network and everyone in it, unless the range is too small for that.
    const reserved = all > 2;
    this.size = reserved ? all - 2 : all;
    this.#first = bits === BITS ? toNumber(address.octets) : network + (reserved ? 1 : 0);
  }

  at(index: number): string {
    return toText(this.#first + (index % this.size));
  }
}

function toNumber(octets: readonly number[]): number {
  return octets.reduce((value, octet) => value * 256 + octet, 0);
}

function toText(value: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');
}
