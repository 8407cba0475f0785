import { badParameter, parseHostAndPort } from '@granary/kernel';

const SCHEME = /^(https?):\/\/(.*)$/i;
const STANDARD_PORTS = { https: 443, http: 80 } as const;

/** `host`, `host:port` or `http(s)://host:port`, as the addresses to try, encrypted ones first. */
export function endpointUrls(field: string, text: string): string[] {
  const [, scheme, after] = SCHEME.exec(text.trim()) ?? [];
  const place = (after ?? text.trim()).replace(/\/$/, '');
  const schemes = scheme === undefined ? (['https', 'http'] as const) : [scheme.toLowerCase() as 'https' | 'http'];
  return schemes.map((each) => {
    const read = parseHostAndPort(place, STANDARD_PORTS[each]);
    if (!read) throw badParameter(field, 'must be host, host:port or http(s)://host:port, without a path');
    const host = read.host.includes(':') ? `[${read.host}]` : read.host;
    return new URL(`${each}://${host}:${read.port}`).origin;
  });
}
