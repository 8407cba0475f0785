import { X509Certificate } from 'node:crypto';
import {
  certificateFingerprint,
  fail,
  isLoopback,
  isNotTls,
  outgoingAddress,
  probeChain,
  type HostAndPort,
  type Issuer,
} from '@granary/kernel';
import type { CloudConnections } from '../tls/cloud-connections.ts';

interface Asked {
  readonly address: string;
  readonly place: HostAndPort;
  /** What the administrator compared: the SHA-256 of the cloud's own authority. */
  readonly fingerprint?: string | undefined;
  /** What is trusted for this cloud already. */
  readonly trusted?: string | null | undefined;
  readonly timeoutMs: number;
}

/**
 * The certificate that is trusted for the cloud at an address: its issuer when our authority signed that, its own
 * authority when its fingerprint was given, or what was trusted before. Null when it serves in the clear and may.
 */
export async function trustFor(connections: CloudConnections, asked: Asked): Promise<string | null> {
  const { address, place, fingerprint, trusted, timeoutMs } = asked;
  const resolved = (await outgoingAddress(place.host)).replace(/^\[|\]$/g, '');
  const chain = await chainAt({ ...place, address: resolved, timeoutMs });
  if (chain === undefined) {
    if (isLoopback(resolved) || connections.isInsecure) return null;
    throw fail('cloud_in_the_clear', { address });
  }
  const known = [
    ...(connections.authority ? signedIssuers(chain, connections.authority) : []),
    ...chain.filter((one) => fingerprint !== undefined && isSame(certificateFingerprint(one), fingerprint)),
    ...chain.filter((one) => one === trusted),
  ];
  if (known[0] !== undefined) return known[0];
  throw fail('cloud_untrusted', { address, fingerprint: certificateFingerprint(chain.at(-1) as string) });
}

/** Undefined where something answers that does not speak TLS. */
async function chainAt(probed: Parameters<typeof probeChain>[0]): Promise<string[] | undefined> {
  try {
    return await probeChain(probed);
  } catch (error) {
    if (isNotTls(error)) return undefined;
    throw error;
  }
}

function signedIssuers(chain: readonly string[], authority: Issuer): string[] {
  const key = new X509Certificate(authority.certificate).publicKey;
  return chain.filter((one) => {
    const certificate = new X509Certificate(one);
    return one !== authority.certificate && certificate.ca && certificate.verify(key);
  });
}

/** People copy fingerprints with and without colons, in either case. */
function isSame(one: string, other: string): boolean {
  const plain = (text: string) => text.replaceAll(/[:\s]/g, '').toUpperCase();
  return plain(one) === plain(other);
}
