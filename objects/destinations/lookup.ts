import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { outgoingAddress } from '@granary/kernel';

export interface NameServers {
  readonly servers: readonly string[];
  /** Only names in this domain are asked of them; null for none. */
  readonly domain: string | null;
}

const LOOKUP_MS_MAX = 1_500;
const LOOKUP_TRIES = 2;

/**
 * Where connections to a host may go. Names in the private domain are resolved by its own servers only: what
 * they do not know is not known.
 */
export async function remoteAddress(host: string, { servers, domain }: NameServers): Promise<string> {
  const name = host.toLowerCase().replace(/\.$/, '');
  const isPrivate = domain !== null && (name === domain || name.endsWith(`.${domain}`));
  if (!isPrivate || servers.length === 0 || isIP(host) !== 0) return outgoingAddress(host);
  const resolver = new Resolver({ timeout: LOOKUP_MS_MAX, tries: LOOKUP_TRIES });
  resolver.setServers(servers);
  return outgoingAddress(await firstAddress(resolver, name));
}

async function firstAddress(resolver: Resolver, name: string): Promise<string> {
  let problem: Error | undefined;
  for (const family of ['A', 'AAAA'] as const) {
    try {
      const [address] = family === 'A' ? await resolver.resolve4(name) : await resolver.resolve6(name);
      if (address !== undefined) return address;
    } catch (error) {
      problem ??= error as Error;
    }
  }
  throw problem ?? Object.assign(new Error('the name is not known'), { code: 'ENOTFOUND' });
}
