import { isIP } from 'node:net';

/** Keys whose values a caller cannot choose: a condition on fixed values of one of them keeps a statement from being public. */
const KEYS_OF_CALLERS = new Set(['aws:principalaccount', 'aws:principalarn', 'aws:userid']);
const EQUALITIES = new Set(['StringEquals', 'StringEqualsIgnoreCase', 'StringLike', 'ArnEquals', 'ArnLike']);
/** Ranges wider than these hold too many addresses to be a limit. */
const PREFIX_MIN = { v4: 8, v6: 32 } as const;
const UNIQUE_LOCAL = /^f[cd]/i;

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
  return isIP(address) === 6
    ? Number(bits) >= PREFIX_MIN.v6 || UNIQUE_LOCAL.test(address)
    : Number(bits) >= PREFIX_MIN.v4;
}
