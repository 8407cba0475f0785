import {
  contains,
  familyOf,
  formatAddress,
  parseAddress,
  subnetOf,
  unusableAddresses,
  type AddressRange,
} from './subnet.ts';

/**
 * What a network hands out: a range, and the addresses in it that are passed over. A range may span gateways and
 * the network and broadcast addresses; none of them is ever given to an array.
 */
export interface AddressPool extends AddressRange {
  readonly skipped: ReadonlySet<bigint>;
}

/** The addresses of a network in one family, checked and in canonical form, as they are kept. */
export interface AddressPlan {
  readonly cidr: string;
  readonly gateway: string | null;
  readonly gatewayZone1: string | null;
  /** `first-last`, or two of them with a comma: for the first zone and all others, and for the second zone. */
  readonly allocatable: string;
}

/** The range that arrays of a zone get their addresses from. */
export function rangeFor({ allocatable }: AddressPlan, isSecondZone: boolean): string {
  const [first = '', second = first] = allocatable.split(',');
  return isSecondZone ? second : first;
}

export function poolOf(plan: AddressPlan, isSecondZone: boolean): AddressPool {
  const { cidr, gateway, gatewayZone1 } = plan;
  const family = familyOf(cidr);
  const known = (text: string | undefined): bigint => {
    const address = parseAddress(text ?? '', family);
    if (address === undefined) throw new Error(`${text} is not an address of ${cidr}`);
    return address;
  };
  const [first, last] = rangeFor(plan, isSecondZone).split('-');
  const gateways = [gateway, gatewayZone1].filter((one) => one !== null).map(known);
  const skipped = new Set([...unusableAddresses(subnetOf(cidr)), ...gateways]);
  return { family, first: known(first), last: known(last), skipped };
}

export function usableCount(pool: AddressPool): bigint {
  const passedOver = [...pool.skipped].filter((address) => contains(pool, address)).length;
  return pool.last - pool.first + 1n - BigInt(passedOver);
}

const CHUNK_LENGTH_MIN = 8;
const CHUNK_LENGTH_MAX = 1024;

/**
 * The first address, from a start on, that is free. Asks chunk by chunk which addresses are taken, so that the
 * cost follows the addresses that are taken, not the size of the range.
 */
export function firstFree(
  pool: AddressPool,
  start: bigint,
  takenOf: (addresses: string[]) => Iterable<string>,
): bigint | undefined {
  let from = start;
  for (let length = CHUNK_LENGTH_MIN; from <= pool.last; length = Math.min(2 * length, CHUNK_LENGTH_MAX)) {
    const chunk = usableAddresses(pool, from, length);
    const taken = new Set(takenOf([...chunk.keys()]));
    for (const [text, address] of chunk) if (!taken.has(text)) return address;
    from += BigInt(length);
  }
  return undefined;
}

function usableAddresses(pool: AddressPool, start: bigint, length: number): Map<string, bigint> {
  const addresses = new Map<string, bigint>();
  for (let address = start; address < start + BigInt(length) && address <= pool.last; address += 1n)
    if (!pool.skipped.has(address)) addresses.set(formatAddress(address, pool.family), address);
  return addresses;
}
