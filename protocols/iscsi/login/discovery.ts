import { encodeText } from './text.ts';

export interface DiscoveredTarget {
  readonly iqn: string;
}

/** The answer to SendTargets: every target with the one address it is known to be reached at, this connection's. */
export function describeTargets(targets: Iterable<DiscoveredTarget>, address: string): Buffer {
  const pairs: [string, string][] = [];
  for (const target of targets) {
    pairs.push(['TargetName', target.iqn], ['TargetAddress', `${address},1`]);
  }
  return encodeText(pairs);
}

export function portalAddress(host: string, port: number): string {
  const plain = host.startsWith('::ffff:') ? host.slice('::ffff:'.length) : host;
  return plain.includes(':') ? `[${plain}]:${port}` : `${plain}:${port}`;
}
