import { lookup } from 'node:dns/promises';
import ipaddr from 'ipaddr.js';
import { fail } from '../errors.ts';

const REFUSED_RANGES = new Set([
  'linkLocal',
  'multicast',
  'broadcast',
  'unspecified',
  'reserved',
  // Ranges that embed an IPv4 address, which could be any of the above.
  'rfc6052',
  'rfc6145',
  '6to4',
  'teredo',
]);
/** Metadata services of clouds outside the link-local ranges. */
const REFUSED_ADDRESSES = new Set(['fd00:ec2::254', '100.100.100.200', '192.0.0.192']);
const RESOLVE_TIMEOUT_MS = 1500;

/**
 * The address for an outgoing connection requested through the API: resolved, checked, and to be used as it is, so that
 * a second lookup cannot return another one. With `publicOnly` those of private networks and of this machine are refused, too.
 */
export async function outgoingAddress(host: string, { publicOnly = false } = {}): Promise<string> {
  const literal = host.replace(/^\[|\]$/g, '');
  const address = ipaddr.isValid(literal) ? literal : await resolve(host);
  const parsed = ipaddr.process(address);
  const isRefused = publicOnly ? parsed.range() !== 'unicast' : REFUSED_RANGES.has(parsed.range());
  if (isRefused || REFUSED_ADDRESSES.has(parsed.toString())) {
    throw fail('address_refused', { address: host });
  }
  return parsed.kind() === 'ipv6' ? `[${parsed.toString()}]` : parsed.toString();
}

/** `fetch` that checks the address on every call: a name may resolve to another one later. */
export const guardedFetch: typeof fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : input);
  url.hostname = await outgoingAddress(url.hostname);
  return fetch(url, init);
};

async function resolve(host: string): Promise<string> {
  const timeout = new Promise<never>((_, reject) => {
    setTimeout(() => {
      reject(new Error('the name could not be looked up in time'));
    }, RESOLVE_TIMEOUT_MS).unref();
  });
  const { address } = await Promise.race([lookup(host), timeout]);
  return address;
}

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

/** `host`, `host:port`, `[v6]:port`; undefined when it is none of these. */
export function parseHostAndPort(text: string, portDefault: number): HostAndPort | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})))(?::(\d{1,5}))?$/.exec(text);
  if (!match) return ipaddr.IPv6.isValid(text) ? { host: text, port: portDefault } : undefined;
  const port = match[3] === undefined ? portDefault : Number(match[3]);
  return port >= 1 && port <= 65535 ? { host: (match[1] ?? match[2]) as string, port } : undefined;
}
