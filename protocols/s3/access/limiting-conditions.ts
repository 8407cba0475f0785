import { isIP } from 'node:net';

/** Keys whose values a caller cannot choose: a condition on fixed values of one of them keeps a statement from being public. */
const KEYS_OF_CALLERS = new Set(['aws:principalaccount', 'aws:principalarn', 'aws:userid']);
const EQUALITIES = new Set(['StringEquals', 'StringEqualsIgnoreCase', 'StringLike', 'ArnEquals', 'ArnLike']);
/** Ranges wider than these hold too many addresses to be a limit. */
const PREFIX_MIN = { v4: 8, v6: 32, uniqueLocal: 7 } as const;
const UNIQUE_LOCAL = /^f[cd][0-9a-f]{2}:/i;
/** Addresses of IPv4 as IPv6 writes them, ::ffff:0:0/96, are all of them. */
const MAPPED_BITS = 96;
const MAPPED = 0xffffn << 32n;

/** Whether a Condition element limits a statement to callers or addresses that it names. It was read before. */
export function limitsCallers(block: unknown): boolean {
  return Object.entries(block as Record<string, Record<string, unknown>>).some(([operator, keys]) =>
    Object.entries(keys).some(([key, values]) => {
      const wanted = (Array.isArray(values) ? values : [values]).map(String);
      const name = key.toLowerCase();
      if (operator === 'IpAddress') return name === 'aws:sourceip' && wanted.every(isNarrow);
      return EQUALITIES.has(operator) && KEYS_OF_CALLERS.has(name) && wanted.every(isFixed);
    }),
  );
}

function isFixed(value: string): boolean {
  return !/[*?]|\$\{/.test(value);
}

function isNarrow(range: string): boolean {
  const [address = '', bits] = range.split('/');
  if (bits === undefined) return isIP(address) !== 0;
  const prefix = Number(bits);
  if (isIP(address) !== 6) return prefix >= PREFIX_MIN.v4;
  if (meetsMapped(address, prefix)) return prefix >= MAPPED_BITS + PREFIX_MIN.v4;
  return prefix >= PREFIX_MIN.v6 || (prefix >= PREFIX_MIN.uniqueLocal && UNIQUE_LOCAL.test(address));
}

/** Whether the range is of addresses of IPv4 in IPv6's form, or holds them all. */
function meetsMapped(address: string, prefix: number): boolean {
  return (numberOf(address) ^ MAPPED) >> BigInt(128 - Math.min(prefix, MAPPED_BITS)) === 0n;
}

/** Of an address of IPv6, in whichever way it is written. */
function numberOf(address: string): bigint {
  const [head = '', tail] = new URL(`http://[${address.replace(/%.*$/, '')}]`).hostname.slice(1, -1).split('::');
  const [first, last] = [head, tail ?? ''].map((part) => (part === '' ? [] : part.split(':')));
  const between = Array<string>(8 - (first?.length ?? 0) - (last?.length ?? 0)).fill('0');
  return [...(first ?? []), ...between, ...(last ?? [])].reduce(
    (sum, group) => (sum << 16n) | BigInt(`0x${group}`),
    0n,
  );
}
